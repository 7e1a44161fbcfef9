"""The numerics law on whole arrays: exact fma, elementary functions, sums, contractions (specification, section 12).

All functions work on numpy arrays elementwise. f32 is float32 and f64 is float64; bf16 and f16 values are held exactly
in float32 arrays and rounded by `narrow`. The constants of the elementary functions are read from the compiler's data
file `elementary.toml`, so the two agree on the numbers and on nothing else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy

Array = Any
"""A numpy array or numpy scalar. Its dtype follows the graph's, which numpy's own types cannot say."""

F32 = numpy.float32
TABLE = Path(__file__).parents[2] / "compiler" / "alpha" / "base" / "elementary.toml"


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(TABLE.read_text("utf-8"))


@cache
def _constant(function: str, name: str) -> numpy.float32:
    return _number(_table()[function][name])


@cache
def _polynomial(function: str, name: str = "polynomial") -> tuple[numpy.float32, ...]:
    return tuple(_number(item) for item in _table()[function][name])


def _number(written: str) -> numpy.float32:
    return F32(float.fromhex(written) if "0x" in written else float(written))


def fma(a: Array, b: Array, c: Array) -> Array:
    """a * b + c with one rounding, for float32 or float64 operands."""
    if numpy.result_type(a, b, c) == numpy.float64:
        return _fma64(a, b, c)
    return _fma32(a, b, c)


def _fma32(a: Array, b: Array, c: Array) -> Array:
    """float32 fma through float64 with rounding to odd.

    The product of two f32 is exact in float64. The sum is rounded to nearest there, and its exact error (Knuth's
    TwoSum) says whether it was exact and on which side the true value lies. An inexact sum is moved to the neighbour
    with an odd last bit; rounding that to f32 equals rounding the exact value, because 53 >= 24 + 2 (Boldo and
    Melquiond, 2008). Nothing underflows: an exact sum of f32 products and f32 numbers is a multiple of 2^-298.
    """
    product = numpy.multiply(a, b, dtype=numpy.float64)
    addend = numpy.asarray(c, dtype=numpy.float64)
    total = numpy.asarray(product + addend)
    shadow = total - product
    error = (product - (total - shadow)) + (addend - shadow)
    bits = total.view(numpy.int64)
    inexact = (error != 0) & numpy.isfinite(total) & ((bits & 1) == 0)
    if inexact.any():
        away = (error > 0) == (total > 0)
        bits = bits + numpy.where(inexact, numpy.where(away, 1, -1), 0)
    return numpy.asarray(bits).view(numpy.float64).astype(F32)


def _fma64(a: Array, b: Array, c: Array) -> Array:
    with numpy.errstate(invalid="ignore"):
        return numpy.asarray(numpy.frompyfunc(_fma64_scalar, 3, 1)(a, b, c), dtype=numpy.float64)


def _fma64_scalar(a: float, b: float, c: float) -> float:
    a, b, c = float(a), float(b), float(c)
    if not (numpy.isfinite(a) and numpy.isfinite(b) and numpy.isfinite(c)):
        return a * b + c if not (numpy.isfinite(a) and numpy.isfinite(b)) else c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if a == 0 or b == 0 else 0.0
    try:
        return float(exact)
    except OverflowError:
        return numpy.inf if exact > 0 else -numpy.inf


def narrow(dtype: str, x: Array) -> Array:
    """A float array rounded once to bf16 or f16, held in float32; other dtypes unchanged."""
    if dtype == "f16":
        return numpy.asarray(numpy.asarray(x).astype(numpy.float16).astype(F32))
    if dtype == "bf16":
        single = _odd(x) if numpy.asarray(x).dtype == numpy.float64 else numpy.asarray(x, F32)
        bits = single.view(numpy.uint32).astype(numpy.uint64)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32)
        return numpy.where(numpy.isnan(single), single, rounded.view(F32))
    return x


def _odd(x: Array) -> Array:
    """float64 to float32, an inexact value to the neighbour with an odd last bit."""
    near = numpy.asarray(x).astype(F32)
    inexact = (near != x) & ~numpy.isnan(x)
    bits = near.view(numpy.int32)
    bits = bits - (inexact & (numpy.abs(near) > numpy.abs(x)))
    return numpy.asarray(numpy.where(inexact, bits | 1, bits).astype(numpy.int32)).view(F32)


def horner(coefficients: Sequence[numpy.float32], x: Array) -> Array:
    """P[c0 c1 ... cn](x), with one fma a step."""
    result: Array = numpy.broadcast_to(coefficients[-1], x.shape)
    for coefficient in reversed(coefficients[:-1]):
        result = _fma32(result, x, numpy.broadcast_to(coefficient, x.shape))
    return result


def _bits(x: Array) -> Array:
    return numpy.asarray(x).view(numpy.int32)


def _from_bits(bits: Array) -> Array:
    return numpy.asarray(bits, dtype=numpy.int32).view(F32)


def exp(x: Array) -> Array:
    magic = _constant("shared", "magic")
    v = numpy.where(numpy.isnan(x), F32(0), x)
    v = numpy.minimum(v, _constant("exp", "ceiling"))
    v = numpy.maximum(v, F32(-128))  # far below underflow: only keeps the unused lanes small
    t = _fma32(v, _constant("exp", "log2e"), magic)
    n = t - magic
    k = _bits(t) - _bits(magic)
    r = _fma32(n, -_constant("exp", "ln2_high"), v)
    r = _fma32(n, -_constant("exp", "ln2_low"), r)
    y = horner((F32(1), F32(1), *_polynomial("exp")), r)
    half = k >> 1
    y = y * _from_bits((half + 127) << 23)
    y = y * _from_bits((k - half + 127) << 23)
    y = numpy.where(x < _constant("exp", "underflow"), F32(0), y)
    return numpy.where(numpy.isnan(x), x, y)


def log(x: Array) -> Array:
    subnormal = x < _constant("log", "smallest_normal")
    v = numpy.where(subnormal, x * _constant("log", "scale"), x)
    e = numpy.where(subnormal, -23, 0)
    bits = _bits(v)
    q = (bits - numpy.int32(_table()["log"]["sqrt_half_bits"])) >> 23
    m = _from_bits(bits - (q << 23))
    exponent = (e + q).astype(F32)
    z = m - F32(1)
    w = z * z
    y = (horner(_polynomial("log"), z) * z) * w
    y = _fma32(exponent, _constant("log", "ln2_low"), y)
    y = _fma32(w, F32(-0.5), y)
    y = y + z
    y = _fma32(exponent, _constant("log", "ln2_high"), y)
    y = numpy.where(x == numpy.inf, x, y)
    y = numpy.where(x == 0, F32(-numpy.inf), y)
    return numpy.where(numpy.isnan(x) | (x < 0), F32(numpy.nan), y)


def tanh(x: Array) -> Array:
    magnitude = numpy.abs(x)
    u = x * x
    small = _fma32(x * u, horner(_polynomial("tanh"), u), x)
    large = F32(1) - F32(2) / (exp(magnitude + magnitude) + F32(1))
    y = numpy.where(magnitude < _constant("tanh", "small"), small, numpy.copysign(large, x))
    return numpy.where(numpy.isnan(x), x, y)


def sigmoid(x: Array) -> Array:
    e = exp(-numpy.abs(x))
    return numpy.where(x < 0, e, F32(1)) / (F32(1) + e)


def erf(x: Array) -> Array:
    magnitude = numpy.abs(x)
    inner = _fma32(x, horner(_polynomial("erf", "inner"), x * x), x)
    capped = numpy.where(
        magnitude > _constant("erf", "ceiling"), _constant("erf", "ceiling"), magnitude
    )
    outer = F32(1) - exp(horner(_polynomial("erf", "outer"), capped))
    y = numpy.where(magnitude < _constant("erf", "small"), inner, numpy.copysign(outer, x))
    return numpy.where(numpy.isnan(x), x, y)


def _quarter(x: Array, shift: int) -> Array:
    inside = numpy.abs(x) <= _constant("sincos", "limit")
    v = numpy.where(inside, x, F32(0))
    magic = _constant("shared", "magic")
    t = _fma32(v, _constant("sincos", "two_over_pi"), magic)
    n = t - magic
    k = _bits(t) - _bits(magic) + shift
    r = _fma32(n, -_constant("sincos", "half_pi_high"), v)
    r = _fma32(n, -_constant("sincos", "half_pi_middle"), r)
    r = _fma32(n, -_constant("sincos", "half_pi_low"), r)
    u = r * r
    odd = _fma32(u * u, horner(_polynomial("sincos", "cosine"), u), _fma32(u, F32(-0.5), F32(1)))
    even = _fma32(r * u, horner(_polynomial("sincos", "sine"), u), r)
    y: Array = numpy.where(k & 1, odd, even)
    return numpy.where(inside, numpy.where(k & 2, -y, y), F32(numpy.nan))


def sin(x: Array) -> Array:
    return _quarter(x, 0)


def cos(x: Array) -> Array:
    return _quarter(x, 1)


def rsqrt(x: Array) -> Array:
    return F32(1) / numpy.sqrt(x)


def power(x: Array, exponent: int) -> Array:
    one = x.dtype.type(1)
    if exponent < 0:
        return one / power(x, -exponent)
    result: Array = numpy.full(x.shape, one)
    base = x
    while exponent:
        if exponent & 1:
            result = result * base
        base = base * base
        exponent >>= 1
    return result


def ordered(x: Array, nan: int) -> Array:
    """Integers in the order of `max` and `min`: -0 below +0, a NaN at the end that `nan` (1 or -1) names."""
    if x.dtype.kind != "f":
        return x
    kind = numpy.int32 if x.dtype == F32 else numpy.int64
    bits: Array = numpy.asarray(x).view(kind)
    limits = numpy.iinfo(kind)
    keys = numpy.where(bits >= 0, bits, bits ^ limits.max)
    return numpy.where(numpy.isnan(x), limits.max if nan > 0 else limits.min, keys)


def maximum(a: Array, b: Array) -> Array:
    return numpy.where(ordered(a, 1) >= ordered(b, 1), a, b)


def minimum(a: Array, b: Array) -> Array:
    return numpy.where(ordered(a, -1) <= ordered(b, -1), a, b)


def rows(x: Array, axes: Sequence[int]) -> Array:
    """The reduced axes, flattened row-major in the operand's axis order, as the first axis; the others behind it."""
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    moved = numpy.transpose(x, (*axes, *kept))
    count = int(numpy.prod([x.shape[axis] for axis in axes], dtype=numpy.int64))
    return moved.reshape((count, *moved.shape[len(axes) :]))


