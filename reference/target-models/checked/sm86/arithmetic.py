"""Meanings that take more than one numpy call, over arrays.

Arrays of a class have one type: p bool, h uint16, r uint32, d uint64, f float32, g float64.
"""

from __future__ import annotations

from typing import Any

import numpy

Array = Any

NAN32 = numpy.uint32(0x7FFFFFFF)
"""What every operation on binary32 gives for a NaN."""
NAN64 = numpy.uint64(0x7FF8000000000000)
"""What every operation of this model on binary64 gives for a NaN; a card may keep a payload."""
NAN16 = numpy.uint16(0x7FFF)


def canonical(x: Array) -> Array:
    """`x` with each NaN replaced by the one that the card makes."""
    nan = x != x
    if not numpy.count_nonzero(nan):
        return x
    x = x.copy()
    if x.dtype == numpy.float32:
        x.view(numpy.uint32)[nan] = NAN32
    else:
        x.view(numpy.uint64)[nan] = NAN64
    return x


def mul_high(a: Array, b: Array) -> Array:
    return ((a.astype(numpy.uint64) * b) >> numpy.uint64(32)).astype(numpy.uint32)


def shift_left(a: Array, by: Array) -> Array:
    """Bits shifted beyond the width are gone, however large the amount."""
    width = a.dtype.itemsize * 8
    shifted = a << numpy.minimum(by, numpy.uint32(width - 1)).astype(a.dtype)
    return numpy.where(by >= width, a.dtype.type(0), shifted)


def shift_right(a: Array, by: Array) -> Array:
    """As the type of `a` is signed or not, its sign or zeros come in."""
    width = a.dtype.itemsize * 8
    shifted = a >> numpy.minimum(by, numpy.uint32(width - 1)).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else numpy.where(by >= width, a.dtype.type(0), shifted)


def mul_wide(a: Array, b: Array) -> Array:
    """The whole product of signed numbers of 32 bits."""
    x, y = (item.view(numpy.int32).astype(numpy.int64) for item in (a, b))
    return (x * y).view(numpy.uint64)


def quotient(a: Array, b: Array) -> Array:
    """Signed, towards zero. The least number divided by -1 is itself."""
    size = _size(a) // _size(b)
    return numpy.where(_negative(a) != _negative(b), -size, size)


def remainder(a: Array, b: Array) -> Array:
    """Signed, with the sign of `a`."""
    size = _size(a) % _size(b)
    return numpy.where(_negative(a), -size, size)


def _negative(a: Array) -> Array:
    return a >> a.dtype.type(8 * a.dtype.itemsize - 1) != 0


def _size(a: Array) -> Array:
    """The absolute value of a signed number, without a sign."""
    return numpy.where(_negative(a), -a, a)


def minimum(a: Array, b: Array) -> Array:
    """NaN if one is NaN; -0 is below +0."""
    found = numpy.minimum(a, b)
    zero = found == 0
    if numpy.count_nonzero(zero):
        both = zero & (a == b)
        found = numpy.where(
            both & (numpy.signbit(a) | numpy.signbit(b)), found.dtype.type(-0.0), found
        )
    return found


def maximum(a: Array, b: Array) -> Array:
    """NaN if one is NaN; +0 is above -0."""
    found = numpy.maximum(a, b)
    zero = found == 0
    if numpy.count_nonzero(zero):
        both = zero & (a == b)
        found = numpy.where(
            both & ~(numpy.signbit(a) & numpy.signbit(b)), found.dtype.type(0.0), found
        )
    return found


def minimum_number(a: Array, b: Array) -> Array:
    """As `minimum`, but the other one if one is NaN."""
    return minimum(*_without_nan(a, b))


def maximum_number(a: Array, b: Array) -> Array:
    return maximum(*_without_nan(a, b))


def _without_nan(a: Array, b: Array) -> tuple[Array, Array]:
    return numpy.where(a != a, b, a), numpy.where(b != b, a, b)


_LIMITS: dict[str, tuple[Any, float, float]] = {
    "s32": (numpy.int32, -(2.0**31), 2.0**31),
    "u32": (numpy.uint32, 0.0, 2.0**32),
    "s64": (numpy.int64, -(2.0**63), 2.0**63),
    "u64": (numpy.uint64, 0.0, 2.0**64),
}


def to_integer(x: Array, kind: str) -> Array:
    """Towards zero, to the nearest number of the kind where it has none.

    A NaN gives 0, or the top bit alone where source or target has 64 bits (PTX ISA, `cvt`).
    """
    type_, low, high = _LIMITS[kind]
    limits = numpy.iinfo(type_)
    wide = x.astype(numpy.float64)
    below, above, nan = wide <= low, wide >= high, wide != wide
    unusual = below | above | nan
    found = numpy.where(unusual, 0.0, wide).astype(type_)
    if numpy.count_nonzero(unusual):
        found[below] = limits.min
        found[above] = limits.max
        if limits.bits == 64 or x.dtype == numpy.float64:
            found.view(f"u{limits.bits // 8}")[nan] = 1 << (limits.bits - 1)
    return found.view(f"u{limits.bits // 8}")


def to_half(x: Array) -> Array:
    """The nearest binary16, as bits."""
    found = x.astype(numpy.float16).view(numpy.uint16)
    nan = x != x
    if numpy.count_nonzero(nan):
        found[nan] = NAN16
    return found
