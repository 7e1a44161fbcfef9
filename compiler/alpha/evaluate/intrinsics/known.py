"""Taking apart operands that must be known, and comparing known values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import errors
from alpha.evaluate.amounts import compare
from alpha.evaluate.machine import Machine
from alpha.evaluate.values import (
    FUNCTIONS,
    KeyValue,
    ListValue,
    Record,
    Scalar,
    SourceValue,
    Staged,
    TupleValue,
    Value,
    Variant,
)
from alpha.graph import scalar

Decide = Callable[[Fraction, Fraction], bool]

ORDER: dict[str, Decide] = {
    "less": operator.lt,
    "lessEqual": operator.le,
    "greater": operator.gt,
    "greaterEqual": operator.ge,
}


def integer(machine: Machine, value: Value, what: str, span: Span) -> int:
    """A known `Int`, or the number of a known integer scalar; else E0410."""
    if isinstance(value, int):
        return value
    if isinstance(value, Scalar) and value.dtype.is_integer:
        return int(value.value)
    raise Refused(errors.must_be_known(what, span, machine.trail))


def items(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, ListValue)
    return value.items


def text(value: Value) -> str:
    assert isinstance(value, str)
    return value


def equal(machine: Machine, left: Value, right: Value, span: Span) -> bool:
    """Structural equality of known values; amounts of different units are E0310, staged parts E0410.

    Types contain no types of themselves, so values nest as deep as their type is written and no deeper.
    """
    match left, right:
        case (Staged() | KeyValue(), _) | (_, Staged() | KeyValue()):
            raise Refused(errors.must_be_known("a compared value", span, machine.trail))
        case Scalar(dtype, a), Scalar(_, b):
            return bool(scalar.evaluate("equal", (a, b), {}, dtype))
        case Amount(), Amount():
            return compare(operator.eq, left, right, span)
        case (ListValue(first), ListValue(second)) | (TupleValue(first), TupleValue(second)):
            return _all_equal(machine, first, second, span)
        case Record(_, fields), Record(_, others):
            return _all_equal(
                machine, tuple(fields.values()), tuple(others[name] for name in fields), span
            )
        case Variant(name, first), Variant(other, second):
            return name == other and _all_equal(machine, first, second, span)
        case SourceValue(kind, citation), SourceValue(other_kind, other_citation):
            return kind == other_kind and citation == other_citation
        case _:
            assert not isinstance(left, FUNCTIONS), "the checker compares no functions"
            return left == right


def _all_equal(
    machine: Machine, left: tuple[Value, ...], right: tuple[Value, ...], span: Span
) -> bool:
    if len(left) != len(right):
        return False
    for a, b in zip(left, right, strict=True):
        machine.step()
        if not equal(machine, a, b, span):
            return False
    return True


def ordered(machine: Machine, name: str, left: Value, right: Value, span: Span) -> bool:
    """`left < right` and its kin on known values of one ordered type."""
    match left, right:
        case Scalar(dtype, a), Scalar(_, b):
            return bool(scalar.evaluate(name, (a, b), {}, dtype))
        case Amount(), Amount():
            return compare(ORDER[name], left, right, span)
        case int(), int():
            return ORDER[name](Fraction(left), Fraction(right))
        case str(), str():
            return _TEXT_ORDER[name](left, right)
        case _:
            raise Refused(errors.must_be_known("a compared value", span, machine.trail))


_TEXT_ORDER: dict[str, Callable[[str, str], bool]] = {
    "less": operator.lt,
    "lessEqual": operator.le,
    "greater": operator.gt,
    "greaterEqual": operator.ge,
}


def as_float(value: Value) -> float:
    """The number of a known float scalar."""
    assert isinstance(value, Scalar)
    assert value.dtype is Dtype.F32
    return float(value.value)
