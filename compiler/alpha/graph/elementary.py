"""The elementary functions on known f32 numbers, step by step as specification, section 12.4 writes them.

`x` and every intermediate is exactly an f32.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

from alpha.base.dtype import Dtype
from alpha.base.elementary import bits as table_bits
from alpha.base.elementary import constant, polynomial
from alpha.graph.ieee import f32, fused, quotient, root

_F32 = struct.Struct("<f")
_I32 = struct.Struct("<i")


def _horner(coefficients: Sequence[float], x: float) -> float:
    result = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        result = fused(result, x, coefficient, Dtype.F32)
    return result


def _fma(a: float, b: float, c: float) -> float:
    return fused(a, b, c, Dtype.F32)


def _bits(value: float) -> int:
    """The bit pattern, as a signed 32-bit integer."""
    found: int = _I32.unpack(_F32.pack(value))[0]
    return found


def _from_bits(bits: int) -> float:
    found: float = _F32.unpack((bits & 0xFFFFFFFF).to_bytes(4, "little"))[0]
    return found


def _exp(x: float) -> float:
    if math.isnan(x):
        return x
    if x < constant("exp", "underflow"):
        return 0.0
    magic = constant("shared", "magic")
    v = min(x, constant("exp", "ceiling"))
    t = _fma(v, constant("exp", "log2e"), magic)
    n = f32(t - magic)
    k = _bits(t) - _bits(magic)
    r = _fma(n, -constant("exp", "ln2_high"), v)
    r = _fma(n, -constant("exp", "ln2_low"), r)
    y = _horner((1.0, 1.0, *polynomial("exp")), r)
    half = k >> 1
    y = f32(y * _from_bits((half + 127) << 23))
    return f32(y * _from_bits((k - half + 127) << 23))


def _log(x: float) -> float:
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    if math.isinf(x):
        return x
    e = 0
    if x < constant("log", "smallest_normal"):
        x = f32(x * constant("log", "scale"))
        e = -23
    q = (_bits(x) - table_bits("log", "sqrt_half_bits")) >> 23
    m = _from_bits(_bits(x) - (q << 23))
    exponent = float(e + q)
    z = f32(m - 1)
    w = f32(z * z)
    y = f32(f32(_horner(polynomial("log"), z) * z) * w)
    y = _fma(exponent, constant("log", "ln2_low"), y)
    y = _fma(w, -0.5, y)
    y = f32(y + z)
    return _fma(exponent, constant("log", "ln2_high"), y)


def _tanh(x: float) -> float:
    if math.isnan(x):
        return x
    magnitude = abs(x)
    if magnitude < constant("tanh", "small"):
        u = f32(x * x)
        return _fma(f32(x * u), _horner(polynomial("tanh"), u), x)
    y = f32(1 - _divide(2.0, f32(_exp(f32(magnitude + magnitude)) + 1)))
    return math.copysign(y, x)


def _divide(a: float, b: float) -> float:
    return f32(quotient(a, b))


def _sigmoid(x: float) -> float:
    e = _exp(-abs(x))
    return _divide(e if x < 0 else 1.0, f32(1 + e))


def _erf(x: float) -> float:
    if math.isnan(x):
        return x
    magnitude = abs(x)
    if magnitude < constant("erf", "small"):
        return _fma(x, _horner(polynomial("erf", "inner"), f32(x * x)), x)
    y = _exp(_horner(polynomial("erf", "outer"), min(magnitude, constant("erf", "ceiling"))))
    return math.copysign(f32(1 - y), x)


def _sine(x: float, quarter: int) -> float:
    if not abs(x) <= constant("sincos", "limit"):
        return math.nan
    magic = constant("shared", "magic")
    t = _fma(x, constant("sincos", "two_over_pi"), magic)
    n = f32(t - magic)
    k = _bits(t) - _bits(magic) + quarter
    r = _fma(n, -constant("sincos", "half_pi_high"), x)
    r = _fma(n, -constant("sincos", "half_pi_middle"), r)
    r = _fma(n, -constant("sincos", "half_pi_low"), r)
    u = f32(r * r)
    if k & 1:
        y = _fma(f32(u * u), _horner(polynomial("sincos", "cosine"), u), _fma(u, -0.5, 1.0))
    else:
        y = _fma(f32(r * u), _horner(polynomial("sincos", "sine"), u), r)
    return -y if k & 2 else y


def _rsqrt(x: float) -> float:
    return _divide(1.0, f32(root(x)))


ELEMENTARY: dict[str, Callable[[float], float]] = {
    "exp": _exp,
    "log": _log,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "erf": _erf,
    "sin": lambda x: _sine(x, 0),
    "cos": lambda x: _sine(x, 1),
    "rsqrt": _rsqrt,
}
