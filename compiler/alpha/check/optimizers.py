"""Optimizers: one rule for every parameter, with its slots and helpers."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.check import errors_declarations, errors_names
from alpha.check.context import Context
from alpha.check.definitions import (
    new_context,
)
from alpha.check.entries import Blame, Variable
from alpha.check.expressions import around
from alpha.check.finish import finish
from alpha.check.module_scope import Work
from alpha.check.optimizer_functions import Helpers
from alpha.check.patterns import Names, pattern, require_total
from alpha.check.scope import RecordEntity, Value
from alpha.core import term
from alpha.core.type_text import arrow
from alpha.core.types import Kind, Named, Scheme, Shape, Tensor, Type
from alpha.syntax import tree

_INIT = Named("Init")
_OPTIMIZER = Named("Optimizer")
_SHAPE = "s"
_PARAMETER = Tensor(Dtype.F32, Shape((), _SHAPE))


def declare_optimizer(work: Work, item: tree.OptimizerDecl, value: Value) -> None:
    """The scheme of an optimizer: from its configuration to an `Optimizer`."""
    cx = new_context(work)
    types: list[Type] = []
    for parameter in item.parameters:
        if isinstance(parameter, tree.PAnnotated):
            types.append(cx.annotation(parameter.type))
        else:
            form = f"optimizer {item.name.text} (config : Type)"
            reported = work.report(
                errors_declarations.entry_parameters(
                    parameter.span, "optimizer", parameter.span.text, form
                )
            )
            value.faulty = reported
            return
    value.scheme = Scheme((), arrow(tuple(types), _OPTIMIZER))


def check_optimizer(work: Work, item: tree.OptimizerDecl, value: Value) -> None:
    if value.faulty is not None:
        return
    slots: dict[str, tree.Slot] = {}
    defines: dict[str, tree.Define] = {}
    signatures: dict[str, tree.Signature] = {}
    places: dict[str, Span] = {}
    written: dict[str, Span] = {}
    for part in item.items:
        name = part.name.text
        taken = written if isinstance(part, tree.Signature) else places
        if name in taken:
            work.report(errors_names.defined_twice(part.name.span, name, taken[name]))
        elif isinstance(part, tree.Slot):
            slots[name] = part
        elif isinstance(part, tree.Signature):
            signatures[name] = part
        else:
            defines[name] = part
        taken.setdefault(name, part.name.span)
    update = defines.pop("update", None)
    if update is None:
        form = "update t p g = { p = ... }"
        work.report(
            errors_declarations.missing_entry(
                item.name.span, "optimizer", item.name.text, "update", form
            )
        )
        return
    unwritable = signatures.pop("update", None)
    if len(update.parameters) != 3 or unwritable is not None:
        place = update.name.span if unwritable is None else unwritable.name.span
        work.report(
            errors_declarations.entry_parameters(
                place, "optimizer", "update", "update t p g = { p = ... }"
            )
        )
        return
    for name, signature in signatures.items():
        if name not in defines:
            work.report(errors_names.without_definition(signature.name.span, name, True))
    _optimizer(work, item, value, slots, update, Helpers(work, defines, signatures))


def _optimizer(
    work: Work,
    item: tree.OptimizerDecl,
    value: Value,
    slots: dict[str, tree.Slot],
    update: tree.Define,
    helpers: Helpers,
) -> None:
    cx = new_context(work)
    cx.variables.kinds[_SHAPE] = Kind.SHAPE
    assert value.scheme is not None
    names: Names = {}
    configuration: list[Type] = [cx.solver.type(each.span) for each in item.parameters]
    binders = _patterns(cx, item.parameters, configuration, names)
    for name, entry in names.items():
        cx.claim(name, entry.span)
    cx.locals = {**cx.locals, **names}
    initial = [(name, _start(cx, slot)) for name, slot in slots.items()]
    symbol = f"{value.symbol}.Update"
    record = RecordEntity(symbol, ((_SHAPE, Kind.SHAPE),), update.name.span)
    record.fields = {**dict.fromkeys(slots, _PARAMETER), "p": _PARAMETER}
    work.registry.records[symbol] = record
    work.types.append(term.RecordType(symbol, record.parameters, tuple(record.fields.items())))
    result = Named(symbol, (Shape((), _SHAPE),))
    types: list[Type] = [Named("Tick"), _PARAMETER, _PARAMETER]
    with cx.binding({n: Variable(_PARAMETER, s.name.span) for n, s in slots.items()}):
        made = helpers.check(cx)
        inner: Names = {}
        given = _patterns(cx, update.parameters, types, inner)
        with cx.binding(inner):
            blame = Blame(update.name.span, "`update` gives every slot and the parameter `p`")
            found = around(made, cx.check(update.body, result, blame))
    every = (*binders, *[term.Bind(n, _PARAMETER) for n in slots], *given)
    whole_types = (*configuration, *[_PARAMETER for _ in slots], *types)
    whole = term.Lambda(every, found, span=update.span, type=arrow(whole_types, result))
    starts = term.TupleTerm(tuple([t for _, t in initial]), span=update.span, type=_INIT)
    done = finish(cx, term.TupleTerm((whole, starts), span=update.span, type=_INIT))
    if done is None:
        return
    assert isinstance(done, term.TupleTerm)
    made_update, made_slots = done.items
    assert isinstance(made_update, term.Lambda) and isinstance(made_slots, term.TupleTerm)
    count = len(binders)
    pairs = tuple(zip(slots, made_slots.items, strict=True))
    work.optimizers.append(
        term.Optimizer(
            value.symbol, made_update.parameters[:count], pairs, _SHAPE, made_update, item.span
        )
    )


def _patterns(
    cx: Context, nodes: Sequence[tree.Pattern], types: Sequence[Type], names: Names
) -> list[term.Pattern]:
    """The core patterns of parameters; what they bind is added to `names`."""
    made: list[term.Pattern] = []
    for node, type_ in zip(nodes, types, strict=True):
        each = pattern(cx, node, type_, names)
        require_total(cx, each, node)
        made.append(each)
    return made


def _start(cx: Context, slot: tree.Slot) -> term.Term:
    """What a slot holds before the first step: `zeros` or `ones`."""
    blame = Blame(slot.name.span, "a slot starts from an `Init`")
    found = cx.check(slot.value, _INIT, blame)
    if cx.failed or (isinstance(found, term.Intrinsic) and found.name in ("zeros", "ones")):
        return found
    diagnostic = errors_declarations.slot_start(slot.value.span, slot.name.text)
    return cx.refuse(slot.value.span, diagnostic)
