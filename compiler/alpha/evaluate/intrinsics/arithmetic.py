"""Operators: one name for `Int`, `Amount`, lists, texts and tensors, chosen by the operands."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import amounts, budget, errors
from alpha.evaluate.budget import BYTES, Exhausted
from alpha.evaluate.intrinsics import elementwise
from alpha.evaluate.intrinsics.known import equal, integer, ordered
from alpha.evaluate.machine import Machine, Row
from alpha.evaluate.values import (
    ListValue,
    Operation,
    Scalar,
    Staged,
    Value,
    boolean,
)

_EVERYDAY_BITS = 1 << 14


def _whole(machine: Machine, value: int) -> int:
    machine.allocate(budget.integer(value))
    return value


def _reserve_product(machine: Machine, bits: int) -> None:
    """Refuse a product too large for the budget before it is computed, and count what it takes in steps.

    A step for 2^10 products of words, which is longer than they take; numbers of everyday sizes take none.
    """
    if bits // 8 > BYTES:
        raise Exhausted(machine.place.account, "bytes")
    if bits > _EVERYDAY_BITS:
        machine.step((bits // 128) ** 2 >> 10)


def _as_amount(value: Value) -> Amount:
    """An operand of a mixed operation: an `Int` is a count."""
    if isinstance(value, int):
        return amounts.count(value)
    assert isinstance(value, Amount)
    return value


def _amount(machine: Machine, value: Amount) -> Amount:
    bits = value.value.numerator.bit_length() + value.value.denominator.bit_length()
    machine.allocate(budget.HEADER + max(2 * budget.WORD, bits // 8))
    return value


def _add(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    match operands:
        case int(a), int(b):
            return _whole(machine, a + b)
        case (Amount(), _) | (_, Amount()):
            left, right = (_as_amount(operand) for operand in operands)
            return _amount(machine, amounts.add(left, right, span))
        case _:
            return elementwise.apply(machine, "add", operands, span)


def _sub(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    match operands:
        case int(a), int(b):
            return _whole(machine, a - b)
        case (Amount(), _) | (_, Amount()):
            left, right = (_as_amount(operand) for operand in operands)
            return _amount(machine, amounts.sub(left, right, span))
        case _:
            return elementwise.apply(machine, "sub", operands, span)


def _mul(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    match operands:
        case int(a), int(b):
            _reserve_product(machine, a.bit_length() + b.bit_length())
            return _whole(machine, a * b)
        case (Amount(), _) | (_, Amount()):
            left, right = (_as_amount(operand) for operand in operands)
            return _amount(machine, amounts.mul(left, right, span))
        case _:
            return elementwise.apply(machine, "mul", operands, span)


def _div(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    if any(isinstance(operand, Amount) for operand in operands):
        a, b = (_as_amount(operand) for operand in operands)
        return _amount(machine, amounts.div(a, b, span))
    return elementwise.apply(machine, "div", operands, span)


def _by_known(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    """`//` and `%`: floor division of an `Int`, or of an integer tensor by a known number."""
    x, divisor = operands
    by = integer(machine, divisor, "the divisor", span)
    if by == 0:
        raise Refused(errors.division_by_zero(span))
    if isinstance(x, int):
        _reserve_product(machine, x.bit_length())
        return _whole(machine, x // by if operation.name == "floorDiv" else x % by)
    return elementwise.apply(machine, operation.name, (x,), span, by=by)


def _ceil_div(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    x, by = (integer(machine, operand, "the number", span) for operand in operands)
    if by == 0:
        raise Refused(errors.division_by_zero(span))
    return _whole(machine, -(-x // by))


def _power(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    base, exponent = operands
    if isinstance(base, int):
        by = integer(machine, exponent, "the exponent", span)
        if by < 0:
            raise Refused(errors.negative_exponent(span))
        if abs(base) > 1:
            _reserve_product(machine, (abs(base).bit_length() - 1) * by)
        return _whole(machine, base**by)
    if isinstance(exponent, Staged):
        if isinstance(base, Scalar):
            base = Staged(machine.staging.node(base, span))
        assert isinstance(base, Staged)
        machine.allocate(budget.NODE)
        nodes = (base.node, exponent.node)
        return Staged(machine.staging.apply("powStep", nodes, span))
    if isinstance(base, Scalar) and not base.dtype.is_float:
        raise Refused(errors.integer_power(span))
    by = integer(machine, exponent, "the exponent", span)
    return elementwise.apply(machine, "pow", (base,), span, exponent=by)


def _neg(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    match operands[0]:
        case int(a):
            return _whole(machine, -a)
        case Amount(value, unit):
            return _amount(machine, Amount(-value, unit))
        case other:
            return elementwise.apply(machine, "neg", (other,), span)


def _append(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    match operands:
        case ListValue(first), ListValue(second):
            machine.allocate(budget.compound(len(first) + len(second)))
            return ListValue(first + second)
        case str(first_text), str(second_text):
            machine.allocate(budget.text(first_text) + budget.text(second_text))
            return first_text + second_text
        case _:
            raise TypeError("the checker joins lists and texts only")


def _compare(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    name = operation.name
    left, right = operands
    if isinstance(left, Staged | Scalar) and isinstance(right, Staged | Scalar):
        return elementwise.apply(machine, name, operands, span)
    if isinstance(left, Amount) != isinstance(right, Amount):
        left, right = _as_amount(left), _as_amount(right)
    if name == "equal":
        return boolean(equal(machine, left, right, span))
    if name == "notEqual":
        return boolean(not equal(machine, left, right, span))
    return boolean(ordered(machine, name, left, right, span))


def _present(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    return amounts.PRESENT if operation.name == "present" else amounts.ABSENT


def _positive(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    return boolean(_as_amount(operands[0]).value > 0)


def _of_unit(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    """The amount, if it has the unit that a signature names."""
    wanted, found = (_as_amount(operand) for operand in operands)
    if wanted.unit != found.unit or wanted.feature != found.feature:
        raise Refused(errors.wrong_unit(found, wanted, span))
    return found


ROWS: dict[str, Row] = {
    "add": Row(2, _add),
    "sub": Row(2, _sub),
    "mul": Row(2, _mul),
    "div": Row(2, _div),
    "floorDiv": Row(2, _by_known),
    "rem": Row(2, _by_known),
    "ceilDiv": Row(2, _ceil_div),
    "power": Row(2, _power),
    "neg": Row(1, _neg),
    "append": Row(2, _append),
    **{name: Row(2, _compare) for name in sorted(elementwise.COMPARISONS)},
    "present": Row(0, _present),
    "absent": Row(0, _present),
    "positive": Row(1, _positive),
    "ofUnit": Row(2, _of_unit),
}
