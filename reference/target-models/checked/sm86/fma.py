"""Fused multiply-add, rounded once, over arrays."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy

Array = Any

_LOW = numpy.array(0x1FFFFFFF, numpy.int64)
_HALF = numpy.array(0x10000000, numpy.int64)
_TINY32 = numpy.array(2.0**-126, numpy.float32)
_NAN32 = numpy.uint32(0x7FFFFFFF)


def fma32(a: Array, b: Array, c: Array) -> Array:
    """`a * b + c` for binary64 arrays that hold binary32 values, as a binary32 array. A NaN is 0x7FFFFFFF.

    Arrays have one dimension; those without one count for all lanes, but not all three of them.

    The product is exact in binary64. The sum is rounded to binary64 and then to binary32, which differs from one
    rounding only where the first lands on a tie of the second. In the normal range a tie shows in the low 29 bits; a
    smaller sum has its ties elsewhere. Those lanes are done again: rounding the first time to odd makes it harmless.
    """
    total = a * b
    if total.ndim:
        total += c
    else:
        total = total + c
    found = total.astype(numpy.float32)
    doubtful = (total.view(numpy.int64) & _LOW) == _HALF
    normal = numpy.abs(found) > _TINY32  # false for NaN as well
    if 0 in normal.tobytes():  # zeros are common, and exact
        doubtful |= ~normal & (total != 0)
    if 1 in doubtful.tobytes():
        _repair(a, b, c, total, found, doubtful.nonzero()[0])
    return found


def _repair(a: Array, b: Array, c: Array, total: Array, found: Array, lanes: Array) -> None:
    """Rounds lanes again, and makes a NaN the card's."""
    s = total[lanes]
    p = _of(a, lanes) * _of(b, lanes)
    d = _of(c, lanes)
    t = s - p
    error = (p - (s - t)) + (d - t)  # the exact error of the sum
    if 1 not in (error != 0).tobytes():  # an exact sum is rounded once
        return
    bits = s.view(numpy.int64)
    away = (error > 0) == (s > 0)
    odd = numpy.where(away, bits + 1, bits - 1)
    inexact = (error != 0) & ((bits & 1) == 0) & numpy.isfinite(s)
    again = numpy.where(inexact, odd, bits).view(numpy.float64).astype(numpy.float32)
    again.view(numpy.uint32)[again != again] = _NAN32
    found[lanes] = again


def _of(x: Array, lanes: Array) -> Array:
    return x[lanes] if x.ndim else x


_SPLIT = 134217729.0  # 2 ** 27 + 1


def fma64(a: Array, b: Array, c: Array) -> Array:
    """`a * b + c` for binary64 arrays, rounded once. A NaN is as arithmetic leaves it.

    Boldo and Melquiond: product and sum as unevaluated pairs, their tails added with rounding to odd. Lanes near the
    ends of the range, where a pair is not exact, are computed in rationals.
    """
    a, b, c = (numpy.asarray(item, numpy.float64) for item in (a, b, c))
    high = a * b
    low = _product_error(a, b, high)
    middle, tail = _two_sum(c, low)
    top, rest = _two_sum(high, middle)
    found = top + _odd_sum(rest, tail)
    safe = numpy.ones(found.shape, bool)
    for item in (a, b, c):
        size = numpy.abs(item)
        safe &= (size < 2.0**480) & ((size > 2.0**-480) | (size == 0))
    safe &= (high != 0) & (c != 0) & (numpy.abs(found) > 2.0**-900)
    for lane in numpy.flatnonzero(~safe):
        found[lane] = _exact64(
            *(float(numpy.broadcast_to(x, found.shape)[lane]) for x in (a, b, c))
        )
    return found


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    t = total - a
    return total, (a - (total - t)) + (b - t)


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def _product_error(a: Array, b: Array, product: Array) -> Array:
    """What `product` lacks of a * b (Dekker)."""
    ah, al = _halves(a)
    bh, bl = _halves(b)
    return al * bl - (((product - ah * bh) - al * bh) - ah * bl)


def _odd_sum(a: Array, b: Array) -> Array:
    total, error = _two_sum(a, b)
    bits = total.view(numpy.int64)
    fix = (error != 0) & ((bits & 1) == 0)
    away = (error > 0) == (total > 0)
    return numpy.where(fix, numpy.where(away, bits + 1, bits - 1), bits).view(numpy.float64)


def _exact64(a: float, b: float, c: float) -> float:
    finite = all(numpy.isfinite(item) for item in (a, b, c))
    if not finite:
        product = numpy.float64(a) * numpy.float64(b)
        # The product of finite numbers is finite here, however large: it cannot cancel an infinite `c`.
        return float(c) if numpy.isfinite(a) and numpy.isfinite(b) else float(product + c)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # An exact zero has the sign of both terms, or is +0 where they differ; a tiny product keeps its sign.
        return (
            float(numpy.float64(a) * numpy.float64(b) + numpy.float64(c))
            if a == 0 or b == 0
            else 0.0
        )
    return _nearest(exact)


def _nearest(exact: Fraction) -> float:
    try:
        return float(exact)  # division of integers rounds once, to even, through the subnormals
    except OverflowError:
        return float("inf") if exact > 0 else float("-inf")