def lane_sum(x: Array, axes: Sequence[int]) -> Array:
    """Section 12.3: 16 strided lanes, then the fixed tree."""
    flat = rows(x, axes)
    lanes = flat[:16].copy()
    for first in range(16, len(flat), 16):
        chunk = flat[first : first + 16]
        lanes[: len(chunk)] += chunk
    for half in (8, 4, 2, 1):
        upper = lanes[half : 2 * half]
        lanes[: len(upper)] += upper
        lanes = lanes[:half] if len(lanes) > half else lanes
    return numpy.asarray(lanes[0])


def contraction(a: Array, b: Array, left: str, right: str, result: str) -> Array:
    """Section 12.2: for every output one fma chain from +0 over the contracted letters, k ascending."""
    letters = dict.fromkeys(left + right)
    summed = [letter for letter in letters if letter not in result]
    sizes = dict(zip(left + right, a.shape + b.shape, strict=True))
    shape = [sizes[letter] for letter in result]
    first = _arranged(a, left, summed, result)
    second = _arranged(b, right, summed, result)
    total: Array = numpy.zeros(shape, dtype=a.dtype)
    for place in numpy.ndindex(*(sizes[letter] for letter in summed)):
        total = fma(_at(first, place), _at(second, place), total)
    return total.reshape(shape)


