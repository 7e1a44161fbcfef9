"""Shapes: reshaping, permuting, repeating, joining, padding, looking up."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.intrinsics.known import integer
from alpha.evaluate.machine import VARIABLE, Machine, Row
from alpha.evaluate.values import Operation, Scalar, Staged, Value
from alpha.graph.node import Node


def _reshape(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    node = machine.staging.node(operands[0], span)
    assert operation.shape is not None
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("reshape", (node,), span, shape=operation.shape))


def _fill(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    (value,) = operands
    if not isinstance(value, Scalar):
        raise Refused(errors.must_be_known("what `fill` repeats", span, machine.trail))
    assert operation.shape is not None
    machine.allocate(budget.NODE)
    node = machine.staging.constant(value, span)
    return Staged(machine.staging.broadcast(node, operation.shape, span))


def _positions(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    count = integer(machine, operands[0], "the size of `positions`", span)
    if count < 1:
        raise Refused(errors.size_below_one((count,), span))
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("positions", (), span, count=count))


def _transpose(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    node = machine.staging.node(operands[0], span)
    rank = len(node.type.shape)
    written = operation.axes if operation.axes is not None else tuple(reversed(range(rank)))
    order = tuple(axis + rank if axis < 0 else axis for axis in written)
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("transpose", (node,), span, order=order))


def _one_axis(operation: Operation, rank: int) -> int:
    assert operation.axes is not None
    (axis,) = operation.axes
    return axis + rank if axis < 0 else axis


def _repeat(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    count = integer(machine, operands[0], "the count of `repeat`", span)
    if count < 1:
        raise Refused(errors.size_below_one((count,), span))
    node = machine.staging.node(operands[1], span)
    axis = _one_axis(operation, len(node.type.shape) + 1)
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("repeat", (node,), span, axis=axis, count=count))


def _concat(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    nodes = tuple(machine.staging.node(operand, span) for operand in operands)
    axis = _one_axis(operation, len(nodes[0].type.shape))
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("concat", nodes, span, axis=axis))


def _pad(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    low, high = (integer(machine, operand, "a width of `pad`", span) for operand in operands[:2])
    if low < 0 or high < 0:
        raise Refused(errors.size_below_one((min(low, high),), span))
    node = machine.staging.node(operands[2], span)
    axis = _one_axis(operation, len(node.type.shape))
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("pad", (node,), span, axis=axis, low=low, high=high))


def _plain(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    nodes: tuple[Node, ...] = tuple(machine.staging.node(operand, span) for operand in operands)
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply(operation.name, nodes, span))


def _pool(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    """`max` or `mean` over each window of k by k places, row-major: the windows become axes of their own."""
    k = integer(machine, operands[0], "the window of a pool", span)
    node = machine.staging.node(operands[1], span)
    n, h, w, c = node.type.shape
    machine.allocate(3 * budget.NODE)
    windows = machine.staging.apply("reshape", (node,), span, shape=(n, h // k, k, w // k, k, c))
    name = "max" if operation.name == "maxPool" else "mean"
    return Staged(machine.staging.apply(name, (windows,), span, axes=(2, 4)))


ROWS: dict[str, Row] = {
    "reshape": Row(1, _reshape),
    "fill": Row(1, _fill),
    "positions": Row(1, _positions),
    "transpose": Row(1, _transpose),
    "repeat": Row(2, _repeat),
    "concat": Row(VARIABLE, _concat),
    "pad": Row(3, _pad),
    "gather": Row(2, _plain),
    "oneHot": Row(1, _plain),
    "causal": Row(1, _plain),
    "maxPool": Row(2, _pool),
    "meanPool": Row(2, _pool),
}
