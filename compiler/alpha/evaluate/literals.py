"""Known numbers as values of the type that their place gives them, rounded exactly once."""

from __future__ import annotations

import math
from fractions import Fraction

from alpha.base.dtype import Dtype
from alpha.core.term import Amount
from alpha.core.types import Named, Tensor, TypeArgument
from alpha.evaluate.grounding import element
from alpha.evaluate.values import Scalar, Value
from alpha.graph.ieee import nearest
from alpha.graph.scalar import limits

UNITS = frozenset(
    {"Amount", "Bytes", "Seconds", "Hertz", "Flops", "BytesPerSecond", "FlopsPerSecond"}
)
"""Types whose values are amounts."""


class DoesNotFit(Exception):
    """The number has no value in the dtype (E0402)."""


def literal(value: int | Fraction | str | Amount, type: TypeArgument) -> Value:
    """The value of a literal of a type without variables."""
    if isinstance(type, Tensor):
        assert not isinstance(value, str | Amount)
        dtype, bound = element(type.element, {})
        return Scalar(dtype, converted(value, dtype), bound)
    if isinstance(type, Named) and type.name in UNITS and isinstance(value, int):
        return Amount(Fraction(value))
    if isinstance(value, Fraction):
        raise DoesNotFit
    return value


def converted(value: int | Fraction, dtype: Dtype) -> int | float:
    """The value of `dtype` nearest to an exact number, ties to even; integers must be exact."""
    if dtype is Dtype.BOOL:
        raise DoesNotFit
    if dtype.is_integer:
        low, high = limits(dtype)
        if value.denominator != 1 or not low <= value <= high:
            raise DoesNotFit
        return int(value)
    rounded = nearest(value, dtype)
    if math.isinf(rounded):
        raise DoesNotFit
    return rounded
