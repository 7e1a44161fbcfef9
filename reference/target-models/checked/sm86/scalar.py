"""The meaning of every form for one thread, in plain integers: WarpModel's reference half.

It shares nothing with `opcodes`: operands and results are bit patterns, and floating point is `softfloat`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from checked.sm86 import softfloat
from checked.sm86.softfloat import DOUBLE, HALF, SINGLE, Format

Meaning = Callable[..., int]
FORMATS = {"f16": HALF, "f32": SINGLE, "f64": DOUBLE}
_RELATIONS: dict[str, Callable[[int], bool]] = {
    "eq": lambda order: order == 0,
    "ne": lambda order: order != 0,
    "lt": lambda order: order < 0,
    "le": lambda order: order <= 0,
    "gt": lambda order: order > 0,
    "ge": lambda order: order >= 0,
}


def signed(x: int, bits: int) -> int:
    return x - (1 << bits) if x >> (bits - 1) else x


def unsigned(x: int, bits: int) -> int:
    return x & ((1 << bits) - 1)


def shift_left(x: int, by: int, bits: int) -> int:
    return unsigned(x << by, bits) if by < bits else 0


def shift_right(x: int, by: int, bits: int, arithmetic: bool) -> int:
    if arithmetic:
        return unsigned(signed(x, bits) >> min(by, bits - 1), bits)
    return x >> by if by < bits else 0


def quotient(x: int, y: int, bits: int) -> int:
    a, b = signed(x, bits), signed(y, bits)
    size = abs(a) // abs(b)
    return unsigned(-size if (a < 0) != (b < 0) else size, bits)


def remainder(x: int, y: int, bits: int) -> int:
    a, b = signed(x, bits), signed(y, bits)
    size = abs(a) % abs(b)
    return unsigned(-size if a < 0 else size, bits)


def to_integer(x: int, form: Format, bits: int, has_sign: bool) -> int:
    """Towards zero, held to the kind's range. A NaN gives 0, or the top bit alone if 64 bits are on either side."""
    if softfloat.is_nan(x, form):
        return 1 << (bits - 1) if bits == 64 or form is DOUBLE else 0
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if has_sign else (0, (1 << bits) - 1)
    if softfloat.is_infinite(x, form):
        return unsigned(low if softfloat.negative(x, form) else high, bits)
    return unsigned(min(max(int(softfloat.exact(x, form)), low), high), bits)


def from_integer(x: int, form: Format, bits: int, has_sign: bool) -> int:
    return softfloat.nearest(Fraction(signed(x, bits) if has_sign else x), form)


def _integers() -> dict[str, Meaning]:
    rows: dict[str, Meaning] = {
        "mul.hi.u32": lambda x, y: x * y >> 32,
        "mad.lo.s32": lambda x, y, z: unsigned(x * y + z, 32),
        "mul.wide.s32": lambda x, y: unsigned(signed(x, 32) * signed(y, 32), 64),
        "mad.wide.s32": lambda x, y, z: unsigned(signed(x, 32) * signed(y, 32) + z, 64),
        "not.b32": lambda x: unsigned(~x, 32),
        "not.pred": lambda x: 1 - x,
        "cvt.u32.u16": lambda x: x,
        "cvt.u16.u32": lambda x: unsigned(x, 16),
        "cvt.u64.u32": lambda x: x,
        "cvt.s64.s32": lambda x: unsigned(signed(x, 32), 64),
        "cvt.u32.u64": lambda x: unsigned(x, 32),
    }
    for kind in ("pred", "b32", "b64"):
        rows |= {f"and.{kind}": lambda x, y: x & y, f"or.{kind}": lambda x, y: x | y}
        rows[f"xor.{kind}"] = lambda x, y: x ^ y
    for kind in ("pred", "b16", "b32", "b64", "u32", "u64", "f32", "f64"):
        rows[f"mov.{kind}"] = lambda x: x
    for kind in ("b16", "b32", "f32", "b64", "f64"):
        rows[f"selp.{kind}"] = lambda x, y, p: x if p else y
    for bits in (32, 64):
        rows |= _of_width(bits)
    return rows


