"""Optimizers, initialisers, data sources and citations."""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.span import Span
from alpha.core.types import TypeArgument
from alpha.diagnostics.diagnostic import Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.evaluate import budget, data_errors
from alpha.evaluate.files import FileAccess, FileFault
from alpha.evaluate.grounding import sizes
from alpha.evaluate.intrinsics.known import as_float, text
from alpha.evaluate.machine import Call, Machine, Row, Steps
from alpha.evaluate.scope import Scope
from alpha.evaluate.values import (
    Bundle,
    Closure,
    DataSource,
    Initialiser,
    Operation,
    OptimizerValue,
    Record,
    Scalar,
    SlotsValue,
    SourceValue,
    Staged,
    TupleValue,
    Value,
)


def apply_optimizer(
    machine: Machine,
    optimizer: OptimizerValue,
    tick: Value,
    net: Bundle,
    slots: SlotsValue,
    gradient: Bundle,
    span: Span,
) -> Steps:
    """The rule of an optimizer on every parameter, in parameter order; gives (net, slots)."""
    declared = machine.index.optimizer(optimizer.symbol)
    names = tuple(name for name, _ in declared.slots)
    updated: dict[str, list[Value]] = {name: [] for name in (*names, "p")}
    by_slot = [tuple(leaf for _, leaf in slots.slots[name].leaves()) for name in names]
    for place, ((_, p), (_, g)) in enumerate(zip(net.leaves(), gradient.leaves(), strict=True)):
        shape = p.node.type.shape if isinstance(p, Staged) else ()
        types: dict[str, TypeArgument] = {declared.shape: sizes(*shape)}
        rule = Closure(declared.update, Scope(types), optimizer.symbol)
        held = tuple(values[place] for values in by_slot)
        result = yield Call(rule, (*optimizer.configuration, *held, tick, p, g))
        assert isinstance(result, Record)
        for name, values in updated.items():
            values.append(_shaped(machine, result.fields[name], shape, span))
    rebuilt = {name: bundle(net, updated[name]) for name in names}
    return TupleValue((bundle(net, updated["p"]), SlotsValue(rebuilt)))


def bundle(like: Bundle, values: list[Value]) -> Bundle:
    """A bundle of the form of `like` with other tensors."""
    remaining: Iterator[Value] = iter(values)
    return like.rebuilt(remaining)


def _shaped(machine: Machine, value: Value, shape: tuple[int, ...], span: Span) -> Staged:
    """A result as a tensor of the parameter's shape: a rule may give a scalar for a scalar parameter only."""
    assert isinstance(value, Scalar | Staged)
    node = machine.staging.node(value, span)
    return Staged(machine.staging.broadcast(node, shape, span))


def _optimizer_apply(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Steps:
    optimizer, tick, net, slots, gradient = operands
    assert isinstance(optimizer, OptimizerValue)
    assert isinstance(net, Bundle)
    assert isinstance(slots, SlotsValue)
    assert isinstance(gradient, Bundle)
    return (yield from apply_optimizer(machine, optimizer, tick, net, slots, gradient, span))


def _initialiser(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    machine.allocate(budget.compound(1))
    return Initialiser(operation.name, *(as_float(operand) for operand in operands))


def _data_source(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    machine.allocate(budget.compound(1))
    return DataSource(operation.name, operands[0], span)


def _citation(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    citation = tuple(text(operand) for operand in operands)
    machine.allocate(budget.compound(len(citation)))
    return SourceValue(operation.name, citation, span)


def _model(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    raise Refused(not_yet("evidence from a checked model", span))


def run_record(files: FileAccess) -> Row:
    """The citation of a run record: its digest must be the one in the lock (E0704)."""

    def run(
        machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
    ) -> Value:
        (operand,) = operands
        path = text(operand)
        module = machine.place.account.module
        try:
            digest = files.digest(module, path)
        except FileFault as fault:
            raise Refused(data_errors.record_missing(path, str(fault), span)) from None
        if digest != files.locked(module, path):
            raise Refused(data_errors.record_missing(path, "is not the one in the lock", span))
        return SourceValue("run", (path,), span)

    return Row(1, run)


ROWS: dict[str, Row] = {
    "optimizerApply": Row(5, _optimizer_apply),
    **{name: Row(0, _initialiser) for name in ("zeros", "ones", "glorot", "he")},
    **{name: Row(1, _initialiser) for name in ("filled", "normal", "uniform")},
    **{name: Row(1, _data_source) for name in ("csv", "idx", "npy", "bytes")},
    **{name: Row(2, _citation) for name in ("manual", "header")},
    "model": Row(1, _model),
}
