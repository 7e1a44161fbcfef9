"""The exact meaning of operations on known scalars, so that folding one changes no bits (language page, section 12).

A float of any dtype is a Python float that is exactly a value of that dtype; an integer dtype is a Python int in its
range; `bool` is a bool. An operation on f32 is done in f64 and rounded: a second rounding changes nothing where the
wider significand has more than twice the bits, for sums, products, quotients and square roots (Figueroa, "When is
double rounding innocuous?", 1995). `fma` and other roundings from wider values go through exact fractions. bf16 and
f16 widen to f32, compute, and round once.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from alpha.base.dtype import Dtype
from alpha.base.elementary import bits as table_bits
from alpha.base.elementary import constant, polynomial
from alpha.graph.node import Attribute

Scalar = int | float | bool

_PRECISION = {
    Dtype.F64: (53, -1074),
    Dtype.F32: (24, -149),
    Dtype.BF16: (8, -133),
    Dtype.F16: (11, -24),
}
"""Bits of the significand, and the exponent of the smallest subnormal."""
_LARGEST_EXPONENT = {Dtype.F64: 1024, Dtype.F32: 128, Dtype.BF16: 128, Dtype.F16: 16}
_F32 = struct.Struct("<f")
_I32 = struct.Struct("<i")


def nearest(value: int | float | Fraction, dtype: Dtype) -> float:
    """The float of `dtype` nearest to `value`, ties to even; infinity where that overflows."""
    if isinstance(value, float):
        if dtype is Dtype.F64 or not math.isfinite(value) or value == 0:
            return value
        if dtype is Dtype.F32:
            return _f32(value)
    fraction = Fraction(value)
    if fraction == 0:
        return 0.0
    precision, smallest = _PRECISION[dtype]
    magnitude, sign = abs(fraction), -1.0 if fraction < 0 else 1.0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - precision + 1, smallest)
    rounded = round(magnitude / Fraction(2) ** unit)
    if rounded.bit_length() + unit > _LARGEST_EXPONENT[dtype]:
        return math.copysign(math.inf, sign)
    return math.copysign(math.ldexp(rounded, unit), sign)


def evaluate(
    operation: str, operands: Sequence[Scalar], attributes: Mapping[str, Attribute], dtype: Dtype
) -> Scalar:
    """The result of an operation on scalars. `dtype` is that of the operands (of the chosen ones for `select`)."""
    if operation == "select":
        return operands[1] if operands[0] else operands[2]
    if operation == "cast":
        return cast(operands[0], dtype, Dtype(attributes["dtype"]))
    if operation in _MOVEMENTS:
        return operands[0]
    if dtype is Dtype.BOOL:
        return _BOOLEAN[operation](*operands)
    if dtype.is_integer:
        return _integer(operation, [int(operand) for operand in operands], attributes, dtype)
    if operation == "powStep":
        return _narrow(_power(float(operands[0]), int(operands[1]), _wide(dtype)), dtype)
    return _float(operation, [float(operand) for operand in operands], attributes, dtype)


def defined(operation: str) -> bool:
    """Whether `evaluate` knows the operation on scalars."""
    return (
        operation in ("select", "cast", "pow", "powStep", "fma", "floorDiv", "rem")
        or operation in _MOVEMENTS
        or operation in _BOOLEAN
        or operation in _COMPARISONS
        or operation in _FLOAT
        or operation in _ELEMENTARY
        or operation in _INTEGER
    )


def cast(value: Scalar, source: Dtype, target: Dtype) -> Scalar:
    """Section 10: `value` of dtype `source` as a `target`."""
    if target.is_float:
        if isinstance(value, float):
            return nearest(value, target)
        return nearest(int(value), target)
    if isinstance(value, float):
        low, high = limits(target)
        if math.isnan(value):
            return 0
        return (
            max(low, min(high, int(value)))
            if math.isfinite(value)
            else (high if value > 0 else low)
        )
    return _wrap(int(value), target)


def limits(dtype: Dtype) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype."""
    bits = 8 * dtype.size
    if dtype in (Dtype.I32, Dtype.I64):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def _wrap(value: int, dtype: Dtype) -> int:
    low, _ = limits(dtype)
    return (value - low) % (1 << (8 * dtype.size)) + low


def _wide(dtype: Dtype) -> Dtype:
    return dtype if dtype is Dtype.F64 else Dtype.F32


def _narrow(value: float, dtype: Dtype) -> float:
    return value if dtype in (Dtype.F64, Dtype.F32) else nearest(value, dtype)


def _float(
    operation: str, operands: list[float], attributes: Mapping[str, Attribute], dtype: Dtype
) -> Scalar:
    comparison = _COMPARISONS.get(operation)
    if comparison is not None:
        return comparison(operands[0], operands[1])
    wide = _wide(dtype)
    if operation == "pow":
        exponent = attributes["exponent"]
        assert isinstance(exponent, int)
        return _narrow(_power(operands[0], exponent, wide), dtype)
    if operation == "fma":
        return _narrow(fused(operands[0], operands[1], operands[2], wide), dtype)
    elementary = _ELEMENTARY.get(operation)
    if elementary is not None:
        return _narrow(elementary(operands[0]), dtype)
    return _narrow(_rounded(_FLOAT[operation](*operands), wide), dtype)


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


