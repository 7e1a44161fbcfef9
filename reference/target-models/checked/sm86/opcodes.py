"""The meaning of every form over arrays of lanes: WarpModel's vector half.

A meaning is an expression of Python in which {a}, {b}, {c} and {d} stand for the sources. `generate` joins the meanings
of a basic block to one function. Those in `ROUNDED` may give a NaN that is not the card's: it is made so before
anything but arithmetic sees it.
"""

from __future__ import annotations

from typing import Any

import numpy

from checked.sm86 import arithmetic
from checked.sm86.fma import fma32, fma64

NAMES: dict[str, Any] = {
    "i4": numpy.int32,
    "i8": numpy.int64,
    "u2": numpy.uint16,
    "u4": numpy.uint32,
    "u8": numpy.uint64,
    "f2": numpy.float16,
    "f4": numpy.float32,
    "f8": numpy.float64,
    "where": numpy.where,
    "least": numpy.minimum,
    "most": numpy.maximum,
    "sqrt": numpy.sqrt,
    "rint": numpy.rint,
    "floor": numpy.floor,
    "magnitude": numpy.abs,
    "fma32": fma32,
    "fma64": fma64,
    **{
        name: value
        for name, value in vars(arithmetic).items()
        if callable(value) and name.islower()
    },
}
NAMES["int_magnitude"] = arithmetic.magnitude
NAMES["magnitude"] = numpy.abs
"""What the expressions may name."""

_COMPARE = {"eq": "==", "ne": "!=", "neu": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _signed(text: str, bits: int) -> str:
    return f"{text}.view(i{bits // 8})"


def _meanings() -> dict[str, str]:
    rows = {
        "mov.pred": "{a}.copy()", "mov.b16": "{a}.copy()", "mov.u32": "{a}.copy()", "mov.u64": "{a}.copy()",
        "mov.f32": "{a}.copy()", "mov.f64": "{a}.copy()",
        "add.s32": "{a} + {b}", "sub.s32": "{a} - {b}", "mul.lo.s32": "{a} * {b}", "mad.lo.s32": "{a} * {b} + {c}",
        "add.s64": "{a} + {b}", "sub.s64": "{a} - {b}", "mul.lo.s64": "{a} * {b}", "neg.s64": "-{a}",
        "mul.hi.u32": "mul_high({a}, {b})", "mul.wide.u32": "{a}.astype(u8) * {b}.astype(u8)",
        "mad.wide.u32": "{a}.astype(u8) * {b}.astype(u8) + {c}",
        "div.u32": "{a} // {b}", "rem.u32": "{a} % {b}",
        "div.s32": "quotient({a}, {b})", "rem.s32": "remainder({a}, {b})",
        "min.u32": "least({a}, {b})", "max.u32": "most({a}, {b})",
        "min.s32": "least({a}.view(i4), {b}.view(i4)).view(u4)", "max.s32": "most({a}.view(i4), {b}.view(i4)).view(u4)",
        "neg.s32": "-{a}", "abs.s32": "int_magnitude({a})", "not.b32": "~{a}", "not.b64": "~{a}", "not.pred": "~{a}",
        "cvt.rn.f16.f32": "to_half({a})", "cvt.f32.f16": "{a}.view(f2).astype(f4)",
        "cvt.f64.f32": "{a}.astype(f8)", "cvt.rn.f32.f64": "{a}.astype(f4)",
        "cvt.u32.u16": "{a}.astype(u4)", "cvt.u16.u32": "{a}.astype(u2)", "cvt.u64.u32": "{a}.astype(u8)",
        "cvt.s64.s32": "{a}.view(i4).astype(i8).view(u8)", "cvt.u32.u64": "{a}.astype(u4)",
    }  # fmt: skip
    for name, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
        rows |= {f"{name}.{kind}": f"{{a}} {sign} {{b}}" for kind in ("pred", "b32", "b64")}
    for bits in (32, 64):
        rows[f"shl.b{bits}"] = "shift_left({a}, {b})"
        rows[f"shr.u{bits}"] = "shift_right({a}, {b})"
        rows[f"shr.s{bits}"] = f"shift_right({_signed('{a}', bits)}, {{b}}).view(u{bits // 8})"
        for kind in ("u", "s"):
            view = f".view(i{bits // 8})" if kind == "s" else ""
            for name in ("eq", "ne", "lt", "le", "gt", "ge"):
                rows[f"setp.{name}.{kind}{bits}"] = f"{{a}}{view} {_COMPARE[name]} {{b}}{view}"
            for float_, type_ in (("f32", "f4"), ("f64", "f8")):
                rows[f"cvt.rn.{float_}.{kind}{bits}"] = f"{{a}}{view}.astype({type_})"
                rows[f"cvt.rzi.{kind}{bits}.{float_}"] = f"to_integer({{a}}, '{kind}{bits}')"
        rows |= _rounding(f"f{bits}")
    for kind in ("b16", "b32", "f32", "b64", "f64"):
        rows[f"selp.{kind}"] = "where({c}, {a}, {b})"
    return rows


def _rounding(kind: str) -> dict[str, str]:
    rows = {
        f"{name}.rn.{kind}": f"{{a}} {sign} {{b}}"
        for name, sign in zip(("add", "sub", "mul", "div"), "+-*/", strict=True)
    }
    rows |= {f"min.NaN.{kind}": "minimum({a}, {b})", f"max.NaN.{kind}": "maximum({a}, {b})"}
    rows |= {f"sqrt.rn.{kind}": "sqrt({a})", f"neg.{kind}": "-{a}", f"abs.{kind}": "magnitude({a})"}
    rows |= {f"cvt.rni.{kind}.{kind}": "rint({a})", f"cvt.rmi.{kind}.{kind}": "floor({a})"}
    rows |= {
        f"setp.{name}.{kind}": f"{{a}} {_COMPARE[name]} {{b}}"
        for name in ("eq", "neu", "lt", "le", "gt", "ge")
    }
    rows[f"setp.nan.{kind}"] = "({a} != {a}) | ({b} != {b})"
    return rows | {"fma.rn.f64": "fma64({a}, {b}, {c})"}


MEANINGS = _meanings()
"""The expression of each form whose operands are values, but of `fma.rn.f32` and of moves of bits."""

ROUNDED = frozenset(
    {
        f"{name}.rn.{kind}"
        for name in ("add", "sub", "mul", "div", "sqrt")
        for kind in ("f32", "f64")
    }
    | {f"{name}.{kind}" for name in ("min.NaN", "max.NaN", "neg", "abs") for kind in ("f32", "f64")}
    | {f"cvt.{name}.{kind}.{kind}" for name in ("rni", "rmi") for kind in ("f32", "f64")}
    | {"fma.rn.f64", "cvt.f32.f16", "cvt.f64.f32", "cvt.rn.f32.f64"}
)
"""Forms whose results are not yet canonical in their NaN."""
