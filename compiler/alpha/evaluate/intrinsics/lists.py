"""Operations on lists. Those that apply a function are evaluations in steps, so no list is too long for the stack."""

from __future__ import annotations

from functools import cmp_to_key

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.intrinsics.known import integer, items, ordered
from alpha.evaluate.machine import Call, Machine, Row, Steps
from alpha.evaluate.values import ListValue, Operation, Scalar, Staged, TupleValue, Value


def _map(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Steps:
    function, elements = operands
    results = []
    for element in items(elements):
        results.append((yield Call(function, (element,))))
    machine.allocate(budget.compound(len(results)))
    return ListValue(tuple(results))


def _filter(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Steps:
    function, elements = operands
    kept = []
    for element in items(elements):
        holds = yield Call(function, (element,))
        if not isinstance(holds, Scalar):
            raise Refused(errors.must_be_known("what `filter` asks", span, machine.trail))
        if holds.value:
            kept.append(element)
    machine.allocate(budget.compound(len(kept)))
    return ListValue(tuple(kept))


def _fold(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Steps:
    result, function, elements = operands
    for element in items(elements):
        result = yield Call(function, (result, element))
    return result


def _range(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    low, high = (integer(machine, operand, "a bound of `range`", span) for operand in operands)
    count = max(0, high - low)
    machine.allocate(budget.compound(count) + count * (budget.HEADER + budget.WORD))
    machine.step(count)
    return ListValue(tuple(range(low, high)))


def _zip(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    first, second = (items(operand) for operand in operands)
    count = min(len(first), len(second))
    machine.allocate(budget.compound(count) + count * budget.compound(2))
    machine.step(count)
    return ListValue(tuple(TupleValue(pair) for pair in zip(first, second, strict=False)))


def _length(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    return len(items(operands[0]))


def _sort(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    """Stable, ascending. One step for each element and each time the number of elements halves."""
    elements = items(operands[0])
    if any(isinstance(element, Staged) for element in elements):
        raise Refused(errors.must_be_known("what `sort` compares", span, machine.trail))
    machine.step(len(elements) * max(1, len(elements).bit_length()))
    machine.allocate(budget.compound(len(elements)))

    def order(left: Value, right: Value) -> int:
        if ordered(machine, "less", left, right, span):
            return -1
        return 1 if ordered(machine, "less", right, left, span) else 0

    return ListValue(tuple(sorted(elements, key=cmp_to_key(order))))


ROWS: dict[str, Row] = {
    "map": Row(2, _map),
    "filter": Row(2, _filter),
    "fold": Row(3, _fold),
    "range": Row(2, _range),
    "zip": Row(2, _zip),
    "length": Row(1, _length),
    "sort": Row(1, _sort),
}
