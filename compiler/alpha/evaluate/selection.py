"""Selecting: a field of a record, a parameter of a bundle, an entry of a policy, places of a tensor."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import errors
from alpha.evaluate.grounding import Types, number
from alpha.evaluate.machine import Machine
from alpha.evaluate.policies import entry_steps
from alpha.evaluate.values import Bundle, PolicyValue, Record, Staged, Value


def select(machine: Machine, value: Value, name: str, span: Span) -> None:
    """Give the part of `value` that `name` names."""
    match value:
        case Record(_, fields) | Bundle(_, fields):
            machine.give(fields[name])
        case PolicyValue(symbol):
            machine.drive(entry_steps(machine.index.policy(symbol), name, span), span)
        case _:
            raise AssertionError(f"the checker lets `.{name}` through only for what has fields")


def subscript(machine: Machine, value: Value, term: core.Subscript, types: Types) -> Value:
    """`x[...]`: a slice that keeps the chosen places, then a reshape without the axes that one index names."""
    assert isinstance(value, Staged)
    shape = value.node.type.shape
    low, high = [0] * len(shape), list(shape)
    kept: list[int] = []
    for axis, size in enumerate(shape):
        item = term.items[axis] if axis < len(term.items) else None
        match item:
            case None:
                kept.append(size)
            case core.At(place):
                index = number(place, types)
                if not 0 <= index < size:
                    raise Refused(errors.index_outside(index, size, term.span))
                low[axis], high[axis] = index, index + 1
            case core.Range(first, past):
                low[axis], high[axis] = number(first, types), number(past, types)
                _check_range(low[axis], high[axis], size, term.span)
                kept.append(high[axis] - low[axis])
    return Staged(chosen(machine, value, tuple(low), tuple(high), tuple(kept), term.span).node)


def chosen(
    machine: Machine,
    value: Staged,
    low: tuple[int, ...],
    high: tuple[int, ...],
    shape: tuple[int, ...],
    span: Span,
) -> Staged:
    """The places `low ... high - 1` of every axis, as a tensor of `shape`."""
    node = value.node
    if high != node.type.shape or any(low):
        node = machine.staging.apply("slice", (node,), span, low=low, high=high)
    if node.type.shape != shape:
        node = machine.staging.apply("reshape", (node,), span, shape=shape)
    return Staged(node)


def _check_range(low: int, high: int, size: int, span: Span) -> None:
    if low >= high:
        raise Refused(errors.empty_slice(low, high, span))
    if low < 0:
        raise Refused(errors.index_outside(low, size, span))
    if high > size:
        raise Refused(errors.bound_outside(high, size, span))