def _f32(value: float) -> float:
    try:
        rounded: float = _F32.unpack(_F32.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def _rounded(value: float, dtype: Dtype) -> float:
    return value if dtype is Dtype.F64 else _f32(value)


def _power(x: float, exponent: int, dtype: Dtype) -> float:
    if exponent < 0:
        return _rounded(_quotient(1.0, _power(x, -exponent, dtype)), dtype)
    result, base = 1.0, x
    while exponent:
        if exponent & 1:
            result = _rounded(result * base, dtype)
        base = _rounded(base * base, dtype)
        exponent >>= 1
    return result


def _integer(
    operation: str, operands: list[int], attributes: Mapping[str, Attribute], dtype: Dtype
) -> Scalar:
    comparison = _COMPARISONS.get(operation)
    if comparison is not None:
        return comparison(operands[0], operands[1])
    if operation in ("floorDiv", "rem"):
        by = attributes["by"]
        assert isinstance(by, int)
        return _wrap(operands[0] // by if operation == "floorDiv" else operands[0] % by, dtype)
    return _wrap(_INTEGER[operation](*operands), dtype)


# One operation on floats. IEEE's answers stand in where Python raises an exception.


def _quotient(a: float, b: float) -> float:
    if b:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))


def _root(x: float) -> float:
    return math.nan if x < 0 else math.sqrt(x)


def _floor(x: float) -> float:
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x


def _round(x: float) -> float:
    """To nearest, ties to even; a zero has the sign of `x`."""
    return math.copysign(round(x), x) if math.isfinite(x) else x


def _maximum(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b if math.copysign(1, a) < 0 else a
    return max(a, b)


def _minimum(a: float, b: float) -> float:
    return -_maximum(-a, -b)


def _sign(x: float) -> float:
    return 1.0 if x > 0 else (-1.0 if x < 0 else x)


# Elementary functions on f32, step by step as section 12.4 writes them. `x` and every intermediate is exactly an f32.


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
    n = _f32(t - magic)
    k = _bits(t) - _bits(magic)
    r = _fma(n, -constant("exp", "ln2_high"), v)
    r = _fma(n, -constant("exp", "ln2_low"), r)
    y = _horner((1.0, 1.0, *polynomial("exp")), r)
    half = k >> 1
    y = _f32(y * _from_bits((half + 127) << 23))
    return _f32(y * _from_bits((k - half + 127) << 23))


def _log(x: float) -> float:
    if math.isnan(x) or x < 0:
        return math.nan
    if x == 0:
        return -math.inf
    if math.isinf(x):
        return x
    e = 0
    if x < constant("log", "smallest_normal"):
        x = _f32(x * constant("log", "scale"))
        e = -23
    q = (_bits(x) - table_bits("log", "sqrt_half_bits")) >> 23
    m = _from_bits(_bits(x) - (q << 23))
    exponent = float(e + q)
    z = _f32(m - 1)
    w = _f32(z * z)
    y = _f32(_f32(_horner(polynomial("log"), z) * z) * w)
    y = _fma(exponent, constant("log", "ln2_low"), y)
    y = _fma(w, -0.5, y)
    y = _f32(y + z)
    return _fma(exponent, constant("log", "ln2_high"), y)


def _tanh(x: float) -> float:
    if math.isnan(x):
        return x
    magnitude = abs(x)
    if magnitude < constant("tanh", "small"):
        u = _f32(x * x)
        return _fma(_f32(x * u), _horner(polynomial("tanh"), u), x)
    y = _f32(1 - _divide(2.0, _f32(_exp(_f32(magnitude + magnitude)) + 1)))
    return math.copysign(y, x)


def _divide(a: float, b: float) -> float:
    return _f32(_quotient(a, b))


def _sigmoid(x: float) -> float:
    e = _exp(-abs(x))
    return _divide(e if x < 0 else 1.0, _f32(1 + e))


def _erf(x: float) -> float:
    if math.isnan(x):
        return x
    magnitude = abs(x)
    if magnitude < constant("erf", "small"):
        return _fma(x, _horner(polynomial("erf", "inner"), _f32(x * x)), x)
    y = _exp(_horner(polynomial("erf", "outer"), min(magnitude, constant("erf", "ceiling"))))
    return math.copysign(_f32(1 - y), x)


def _sine(x: float, quarter: int) -> float:
    if not abs(x) <= constant("sincos", "limit"):
        return math.nan
    magic = constant("shared", "magic")
    t = _fma(x, constant("sincos", "two_over_pi"), magic)
    n = _f32(t - magic)
    k = _bits(t) - _bits(magic) + quarter
    r = _fma(n, -constant("sincos", "half_pi_high"), x)
    r = _fma(n, -constant("sincos", "half_pi_middle"), r)
    r = _fma(n, -constant("sincos", "half_pi_low"), r)
    u = _f32(r * r)
    if k & 1:
        y = _fma(_f32(u * u), _horner(polynomial("sincos", "cosine"), u), _fma(u, -0.5, 1.0))
    else:
        y = _fma(_f32(r * u), _horner(polynomial("sincos", "sine"), u), r)
    return -y if k & 2 else y


def _rsqrt(x: float) -> float:
    return _divide(1.0, _f32(_root(x)))


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "lessEqual": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greaterEqual": lambda a, b: a >= b,
}
_BOOLEAN: dict[str, Callable[..., bool]] = {
    **_COMPARISONS,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
}
_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "maximum": max,
    "minimum": min,
}
_FLOAT: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _quotient,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": _root,
    "relu": lambda x: 0.0 if x <= 0 else x,
    "sign": _sign,
    "floor": _floor,
    "round": _round,
    "maximum": _maximum,
    "minimum": _minimum,
}
_ELEMENTARY: dict[str, Callable[[float], float]] = {
    "exp": _exp,
    "log": _log,
    "tanh": _tanh,
    "sigmoid": _sigmoid,
    "erf": _erf,
    "sin": lambda x: _sine(x, 0),
    "cos": lambda x: _sine(x, 1),
    "rsqrt": _rsqrt,
}
_MOVEMENTS = frozenset(
    {"broadcast", "reshape", "transpose", "stopGradient", "sum", "mean", "max", "min"}
)
"""The identity on a scalar."""
