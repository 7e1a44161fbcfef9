"""How types, constants and operators of kernels are spelled in LLVM IR.

No operator becomes a call of a library: the intrinsics used here are single instructions, or short sequences that the
code generator has built in, on every host. None carries a fast-math flag.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from types import MappingProxyType

from alpha.kernel.node import LANES, Constant, Scalar, ValueType

SCALARS: Mapping[Scalar, str] = MappingProxyType(
    {
        Scalar.F64: "double",
        Scalar.F32: "float",
        Scalar.BF16: "i16",
        Scalar.F16: "half",
        Scalar.I64: "i64",
        Scalar.U64: "i64",
        Scalar.I32: "i32",
        Scalar.U32: "i32",
        Scalar.U16: "i16",
        Scalar.U8: "i8",
        Scalar.BOOL: "i1",
    }
)
SUFFIXES = {"double": "f64", "float": "f32", "half": "f16"}
FLOATS = frozenset({Scalar.F64, Scalar.F32, Scalar.F16})

BINARY = {"div": "fdiv", "and": "and", "or": "or", "xor": "xor", "shiftLeft": "shl"}
ARITHMETIC = {"add": ("fadd", "add"), "sub": ("fsub", "sub"), "mul": ("fmul", "mul")}
INTRINSICS = {
    "fma": "fma",
    "abs": "fabs",
    "sqrt": "sqrt",
    "floor": "floor",
    "roundEven": "roundeven",
    "maximum": "maximum",
    "minimum": "minimum",
}
"""Operators on floats that are an intrinsic. `roundeven` rounds ties to even whatever the rounding mode is."""
FLOAT_COMPARISONS = {
    "equal": "oeq",
    "notEqual": "une",
    "less": "olt",
    "lessEqual": "ole",
    "greater": "ogt",
    "greaterEqual": "oge",
}
INTEGER_COMPARISONS = {
    "equal": "eq",
    "notEqual": "ne",
    "less": "lt",
    "lessEqual": "le",
    "greater": "gt",
    "greaterEqual": "ge",
}


def spelled(type_: ValueType) -> str:
    """The type of a value in a register."""
    scalar = SCALARS[type_.scalar]
    return scalar if type_.lanes == 1 else f"<{type_.lanes} x {scalar}>"


def stored(type_: ValueType) -> str:
    """The type of a value in memory, where a bool takes a byte."""
    scalar = "i8" if type_.scalar is Scalar.BOOL else SCALARS[type_.scalar]
    return scalar if type_.lanes == 1 else f"<{type_.lanes} x {scalar}>"


def suffix(type_: ValueType) -> str:
    """The type as the name of an intrinsic ends with it."""
    scalar = SCALARS[type_.scalar]
    name = SUFFIXES.get(scalar, scalar)
    return name if type_.lanes == 1 else f"v{type_.lanes}{name}"


def constant(atom: Constant) -> str:
    """A constant without its type."""
    scalar = atom.type.scalar
    if isinstance(atom.value, tuple):
        return "<" + ", ".join(f"{SCALARS[scalar]} {value}" for value in atom.value) + ">"
    one = number(atom.value, scalar)
    return one if atom.type.lanes == 1 else f"splat ({SCALARS[scalar]} {one})"


def number(value: int | float | bool, scalar: Scalar) -> str:
    if scalar is Scalar.BOOL:
        return "true" if value else "false"
    if scalar is Scalar.F16:
        (bits,) = struct.unpack("<H", struct.pack("<e", float(value)))
        return f"0xH{bits:04X}"
    if scalar is Scalar.BF16:
        (bits,) = struct.unpack("<I", struct.pack("<f", float(value)))
        return str(bits >> 16)
    if scalar in FLOATS:
        if math.isnan(value):
            return "0x7FF8000000000000"
        # LLVM writes a float as the bits of the double of the same value.
        (bits,) = struct.unpack("<Q", struct.pack("<d", float(value)))
        return f"0x{bits:016X}"
    return str(int(value))


def compared(operator: str, type_: ValueType) -> str:
    if type_.scalar in FLOATS:
        return f"fcmp {FLOAT_COMPARISONS[operator]}"
    word = INTEGER_COMPARISONS[operator]
    if operator in ("equal", "notEqual"):
        return f"icmp {word}"
    return f"icmp {'s' if type_.scalar.is_signed else 'u'}{word}"


def conversion(source: Scalar, target: Scalar) -> str:
    """The instruction or, with a leading `@`, the intrinsic that converts as `cast` does."""
    if source in FLOATS and target in FLOATS:
        return "fpext" if target.size > source.size else "fptrunc"
    if source in FLOATS:
        return "@fptosi.sat" if target.is_signed else "@fptoui.sat"
    if target in FLOATS:
        return "sitofp" if source.is_signed else "uitofp"
    wider = SCALARS[target] != SCALARS[source] and (
        source is Scalar.BOOL or target.size > source.size
    )
    if wider:
        return "sext" if source.is_signed else "zext"
    return "trunc" if target.size < source.size else "bitcast"


TREE_HALVES = (8, 4, 2, 1)
assert TREE_HALVES[0] * 2 == LANES
