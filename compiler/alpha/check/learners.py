"""Learners: a model, an optimizer, and functions of a bundle and a batch with one free dimension."""

from __future__ import annotations

from alpha.check import errors_declarations, errors_names
from alpha.check.definitions import (
    new_context,
)
from alpha.check.entries import Blame
from alpha.check.finish import finish
from alpha.check.learner_functions import check_functions
from alpha.check.learning import FORMS, Learning, Part
from alpha.check.module_scope import Work
from alpha.check.scope import RecordEntity, Value
from alpha.check.type_reader import scan_kinds
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.type_text import type_text
from alpha.core.types import Kind, Named, Scheme, Tensor, Type
from alpha.diagnostics.closest import closest
from alpha.syntax import tree

_ENTRIES = ("model", "optimizer", "loss", "step", "metric", "predict")


def check_learner(work: Work, item: tree.LearnerDecl) -> None:
    learning = Learning(work, item, work.symbol(item.name.text))
    _collect(learning)
    loss = learning.parts.get("loss")
    for entry in ("model", "optimizer", "loss"):
        if entry not in learning.parts:
            form = FORMS.get(entry, f"{entry} = ...")
            work.report(
                errors_declarations.missing_entry(
                    item.name.span, "learner", item.name.text, entry, form
                )
            )
            learning.failed = True
    model = _entry(learning, "model")
    optimizer = _entry(learning, "optimizer")
    if loss is None or model is None or optimizer is None or not _batch(learning, loss):
        return
    check_functions(learning)
    if learning.failed:
        return
    metrics = tuple([(name, learning.lambdas[name]) for name in learning.metrics])
    work.registry.metrics[learning.symbol] = frozenset(learning.metrics)
    work.learners.append(
        term.Learner(
            learning.symbol,
            model,
            optimizer,
            learning.batch,
            learning.batch_type,
            learning.keyed,
            learning.lambdas["loss"],
            learning.lambdas.get("step"),
            metrics,
            learning.lambdas.get("predict"),
            learning.predict_input,
            item.span,
        )
    )


def _collect(learning: Learning) -> None:
    work = learning.work
    for part in learning.item.items:
        name = part.name.text
        if isinstance(part, tree.Signature):
            if name in learning.signatures:
                place = learning.signatures[name].name.span
                work.report(errors_names.defined_twice(part.name.span, name, place))
                learning.failed = True
            learning.signatures[name] = part
            continue
        first = learning.parts.get(name)
        if first is not None:
            work.report(errors_names.defined_twice(part.name.span, name, first.name.span))
            learning.failed = True
            continue
        learning.parts[name] = part
        if isinstance(part, tree.Metric):
            learning.metrics.append(name)
        elif not part.parameters and name not in ("model", "optimizer"):
            # A helper without parameters is allowed; an entry that looks like one is more likely misspelt.
            near = closest(name, _ENTRIES)
            if near:
                work.report(
                    errors_declarations.unknown_entry(part.name.span, "learner", name, _ENTRIES)
                )
                learning.failed = True
    for name, signature in learning.signatures.items():
        if name not in learning.parts:
            work.report(errors_names.without_definition(signature.name.span, name, True))
            learning.failed = True


def _entry(learning: Learning, name: str) -> term.Term | None:
    """`model` and `optimizer`: terms, and definitions that the functions of the learner may use."""
    part = learning.parts.get(name)
    if part is None:
        return None
    work = learning.work
    if part.parameters or isinstance(part, tree.Metric):
        form = f"{name} = ..."
        work.report(errors_declarations.entry_parameters(part.name.span, "learner", name, form))
        return None
    cx = new_context(work)
    expected: Type
    if name == "optimizer":
        expected, blame = Named("Optimizer"), Blame(part.name.span, "a learner's optimizer")
    else:
        expected = Named("Model", (cx.solver.type(part.span),))
        blame = Blame(part.name.span, "a learner's model")
    written = learning.signatures.get(name)
    if written is not None:
        cx.unify(cx.annotation(written.type), expected, written.type.span, blame)
    done = finish(cx, cx.check(part.body, expected, blame))
    if done is None:
        return None
    if name == "model":
        if not isinstance(done.type, Named):
            return None
        (learning.bundle,) = done.type.arguments  # type: ignore[assignment]
    symbol = f"{learning.symbol}.{name}"
    value = Value(name, symbol, "definition", part.name.span, Scheme((), done.type))
    learning.values[name] = value
    work.definitions.append(term.Definition(symbol, Scheme((), done.type), done, part.span))
    return done


def _batch(learning: Learning, loss: Part) -> bool:
    """The annotation of the loss's batch gives the batch type and the free dimension."""
    work = learning.work
    count = len(loss.parameters)
    last = loss.parameters[-1] if loss.parameters else None
    if count not in (2, 3) or not isinstance(last, tree.PAnnotated):
        form = FORMS["loss"] if count != 3 else FORMS["loss"].replace("net (", "net key (")
        hint = "the type of the batch says what the data must give" if count in (2, 3) else ""
        work.report(
            errors_declarations.entry_parameters(loss.name.span, "learner", "loss", form, hint)
        )
        return False
    learning.keyed = count == 3
    cx = new_context(work)
    kinds: dict[str, Kind] = {}
    scan_kinds(last.type, work.scope, kinds)
    type_ = cx.annotation(last.type)
    if cx.failed:
        return False
    free = [name for name, kind in kinds.items() if kind is Kind.DIM]
    if len(kinds) != 1 or len(free) != 1:
        message = "a batch has exactly one free dimension, the number of its examples"
        found = f"`{type_text(type_)}` leaves {', '.join(kinds) or 'none'} open"
        work.report(errors_declarations.batch_type(last.type.span, message, found))
        return False
    entity = work.registry.records.get(type_.name) if isinstance(type_, Named) else None
    if entity is None:
        message = f"a batch is a record, and this is `{type_text(type_)}`"
        work.report(
            errors_declarations.batch_type(last.type.span, message, "its fields name the data")
        )
        return False
    learning.batch, learning.batch_type = free[0], type_
    return _leading(learning, entity, last)


def _leading(learning: Learning, entity: RecordEntity, annotated: tree.PAnnotated) -> bool:
    assert isinstance(learning.batch_type, Named)
    inner = next(
        (
            n
            for (n, _), a in zip(entity.parameters, learning.batch_type.arguments, strict=True)
            if a == Dim.variable(learning.batch)
        ),
        "",
    )
    for name, type_ in entity.fields.items():
        if isinstance(type_, Tensor) and type_.shape.lead is None:
            axes = type_.shape.axes
            others = {n for axis in axes[1:] for n in axis.names}
            if axes and axes[0] == Dim.variable(inner) and inner not in others:
                continue
        message = f"the field `{name}` of a batch is `{type_text(type_)}`"
        cause = f"every field is a tensor whose first axis alone is the free dimension `{inner}`"
        learning.work.report(errors_declarations.batch_type(annotated.type.span, message, cause))
        return False
    return True