def windows(x: Array, window: Sequence[int]) -> Array:
    """The windows `[n, h, w, k, l, i]` of images `[n, H, W, i]`: `x[n, h + k, w + l, i]`."""
    found = numpy.lib.stride_tricks.sliding_window_view(x, tuple(window), axis=(1, 2))
    return numpy.moveaxis(found, 3, 5)


def ten_fraction_bits(x: Array) -> Array:
    """f32 rounded to 10 fraction bits, ties away from zero, as tensor cores do (specification, section 12.6)."""
    bits = numpy.asarray(x, F32).view(numpy.uint32)
    rounded = ((bits.astype(numpy.uint64) + 0x1000) & 0xFFFFE000).astype(numpy.uint32)
    return numpy.where(numpy.isfinite(x), rounded.view(F32), x)


def _arranged(x: Array, letters: str, summed: Sequence[str], result: str) -> Array:
    """Axes in the order (summed, result), with size 1 where the operand lacks a letter."""
    order = [letter for letter in (*summed, *result) if letter in letters]
    moved = numpy.transpose(x, [letters.index(letter) for letter in order])
    sizes = dict(zip(order, moved.shape, strict=True))
    return moved.reshape([sizes.get(letter, 1) for letter in (*summed, *result)])


def _at(x: Array, place: tuple[int, ...]) -> Array:
    """The slice at one place of the summed axes; an axis of size 1 is broadcast."""
    return x[tuple(min(k, size - 1) for k, size in zip(place, x.shape, strict=False))]


ELEMENTARY: dict[str, Callable[[Array], Array]] = {
    "exp": exp,
    "log": log,
    "tanh": tanh,
    "sigmoid": sigmoid,
    "erf": erf,
    "sin": sin,
    "cos": cos,
    "rsqrt": rsqrt,
}
