"""Floating point on known numbers, rounded as IEEE 754 says: where Python raises an exception, its answer stands.

Every function takes and gives Python floats, which are those of f64. An operation on f32 is done in f64 and rounded: a
second rounding changes nothing where the wider significand has more than twice the bits, for sums, products, quotients
and square roots (Figueroa, "When is double rounding innocuous?", 1995). `fused` and roundings to narrower dtypes go
through exact fractions.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from alpha.base.dtype import Dtype

_PRECISION = {
    Dtype.F64: (53, -1074),
    Dtype.F32: (24, -149),
    Dtype.BF16: (8, -133),
    Dtype.F16: (11, -24),
}
"""Bits of the significand, and the exponent of the smallest subnormal."""
_LARGEST_EXPONENT = {Dtype.F64: 1024, Dtype.F32: 128, Dtype.BF16: 128, Dtype.F16: 16}
_F32 = struct.Struct("<f")


def nearest(value: int | float | Fraction, dtype: Dtype) -> float:
    """The float of `dtype` nearest to `value`, ties to even; infinity where that overflows."""
    if isinstance(value, float):
        if dtype is Dtype.F64 or not math.isfinite(value) or value == 0:
            return value
        if dtype is Dtype.F32:
            return f32(value)
    fraction = Fraction(value)
    if fraction == 0:
        return 0.0
    precision, smallest = _PRECISION[dtype]
    magnitude, sign = abs(fraction), -1.0 if fraction < 0 else 1.0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - precision + 1, smallest)
    units = round(magnitude / Fraction(2) ** unit)
    if units.bit_length() + unit > _LARGEST_EXPONENT[dtype]:
        return math.copysign(math.inf, sign)
    return math.copysign(math.ldexp(units, unit), sign)


def fused(a: float, b: float, c: float, dtype: Dtype) -> float:
    """a * b + c with one rounding; the operands are exactly of `dtype` (f32 or f64)."""
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # Zeros keep IEEE's signs; a product that cancels its addend gives +0.
        return a * b + c if a == 0 or b == 0 else 0.0
    return nearest(exact, dtype)


def f32(value: float) -> float:
    """The nearest f32 (of a float already rounded to f64)."""
    try:
        found: float = _F32.unpack(_F32.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return found


def rounded(value: float, dtype: Dtype) -> float:
    """The result of an operation on f64 or f32, done in f64."""
    return value if dtype is Dtype.F64 else f32(value)


def quotient(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))


def root(x: float) -> float:
    return math.nan if x < 0 else math.sqrt(x)


def floor(x: float) -> float:
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


def round_even(x: float) -> float:
    """To nearest, ties to even; a zero has the sign of `x`."""
    return math.copysign(round(x), x) if math.isfinite(x) else x