def _of_width(bits: int) -> dict[str, Meaning]:
    rows: dict[str, Meaning] = {
        f"add.s{bits}": lambda x, y: unsigned(x + y, bits),
        f"sub.s{bits}": lambda x, y: unsigned(x - y, bits),
        f"mul.lo.s{bits}": lambda x, y: unsigned(x * y, bits),
        f"div.u{bits}": lambda x, y: x // y,
        f"rem.u{bits}": lambda x, y: x % y,
        f"div.s{bits}": lambda x, y: quotient(x, y, bits),
        f"rem.s{bits}": lambda x, y: remainder(x, y, bits),
        f"min.u{bits}": min,
        f"max.u{bits}": max,
        f"min.s{bits}": lambda x, y: min(x, y, key=lambda v: signed(v, bits)),
        f"max.s{bits}": lambda x, y: max(x, y, key=lambda v: signed(v, bits)),
        f"shl.b{bits}": lambda x, by: shift_left(x, by, bits),
        f"shr.u{bits}": lambda x, by: shift_right(x, by, bits, False),
        f"shr.s{bits}": lambda x, by: shift_right(x, by, bits, True),
    }
    for name, holds in _RELATIONS.items():
        rows[f"setp.{name}.u{bits}"] = lambda x, y, holds=holds: int(holds(x - y))
        rows[f"setp.{name}.s{bits}"] = lambda x, y, holds=holds: int(
            holds(signed(x, bits) - signed(y, bits))
        )
    return rows


def _floats(kind: str, form: Format) -> dict[str, Meaning]:
    rows: dict[str, Meaning] = {
        f"add.rn.{kind}": lambda x, y: softfloat.add(x, y, form),
        f"sub.rn.{kind}": lambda x, y: softfloat.subtract(x, y, form),
        f"mul.rn.{kind}": lambda x, y: softfloat.multiply(x, y, form),
        f"div.rn.{kind}": lambda x, y: softfloat.divide(x, y, form),
        f"fma.rn.{kind}": lambda x, y, z: softfloat.fma(x, y, z, form),
        f"sqrt.rn.{kind}": lambda x: softfloat.root(x, form),
        f"neg.{kind}": lambda x: form.nan if softfloat.is_nan(x, form) else x ^ form.sign,
        f"abs.{kind}": lambda x: form.nan if softfloat.is_nan(x, form) else x & ~form.sign,
        f"cvt.rni.{kind}.{kind}": lambda x: softfloat.integral(x, form, False),
        f"cvt.rmi.{kind}.{kind}": lambda x: softfloat.integral(x, form, True),
        f"setp.nan.{kind}": lambda x, y: int(softfloat.compare(x, y, form) is None),
        f"setp.neu.{kind}": lambda x, y: int(softfloat.compare(x, y, form) != 0),
    }
    for name in ("eq", "lt", "le", "gt", "ge"):
        holds = _RELATIONS[name]
        rows[f"setp.{name}.{kind}"] = lambda x, y, holds=holds: int(
            (order := softfloat.compare(x, y, form)) is not None and holds(order)
        )
    suffix = ".NaN" if kind == "f32" else ""
    for name in ("min", "max"):
        rows[f"{name}{suffix}.{kind}"] = lambda x, y, name=name: softfloat.extreme(
            x, y, form, name == "min", bool(suffix)
        )
    for bits in (32, 64):
        for letter in ("s", "u"):
            rows[f"cvt.rn.{kind}.{letter}{bits}"] = lambda x, b=bits, s=letter == "s": from_integer(
                x, form, b, s
            )
            rows[f"cvt.rzi.{letter}{bits}.{kind}"] = lambda x, b=bits, s=letter == "s": to_integer(
                x, form, b, s
            )
    return rows


def _conversions() -> dict[str, Meaning]:
    rows: dict[str, Meaning] = {}
    for name in (
        "cvt.f64.f32",
        "cvt.rn.f32.f64",
        "cvt.f32.f16",
        "cvt.f64.f16",
        "cvt.rn.f16.f32",
        "cvt.rn.f16.f64",
    ):
        target, source = (FORMATS[word] for word in name.split(".")[-2:])
        rows[name] = lambda x, a=source, b=target: softfloat.convert(x, a, b)
    return rows


MEANINGS: dict[str, Meaning] = (
    _integers() | _floats("f32", SINGLE) | _floats("f64", DOUBLE) | _conversions()
)
"""For each form whose operands are values, its result's bits from its sources' bits. Dividing by zero raises."""


def shuffle(values: list[int], mask: int) -> list[int]:
    """What each of the 32 threads of a warp gets from the butterfly."""
    return [values[thread ^ (mask & 31)] for thread in range(32)]
