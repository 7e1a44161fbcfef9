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
"""What the expressions may name."""

_COMPARE = {"eq": "==", "ne": "!=", "neu": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _meanings() -> dict[str, str]:
    rows = {
        "mov.pred": "{a}.copy()", "mov.b16": "{a}.copy()", "mov.u32": "{a}.copy()", "mov.u64": "{a}.copy()",
        "mov.f32": "{a}.copy()", "mov.f64": "{a}.copy()",
        "add.s32": "{a} + {b}", "sub.s32": "{a} - {b}", "mul.lo.s32": "{a} * {b}", "mad.lo.s32": "{a} * {b} + {c}",
        "add.s64": "{a} + {b}", "sub.s64": "{a} - {b}", "mul.lo.s64": "{a} * {b}",
        "mul.hi.u32": "mul_high({a}, {b})", "mul.wide.s32": "mul_wide({a}, {b})",
        "mad.wide.s32": "mul_wide({a}, {b}) + {c}",
        "not.b32": "~{a}", "not.pred": "~{a}",
        "cvt.rn.f16.f32": "to_half({a})", "cvt.f32.f16": "{a}.view(f2).astype(f4)",
        "cvt.rn.f16.f64": "to_half({a})", "cvt.f64.f16": "{a}.view(f2).astype(f8)",
        "cvt.f64.f32": "{a}.astype(f8)", "cvt.rn.f32.f64": "{a}.astype(f4)",
        "cvt.u32.u16": "{a}.astype(u4)", "cvt.u16.u32": "{a}.astype(u2)", "cvt.u64.u32": "{a}.astype(u8)",
        "cvt.s64.s32": "{a}.view(i4).astype(i8).view(u8)", "cvt.u32.u64": "{a}.astype(u4)",
    }  # fmt: skip
    for name, sign in (("and", "&"), ("or", "|"), ("xor", "^")):
        rows |= {f"{name}.{kind}": f"{{a}} {sign} {{b}}" for kind in ("pred", "b32", "b64")}
    for bits in (32, 64):
        signed, plain = f".view(i{bits // 8})", f".view(u{bits // 8})"
        for name, numpys in (("min", "least"), ("max", "most")):
            rows[f"{name}.u{bits}"] = f"{numpys}({{a}}, {{b}})"
            rows[f"{name}.s{bits}"] = f"{numpys}({{a}}{signed}, {{b}}{signed}){plain}"
        rows |= {f"div.u{bits}": "{a} // {b}", f"rem.u{bits}": "{a} % {b}"}
        rows |= {f"div.s{bits}": "quotient({a}, {b})", f"rem.s{bits}": "remainder({a}, {b})"}
        rows[f"shl.b{bits}"] = "shift_left({a}, {b})"
        rows[f"shr.u{bits}"] = "shift_right({a}, {b})"
        rows[f"shr.s{bits}"] = f"shift_right({{a}}{signed}, {{b}}){plain}"
        for kind in ("u", "s"):
            view = signed if kind == "s" else ""
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
    rows |= {"min.NaN.f32": "minimum({a}, {b})", "max.NaN.f32": "maximum({a}, {b})"}
    rows |= {"min.f64": "minimum_number({a}, {b})", "max.f64": "maximum_number({a}, {b})"}
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
    | {f"{name}.{kind}" for name in ("neg", "abs") for kind in ("f32", "f64")}
    | {f"cvt.{name}.{kind}.{kind}" for name in ("rni", "rmi") for kind in ("f32", "f64")}
    | {"min.NaN.f32", "max.NaN.f32", "min.f64", "max.f64"}
    | {"fma.rn.f64", "cvt.f32.f16", "cvt.f64.f16", "cvt.f64.f32", "cvt.rn.f32.f64"}
)
"""Forms whose results are not yet canonical in their NaN."""
