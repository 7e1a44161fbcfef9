"""Learners: a model, an optimizer, and functions of a bundle and a batch with one free dimension."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.record import field, record
from alpha.check import errors_declarations, errors_names
from alpha.check.context import Context
from alpha.check.cycles import circle, components, is_circle
from alpha.check.definitions import new_context
from alpha.check.entries import Blame, Dimension, OwnFunction
from alpha.check.expressions import abstraction
from alpha.check.finish import close, finish
from alpha.check.generalise import generalise
from alpha.check.module_scope import Work
from alpha.check.references import mentioned
from alpha.check.scope import RecordEntity, Value
from alpha.check.solver import F32, KEY
from alpha.check.type_reader import scan_kinds
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.type_text import type_text
from alpha.core.types import Function, Kind, Named, Scheme, Tensor, Type, TypeVar
from alpha.diagnostics.closest import closest
from alpha.diagnostics.diagnostic import Label
from alpha.diagnostics.not_yet import not_yet
from alpha.syntax import tree

_ENTRIES = ("model", "optimizer", "loss", "step", "metric", "predict")
_FORMS = {
    "loss": "loss net (b : Batch [batch]) = ...",
    "step": "step net slots t b = { net = ..., slots = ..., loss = ... }",
    "metric": "metric name net b = ...",
    "predict": "predict net (x : Tensor f32 [batch, n]) = ...",
}
Part = tree.Define | tree.Metric


@record(frozen=False)
class Learning:
    """One learner while it is checked. `values` are its functions, in scope in one another."""

    work: Work
    item: tree.LearnerDecl
    symbol: str
    parts: dict[str, Part] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    lambdas: dict[str, term.Lambda] = field(default_factory=dict)
    bundle: Type = field(default_factory=lambda: TypeVar("!learner"))
    batch: str = ""
    batch_type: Type = field(default_factory=lambda: TypeVar("!learner"))
    keyed: bool = False
    predict_input: Type | None = None
    failed: bool = False


def check_learner(work: Work, item: tree.LearnerDecl) -> None:
    learning = Learning(work, item, work.symbol(item.name.text))
    _collect(learning)
    loss = learning.parts.get("loss")
    for entry in ("model", "optimizer", "loss"):
        if entry not in learning.parts:
            form = _FORMS.get(entry, f"{entry} = ...")
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
    _functions(learning)
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
        if isinstance(part, tree.Signature):
            work.report(not_yet("a signature inside a learner", part.span))
            learning.failed = True
            continue
        name = part.name.text
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
    if name == "optimizer":
        blame = Blame(part.name.span, "a learner's optimizer")
        found = cx.check(part.body, Named("Optimizer"), blame)
    else:
        bundle = cx.solver.type(part.span)
        blame = Blame(part.name.span, "a learner's model")
        found = cx.check(part.body, Named("Model", (bundle,)), blame)
    done = finish(cx, found)
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
        work.report(
            errors_declarations.entry_parameters(loss.name.span, "learner", "loss", _FORMS["loss"])
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


# ---- functions -------------------------------------------------------------------------------------------------------


def _functions(learning: Learning) -> None:
    parts = {n: p for n, p in learning.parts.items() if n not in ("model", "optimizer")}
    graph = {n: [m for m in mentioned(p.body) if m in parts] for n, p in parts.items()}
    for component in components(graph):
        if is_circle(component, graph):
            path = circle(component, graph)
            labels = tuple(Label(parts[n].name.span, "part of the circle") for n in path[1:])
            span = parts[path[0]].name.span
            reported = learning.work.report(errors_names.recursion(span, path, labels))
            learning.failed = True
            for name in component:
                symbol = f"{learning.symbol}.{name}"
                value = Value(name, symbol, "definition", span)
                value.faulty = reported
                learning.values[name] = value
            continue
        _function(learning, component[0], parts[component[0]])


def _enter(learning: Learning, skip: str) -> Context:
    cx = new_context(learning.work)
    cx.variables.kinds[learning.batch] = Kind.DIM
    loss = learning.parts["loss"].parameters[-1]
    cx.claim(learning.batch, loss.span)
    cx.locals = {learning.batch: Dimension(loss.span)}
    for name, value in learning.values.items():
        if name != skip:
            cx.claim(name, value.span)
            cx.locals = {**cx.locals, name: OwnFunction(value, None, value.span)}
    return cx


def _function(learning: Learning, name: str, part: Part) -> None:
    work = learning.work
    symbol = f"{learning.symbol}.{name}"
    value = Value(name, symbol, "definition", part.name.span)
    learning.values[name] = value
    cx = _enter(learning, name)
    expected = _expected(learning, cx, name, part)
    if expected is None:
        value.faulty = work.report(work.diagnostics.errors[-1])
        learning.failed = True
        return
    types, result = expected
    if not part.parameters:
        found = cx.infer(part.body)
    else:
        pushed = result if name == "step" else None
        blame = Blame(part.name.span, f"`{name}` gives the next state and the loss")
        found = abstraction(cx, part.parameters, part.body, part.span, types, pushed, blame)
    if result is not None and isinstance(found, term.Lambda):
        _result(cx, name, part, found, result)
    close(cx)
    inferred = generalise(cx, found.type, top=True)
    done = finish(cx, found)
    if done is None:
        value.faulty = work.report(work.diagnostics.errors[-1])
        learning.failed = True
        return
    others = tuple([v for v in inferred.variables if v[0] != learning.batch])
    scheme = Scheme(((learning.batch, Kind.DIM), *others), inferred.type)
    value.scheme = scheme
    work.definitions.append(term.Definition(symbol, scheme, done, part.span))
    if isinstance(done, term.Lambda):
        learning.lambdas[name] = done
    if name == "predict":
        assert isinstance(inferred.type, Function) and isinstance(inferred.type.result, Function)
        learning.predict_input = inferred.type.result.parameter


def _result(cx: Context, name: str, part: Part, found: term.Lambda, result: Type) -> None:
    body = found.body
    cx.settle()
    known = cx.solver.head(body.type)
    if (
        name == "loss"
        and isinstance(known, Tensor)
        and not cx.solver.open_names(known)
        and cx.solver.known(known) != F32
    ):
        cx.report(errors_declarations.loss_type(part.body.value.span, cx.show(known)))
        return
    blame = Blame(part.name.span, f"`{name}` gives `{cx.show(result)}`")
    cx.unify(body.type, result, part.body.value.span, blame)


def _expected(
    learning: Learning, cx: Context, name: str, part: Part
) -> tuple[list[Type], Type | None] | None:
    """The types of the parameters of an entry and of its result."""
    net, batch = learning.bundle, learning.batch_type
    key: list[Type] = [KEY] if learning.keyed else []
    count = len(part.parameters)
    if isinstance(part, tree.Metric):
        types: list[Type] = [net, batch]
        result: Type | None = F32
        form = _FORMS["metric"]
    elif name == "loss":
        types, result, form = [net, *key, batch], F32, _FORMS["loss"]
    elif name == "step":
        slots = Named("Slots", (net,))
        types, result = [net, slots, Named("Tick"), *key, batch], _step_record(learning, slots)
        form = _FORMS["step"]
        if learning.keyed:
            form = form.replace("t b", "t key b")
    elif name == "predict":
        types, result, form = [net, cx.solver.type(part.span)], None, _FORMS["predict"]
        if count == 2 and not isinstance(part.parameters[1], tree.PAnnotated):
            count = -1
    else:
        return [cx.solver.type(p.span) for p in part.parameters], None
    if count != len(types):
        cx.report(errors_declarations.entry_parameters(part.name.span, "learner", name, form))
        return None
    return types, result


def _step_record(learning: Learning, slots: Type) -> Type:
    symbol = f"{learning.symbol}.Step"
    entity = RecordEntity(symbol, (), learning.item.name.span)
    entity.fields = {"net": learning.bundle, "slots": slots, "loss": Tensor(Dtype.F32, F32.shape)}
    learning.work.registry.records[symbol] = entity
    record = term.RecordType(symbol, (), tuple(entity.fields.items()))
    learning.work.types.append(record)
    return Named(symbol)
