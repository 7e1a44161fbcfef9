"""Elementwise operations on arrays (specification, sections 10 and 11)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from semantics import numerics
from semantics.numerics import Array, narrow

STORAGE: dict[str, Any] = {
    "f64": numpy.float64,
    "f32": numpy.float32,
    "bf16": numpy.float32,
    "f16": numpy.float32,
    "i64": numpy.int64,
    "i32": numpy.int32,
    "u32": numpy.uint32,
    "u8": numpy.uint8,
    "bool": numpy.bool_,
}
"""How values of a dtype are held; bf16 and f16 are exact in float32."""


def relu(x: Array) -> Array:
    return numpy.where(x <= 0, x.dtype.type(0), x)


def sign(x: Array) -> Array:
    one = x.dtype.type(1)
    return numpy.where(x > 0, one, numpy.where(x < 0, -one, x))


def negate(x: Array) -> Array:
    if x.dtype.kind == "f":
        return numpy.negative(x)
    return x.dtype.type(0) - x


def power_of_step(x: Array, exponent: Array) -> Array:
    return numerics.power(x, int(exponent))


def floor_divide(x: Array, by: int) -> Array:
    return numpy.asarray(_quotient(x, by), dtype=x.dtype)


def remainder(x: Array, by: int) -> Array:
    return numpy.asarray(x - _quotient(x, by) * x.dtype.type(by), dtype=x.dtype)


def _quotient(x: Array, by: int) -> Array:
    if by == -1:
        return negate(x)
    return numpy.floor_divide(x, x.dtype.type(by))


def cast(x: Array, source: str, target: str) -> Array:
    """Section 10."""
    floats = ("f64", "f32", "bf16", "f16")
    if target in floats:
        if x.dtype.kind != "f" and target in ("bf16", "f16"):
            x = _exact_or_odd(x)
        return narrow(target, x if target in ("bf16", "f16") else x.astype(STORAGE[target]))
    kind = STORAGE[target]
    if x.dtype.kind != "f":
        return x.astype(kind)
    limits = numpy.iinfo(kind)
    wide = numpy.trunc(x.astype(numpy.float64))
    below, above = wide <= float(limits.min), wide >= float(limits.max)
    inside = numpy.where(below | above | numpy.isnan(wide), 0.0, wide).astype(numpy.int64)
    found = numpy.where(below, limits.min, numpy.where(above, limits.max, inside.astype(kind)))
    return numpy.where(numpy.isnan(wide), 0, found).astype(kind)


def _exact_or_odd(x: Array) -> Array:
    """Integers in float64; above 2^52 the last bits become one sticky bit, which no narrow rounding mistakes."""
    values = x.astype(numpy.int64)
    low = values & 0xFFF
    sticky = (values - low) | numpy.where(low != 0, 0x1000, 0)
    large = numpy.abs(values) >= (1 << 52)
    large |= values == numpy.iinfo(numpy.int64).min
    return numpy.where(large, sticky, values).astype(numpy.float64)


COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    "equal": numpy.equal,
    "notEqual": numpy.not_equal,
    "less": numpy.less,
    "lessEqual": numpy.less_equal,
    "greater": numpy.greater,
    "greaterEqual": numpy.greater_equal,
    "and": numpy.logical_and,
    "or": numpy.logical_or,
    "not": numpy.logical_not,
}

ARITHMETIC: dict[str, Callable[..., Array]] = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "div": numpy.divide,
    "neg": negate,
    "abs": numpy.abs,
    "fma": numerics.fma,
    "powStep": power_of_step,
    "sqrt": numpy.sqrt,
    "relu": relu,
    "sign": sign,
    "floor": numpy.floor,
    "round": numpy.rint,
    "maximum": numerics.maximum,
    "minimum": numerics.minimum,
    **numerics.ELEMENTARY,
}
