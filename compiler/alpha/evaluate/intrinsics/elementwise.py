"""Elementwise operations: known scalars are folded, everything else becomes nodes with explicit broadcasts."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.intrinsics.known import integer
from alpha.evaluate.literals import DoesNotFit, converted
from alpha.evaluate.machine import Machine, Row
from alpha.evaluate.values import Operation, Scalar, Staged, Value
from alpha.graph import scalar
from alpha.graph.node import Attribute, Node

COMPARISONS = frozenset({"equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual"})
UNARY = (
    "abs", "sqrt", "exp", "log", "tanh", "sigmoid", "erf", "sin", "cos", "rsqrt", "relu", "sign", "floor", "round",
)  # fmt: skip


def apply(
    machine: Machine,
    name: str,
    operands: tuple[Value, ...],
    span: Span,
    **attributes: Attribute,
) -> Value:
    """The graph operation `name` on operands that broadcast against each other (specification, section 9)."""
    if all(isinstance(operand, Scalar) for operand in operands):
        return _folded(machine, name, operands, span, **attributes)
    staging = machine.staging
    nodes = tuple(staging.node(operand, span) for operand in operands)
    shape = max((node.type.shape for node in nodes), key=len)
    spread = tuple(staging.broadcast(node, shape, span) for node in nodes)
    machine.allocate(budget.NODE)
    return Staged(staging.apply(name, spread, span, **attributes))


def _folded(
    machine: Machine,
    name: str,
    operands: tuple[Value, ...],
    span: Span,
    **attributes: Attribute,
) -> Scalar:
    known = [operand for operand in operands if isinstance(operand, Scalar)]
    typed = known[1] if name == "select" else known[0]
    result = scalar.evaluate(name, [operand.value for operand in known], attributes, typed.dtype)
    machine.allocate(budget.SCALAR)
    if name in COMPARISONS:
        return Scalar(Dtype.BOOL, bool(result))
    return Scalar(typed.dtype, result, typed.bound)


def _same_name(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    return apply(machine, operation.name, operands, span)


def _clamp(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    """minimum hi (maximum lo x)"""
    low, high, x = operands
    for bound in (low, high):
        if not isinstance(bound, Scalar):
            raise Refused(errors.must_be_known("a bound of `clamp`", span, machine.trail))
    return apply(machine, "minimum", (high, apply(machine, "maximum", (low, x), span)), span)


def _cast(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    (x,) = operands
    (target,) = operation.arguments
    assert isinstance(target, Dtype)
    if isinstance(x, int):
        return of_integer(x, target, span)
    if isinstance(x, Scalar):
        value = scalar.cast(x.value, x.dtype, target)
        return Scalar(target, value)
    node: Node = machine.staging.node(x, span)
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("cast", (node,), span, dtype=target))


def of_integer(value: int, target: Dtype, span: Span) -> Scalar:
    """A known `Int` as a scalar: the nearest float, or the exact integer."""
    try:
        return Scalar(target, converted(value, target))
    except DoesNotFit:
        raise Refused(errors.number_does_not_fit(value, target.value, span)) from None


def _to_float(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    return of_integer(integer(machine, operands[0], "the number", span), Dtype.F32, span)


ROWS: dict[str, Row] = {
    **{name: Row(1, _same_name) for name in UNARY},
    **{name: Row(2, _same_name) for name in ("maximum", "minimum", "and", "or")},
    "not": Row(1, _same_name),
    "fma": Row(3, _same_name),
    "select": Row(3, _same_name),
    "clamp": Row(3, _clamp),
    "cast": Row(1, _cast),
    "toFloat": Row(1, _to_float),
}
