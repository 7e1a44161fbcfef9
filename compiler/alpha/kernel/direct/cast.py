"""Conversions between dtypes (specification, section 10)."""

from __future__ import annotations

from alpha.kernel.builder import KernelBuilder
from alpha.kernel.node import Atom, Constant, Scalar, ValueType

NARROW = frozenset({Scalar.BF16, Scalar.F16})


def cast(builder: KernelBuilder, x: Atom, target: Scalar) -> Atom:
    """`x` as a `target`; every rounding happens once."""
    source = x.type.scalar
    if source is target:
        return x
    if source is Scalar.BF16:
        x, source = _from_bf16(builder, x), Scalar.F32
    elif source is Scalar.F16:
        x, source = builder.convert(x, Scalar.F32), Scalar.F32
    if target in NARROW:
        return _narrow(builder, x, target)
    return builder.convert(x, target)


def _number(value: int | float, like: Atom, scalar: Scalar) -> Constant:
    return Constant(value, ValueType(scalar, like.type.lanes))


def _from_bf16(builder: KernelBuilder, x: Atom) -> Atom:
    wide = builder.convert(builder.bits(x, Scalar.U16), Scalar.U32)
    shifted = builder.apply("shiftLeft", wide, _number(16, x, Scalar.U32))
    return builder.bits(shifted, Scalar.F32)


def _narrow(builder: KernelBuilder, x: Atom, target: Scalar) -> Atom:
    """To bf16 or f16. What f32 does not hold exactly comes as an f32 rounded to odd, which rounds on as it would."""
    match x.type.scalar:
        case Scalar.F32:
            single = x
        case Scalar.F64:
            single = _odd(builder, x)
        case Scalar.I64:
            single = _odd(builder, builder.convert(_sticky(builder, x), Scalar.F64))
        case _:
            single = _odd(builder, builder.convert(x, Scalar.F64))
    if target is Scalar.F16:
        return builder.convert(single, Scalar.F16)
    bits = builder.bits(single, Scalar.U32)

    def word(value: int) -> Constant:
        return _number(value, x, Scalar.U32)

    upper = builder.apply("shiftRight", bits, word(16))
    ties = builder.apply("and", upper, word(1))
    rounded = builder.add(builder.add(bits, word(0x7FFF)), ties)
    rounded = builder.apply("shiftRight", rounded, word(16))
    quiet = builder.apply("or", upper, word(0x40))
    chosen = builder.apply("select", builder.apply("isNan", single), quiet, rounded)
    return builder.bits(builder.convert(chosen, Scalar.U16), Scalar.BF16)


def _odd(builder: KernelBuilder, x: Atom) -> Atom:
    """f64 to f32, an inexact value to the neighbour with an odd last bit (Boldo and Melquiond, 2008)."""
    near = builder.convert(x, Scalar.F32)
    back = builder.convert(near, Scalar.F64)
    # A NaN is not equal to itself: its last bit may be set, and it stays a NaN.
    inexact = builder.apply("notEqual", back, x)
    away = builder.apply("greater", builder.apply("abs", back), builder.apply("abs", x))
    bits = builder.bits(near, Scalar.U32)
    one, zero = _number(1, x, Scalar.U32), _number(0, x, Scalar.U32)
    bits = builder.apply("sub", bits, builder.apply("select", away, one, zero))
    bits = builder.apply("or", bits, builder.apply("select", inexact, one, zero))
    return builder.bits(bits, Scalar.F32)


def _sticky(builder: KernelBuilder, x: Atom) -> Atom:
    """An i64 that f64 holds exactly and that rounds to 8 or 11 bits as `x` does: low bits become one sticky bit."""

    def whole(value: int) -> Constant:
        return _number(value, x, Scalar.I64)

    low = builder.apply("and", x, whole(0xFFF))
    kept = builder.apply("sub", x, low)
    bit = builder.apply("select", builder.apply("notEqual", low, whole(0)), whole(0x800), whole(0))
    shortened = builder.apply("or", kept, bit)
    limit = 1 << 53
    inside = builder.apply(
        "and",
        builder.apply("lessEqual", x, whole(limit)),
        builder.apply("greaterEqual", x, whole(-limit)),
    )
    return builder.apply("select", inside, x, shortened)
