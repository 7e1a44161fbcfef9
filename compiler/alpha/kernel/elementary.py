"""exp, log, tanh, sigmoid, erf, sin, cos and rsqrt on f32, by the formulas of the specification, section 12.4.

They are written once, over any number of lanes. A branch of a formula becomes a `select`: all lanes compute all
branches, whose results are plain numbers (nothing here is undefined for any operand), and each lane takes its own.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from alpha.base.elementary import bits as table_bits
from alpha.base.elementary import constant, polynomial
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.node import Atom, Constant, Scalar, ValueType

SIGN = -(1 << 31)


def magic_bits() -> int:
    bits: int = struct.unpack("<i", struct.pack("<f", constant("shared", "magic")))[0]
    return bits


class F32:
    """f32 arithmetic in Python's operators' place, for values with `lanes` lanes."""

    __slots__ = ("builder", "lanes")

    def __init__(self, builder: KernelBuilder, lanes: int) -> None:
        self.builder = builder
        self.lanes = lanes

    def number(self, value: float) -> Atom:
        return Constant(float(value), ValueType(Scalar.F32, self.lanes))

    def integer(self, value: int) -> Atom:
        return Constant(value, ValueType(Scalar.I32, self.lanes))

    def do(self, operator: str, *operands: Atom | float) -> Atom:
        """An operator on f32 values and numbers."""
        return self.builder.apply(operator, *map(self._atom, operands))

    def whole(self, operator: str, *operands: Atom | int) -> Atom:
        """An operator on i32 values and numbers."""
        atoms = [self.integer(item) if isinstance(item, int) else item for item in operands]
        return self.builder.apply(operator, *atoms)

    def select(self, condition: Atom, chosen: Atom | float, otherwise: Atom | float) -> Atom:
        return self.builder.apply("select", condition, self._atom(chosen), self._atom(otherwise))

    def bits(self, x: Atom) -> Atom:
        return self.builder.bits(x, Scalar.I32)

    def value(self, bits: Atom) -> Atom:
        return self.builder.bits(bits, Scalar.F32)

    def horner(self, coefficients: Sequence[float], x: Atom) -> Atom:
        """P[c0 c1 ... cn](x): one fma a step, the highest coefficient first."""
        result: Atom = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.do("fma", result, x, coefficient)
        return result

    def with_sign_of(self, magnitude: Atom, x: Atom) -> Atom:
        """`magnitude`, which is not negative, with the sign of `x`."""
        sign = self.whole("and", self.bits(x), SIGN)
        return self.value(self.whole("or", self.bits(magnitude), sign))

    def power_of_two(self, exponent: Atom) -> Atom:
        """float((exponent + 127) << 23)."""
        return self.value(self.whole("shiftLeft", self.whole("add", exponent, 127), 23))

    def _atom(self, operand: Atom | float) -> Atom:
        return self.number(operand) if isinstance(operand, float) else operand


def exp(f: F32, x: Atom) -> Atom:
    """Never a subnormal: below the underflow bound it is +0."""
    ceiling = constant("exp", "ceiling")
    v = f.select(f.do("less", x, ceiling), x, ceiling)
    t = f.do("fma", v, constant("exp", "log2e"), constant("shared", "magic"))
    n = f.do("sub", t, constant("shared", "magic"))
    k = f.whole("sub", f.bits(t), magic_bits())
    r = f.do("fma", n, -constant("exp", "ln2_high"), v)
    r = f.do("fma", n, -constant("exp", "ln2_low"), r)
    y = f.horner((1.0, 1.0, *polynomial("exp")), r)
    half = f.whole("shiftRight", k, 1)
    y = f.do("mul", y, f.power_of_two(half))
    y = f.do("mul", y, f.power_of_two(f.whole("sub", k, half)))
    y = f.select(f.do("less", x, constant("exp", "underflow")), 0.0, y)
    return f.select(f.do("isNan", x), x, y)


def log(f: F32, x: Atom) -> Atom:
    tiny = f.do("less", x, constant("log", "smallest_normal"))
    v = f.select(tiny, f.do("mul", x, constant("log", "scale")), x)
    e = f.builder.apply("select", tiny, f.integer(-23), f.integer(0))
    bits = f.bits(v)
    q = f.whole("shiftRight", f.whole("sub", bits, table_bits("log", "sqrt_half_bits")), 23)
    m = f.value(f.whole("sub", bits, f.whole("shiftLeft", q, 23)))
    exponent = f.builder.convert(f.whole("add", e, q), Scalar.F32)
    z = f.do("sub", m, 1.0)
    w = f.do("mul", z, z)
    y = f.do("mul", f.do("mul", f.horner(polynomial("log"), z), z), w)
    y = f.do("fma", exponent, constant("log", "ln2_low"), y)
    y = f.do("fma", w, -0.5, y)
    y = f.do("add", y, z)
    y = f.do("fma", exponent, constant("log", "ln2_high"), y)
    infinity = float("inf")
    y = f.select(f.do("equal", x, infinity), x, y)
    y = f.select(f.do("equal", x, 0.0), -infinity, y)
    # Not (x >= 0) holds for negative numbers and NaN.
    return f.select(f.do("greaterEqual", x, 0.0), y, float("nan"))


def tanh(f: F32, x: Atom) -> Atom:
    magnitude = f.do("abs", x)
    u = f.do("mul", x, x)
    small = f.do("fma", f.do("mul", x, u), f.horner(polynomial("tanh"), u), x)
    e = exp(f, f.do("add", magnitude, magnitude))
    large = f.do("sub", 1.0, f.do("div", 2.0, f.do("add", e, 1.0)))
    near = f.do("less", magnitude, constant("tanh", "small"))
    y = f.select(near, small, f.with_sign_of(large, x))
    return f.select(f.do("isNan", x), x, y)


def sigmoid(f: F32, x: Atom) -> Atom:
    e = exp(f, f.do("neg", f.do("abs", x)))
    return f.do("div", f.select(f.do("less", x, 0.0), e, 1.0), f.do("add", 1.0, e))


def erf(f: F32, x: Atom) -> Atom:
    magnitude = f.do("abs", x)
    inner = f.do("fma", x, f.horner(polynomial("erf", "inner"), f.do("mul", x, x)), x)
    ceiling = constant("erf", "ceiling")
    capped = f.select(f.do("less", magnitude, ceiling), magnitude, ceiling)
    outer = f.do("sub", 1.0, exp(f, f.horner(polynomial("erf", "outer"), capped)))
    near = f.do("less", magnitude, constant("erf", "small"))
    y = f.select(near, inner, f.with_sign_of(outer, x))
    return f.select(f.do("isNan", x), x, y)


def sine(f: F32, x: Atom, quarter: Atom) -> Atom:
    """sin for a `quarter` (i32) of 0, cos for 1."""
    t = f.do("fma", x, constant("sincos", "two_over_pi"), constant("shared", "magic"))
    n = f.do("sub", t, constant("shared", "magic"))
    k = f.whole("add", f.whole("sub", f.bits(t), magic_bits()), quarter)
    r = f.do("fma", n, -constant("sincos", "half_pi_high"), x)
    r = f.do("fma", n, -constant("sincos", "half_pi_middle"), r)
    r = f.do("fma", n, -constant("sincos", "half_pi_low"), r)
    u = f.do("mul", r, r)
    head = f.do("fma", u, -0.5, 1.0)
    odd = f.do("fma", f.do("mul", u, u), f.horner(polynomial("sincos", "cosine"), u), head)
    even = f.do("fma", f.do("mul", r, u), f.horner(polynomial("sincos", "sine"), u), r)
    y = f.select(f.whole("equal", f.whole("and", k, 1), 0), even, odd)
    y = f.select(f.whole("equal", f.whole("and", k, 2), 0), y, f.do("neg", y))
    inside = f.do("lessEqual", f.do("abs", x), constant("sincos", "limit"))
    return f.select(inside, y, float("nan"))


def sin(f: F32, x: Atom) -> Atom:
    return sine(f, x, f.integer(0))


def cos(f: F32, x: Atom) -> Atom:
    return sine(f, x, f.integer(1))


def rsqrt(f: F32, x: Atom) -> Atom:
    return f.do("div", 1.0, f.do("sqrt", x))


FUNCTIONS: Mapping[str, Callable[[F32, Atom], Atom]] = MappingProxyType(
    {
        "exp": exp,
        "log": log,
        "tanh": tanh,
        "sigmoid": sigmoid,
        "erf": erf,
        "sin": sin,
        "cos": cos,
        "rsqrt": rsqrt,
    }
)
