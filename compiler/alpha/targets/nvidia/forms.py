"""The subset of PTX: every form of instruction that Alpha emits, and no other.

A form maps to what its operands may be, one word each; every letter of a word is one alternative:

    P H R D F G   a register: predicate, 16, 32 and 64 bits, f32, f64
    i             a whole number
    x y           an f32, an f64 by its bits
    S N L B       a special register, the shared array, a label, a parameter
    A             a place in memory
    2X 4X         two or four registers of kind X

Floating-point arithmetic names its rounding; nothing is approximate, nothing flushes subnormals.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from alpha.targets.nvidia.ptx import Kind

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "P": Kind.PRED,
        "H": Kind.B16,
        "R": Kind.B32,
        "D": Kind.B64,
        "F": Kind.F32,
        "G": Kind.F64,
    }
)
"""By the letter of an operand, the registers that it may be."""
Words = tuple[str, ...]


def _forms() -> dict[str, Words]:
    forms: dict[str, Words] = {
        "mov.u32": ("R", "RiSN"),
        "mov.u64": ("D", "Di"),
        "mov.f32": ("F", "Fx"),
        "mov.f64": ("G", "Gy"),
        "mov.b16": ("H", "Hi"),
        "mov.b32": ("RF", "RF"),
        "mov.b64": ("DG", "DG"),
        "mov.pred": ("P", "P"),
        "mad.lo.s32": ("R", "Ri", "Ri", "Ri"),
        "mul.wide.s32": ("D", "Ri", "Ri"),
        "mad.wide.s32": ("D", "Ri", "Ri", "Di"),
        "mul.hi.u32": ("R", "Ri", "Ri"),
        "not.b32": ("R", "Ri"),
        "not.pred": ("P", "P"),
        "neg.f32": ("F", "F"),
        "abs.f32": ("F", "F"),
        "neg.f64": ("G", "G"),
        "abs.f64": ("G", "G"),
        "min.NaN.f32": ("F", "Fx", "Fx"),
        "max.NaN.f32": ("F", "Fx", "Fx"),
        "min.f64": ("G", "Gy", "Gy"),
        "max.f64": ("G", "Gy", "Gy"),
        "selp.b16": ("H", "Hi", "Hi", "P"),
        "selp.b32": ("R", "Ri", "Ri", "P"),
        "selp.b64": ("D", "Di", "Di", "P"),
        "selp.f32": ("F", "Fx", "Fx", "P"),
        "selp.f64": ("G", "Gy", "Gy", "P"),
        "setp.nan.f32": ("P", "Fx", "Fx"),
        "setp.nan.f64": ("P", "Gy", "Gy"),
        "ld.param.u64": ("D", "B"),
        "shfl.sync.bfly.b32": ("RF", "RF", "i", "i", "i"),
        "bar.sync": ("i",),
        "bra": ("L",),
        "ret": (),
    }
    for name in ("add", "sub", "mul.lo", "div", "rem", "min", "max"):
        forms[f"{name}.s32"] = ("R", "Ri", "Ri")
        forms[f"{name}.s64"] = ("D", "Di", "Di")
    for name in ("div", "rem", "min", "max"):
        forms[f"{name}.u32"] = ("R", "Ri", "Ri")
        forms[f"{name}.u64"] = ("D", "Di", "Di")
    for name in ("and", "or", "xor"):
        forms[f"{name}.b32"] = ("R", "Ri", "Ri")
        forms[f"{name}.b64"] = ("D", "Di", "Di")
        forms[f"{name}.pred"] = ("P", "P", "P")
    for name in ("shl.b", "shr.u", "shr.s"):
        forms[f"{name}32"] = ("R", "Ri", "Ri")
        forms[f"{name}64"] = ("D", "Di", "Ri")
    for type_, kind, real in (("f32", "F", "x"), ("f64", "G", "y")):
        for name in ("add", "sub", "mul", "div"):
            forms[f"{name}.rn.{type_}"] = (kind, kind + real, kind + real)
        forms[f"fma.rn.{type_}"] = (kind, kind + real, kind + real, kind + real)
        forms[f"sqrt.rn.{type_}"] = (kind, kind)
        forms[f"cvt.rni.{type_}.{type_}"] = (kind, kind)
        forms[f"cvt.rmi.{type_}.{type_}"] = (kind, kind)
        for name in ("eq", "neu", "lt", "le", "gt", "ge"):
            forms[f"setp.{name}.{type_}"] = ("P", kind + real, kind + real)
        for whole, letter in (("s32", "R"), ("u32", "R"), ("s64", "D"), ("u64", "D")):
            forms[f"cvt.rn.{type_}.{whole}"] = (kind, letter)
            forms[f"cvt.rzi.{whole}.{type_}"] = (letter, kind)
    for whole, letter in (("s32", "R"), ("u32", "R"), ("s64", "D"), ("u64", "D")):
        for name in ("eq", "ne", "lt", "le", "gt", "ge"):
            forms[f"setp.{name}.{whole}"] = ("P", f"{letter}i", f"{letter}i")
    forms |= {
        "cvt.f64.f32": ("G", "F"),
        "cvt.rn.f32.f64": ("F", "G"),
        "cvt.f32.f16": ("F", "H"),
        "cvt.f64.f16": ("G", "H"),
        "cvt.rn.f16.f32": ("H", "F"),
        "cvt.rn.f16.f64": ("H", "G"),
        "cvt.u32.u16": ("R", "H"),
        "cvt.u16.u32": ("H", "R"),
        "cvt.s64.s32": ("D", "R"),
        "cvt.u64.u32": ("D", "R"),
        "cvt.u32.u64": ("R", "D"),
    }
    elements = (("u8", "R"), ("u16", "R"), ("b16", "H"), ("b32", "R"), ("f32", "F"))
    for type_, kind in (*elements, ("b64", "D"), ("f64", "G")):
        for load in ("ld.global", "ld.global.nc", "ld.shared"):
            forms[f"{load}.{type_}"] = (kind, "A")
        for store in ("st.global", "st.shared"):
            forms[f"{store}.{type_}"] = ("A", kind)
        if type_ in ("b32", "f32"):
            for count in (2, 4):
                for load in ("ld.global", "ld.global.nc", "ld.shared"):
                    forms[f"{load}.v{count}.{type_}"] = (f"{count}{kind}", "A")
                for store in ("st.global", "st.shared"):
                    forms[f"{store}.v{count}.{type_}"] = ("A", f"{count}{kind}")
    return forms


FORMS: Mapping[str, Words] = MappingProxyType(_forms())
