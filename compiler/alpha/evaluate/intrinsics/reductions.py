"""Reductions, choices and row operations along axes."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.evaluate import budget
from alpha.evaluate.machine import Machine, Row
from alpha.evaluate.values import Operation, Scalar, Staged, Value


def axes_of(operation: Operation, rank: int) -> tuple[int, ...]:
    """The axes from 0, ascending; all where none are written."""
    if operation.axes is None:
        return tuple(range(rank))
    return tuple(sorted(axis + rank if axis < 0 else axis for axis in operation.axes))


def _reduce(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    (x,) = operands
    if isinstance(x, Scalar) and operation.name != "logSumExp":
        return x
    node = machine.staging.node(x, span)
    axes = axes_of(operation, len(node.type.shape))
    if not axes and operation.name != "logSumExp":
        return x
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply(operation.name, (node,), span, axes=axes))


def _along(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    """`softmax`, `logSoftmax`, `argmax` and `argmin` take one axis."""
    node = machine.staging.node(operands[0], span)
    (axis,) = axes_of(operation, len(node.type.shape))
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply(operation.name, (node,), span, axis=axis))


def _cross_entropy(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    nodes = tuple(machine.staging.node(operand, span) for operand in operands)
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("crossEntropy", nodes, span))


ROWS: dict[str, Row] = {
    **{name: Row(1, _reduce) for name in ("sum", "mean", "max", "min", "logSumExp")},
    **{name: Row(1, _along) for name in ("softmax", "logSoftmax", "argmax", "argmin")},
    "crossEntropy": Row(2, _cross_entropy),
}
