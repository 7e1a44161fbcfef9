"""Arithmetic on amounts (specification, section 8)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import errors

PRESENT = Amount(Fraction(1), feature=True)
ABSENT = Amount(Fraction(0), feature=True)


def count(value: int) -> Amount:
    return Amount(Fraction(value))


def same_unit(left: Amount, right: Amount, span: Span) -> None:
    """E0310 unless both have one unit; a feature is no count."""
    if left.unit != right.unit or left.feature != right.feature:
        raise Refused(errors.units_differ(left, right, span))


def add(left: Amount, right: Amount, span: Span) -> Amount:
    same_unit(left, right, span)
    return Amount(left.value + right.value, left.unit)


def sub(left: Amount, right: Amount, span: Span) -> Amount:
    same_unit(left, right, span)
    return Amount(left.value - right.value, left.unit)


def _joined(left: Amount, right: Amount, sign: int) -> tuple[int, int, int]:
    a, b = left.unit, right.unit
    return (a[0] + sign * b[0], a[1] + sign * b[1], a[2] + sign * b[2])


def mul(left: Amount, right: Amount, span: Span) -> Amount:
    return Amount(left.value * right.value, _joined(left, right, 1))


def div(left: Amount, right: Amount, span: Span) -> Amount:
    if not right.value:
        raise Refused(errors.division_by_zero(span))
    return Amount(left.value / right.value, _joined(left, right, -1))


def compare(
    decide: Callable[[Fraction, Fraction], bool], left: Amount, right: Amount, span: Span
) -> bool:
    same_unit(left, right, span)
    return decide(left.value, right.value)
