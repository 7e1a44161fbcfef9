"""Types of the subset and their LLVM names."""

from __future__ import annotations

import struct
from enum import Enum

from alpha.base.record import record


class Kind(Enum):
    VOID = "void"
    BOOL = "bool"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float"
    POINTER = "pointer"


@record
class Type:
    """`name` in sources, `llvm` in IR, and the width in bits (0 for `void`)."""

    name: str
    llvm: str
    bits: int
    kind: Kind

    @property
    def is_integer(self) -> bool:
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    def holds(self, value: int) -> bool:
        """Whether an integer type represents `value`."""
        if self.kind is Kind.SIGNED:
            return -(1 << (self.bits - 1)) <= value < 1 << (self.bits - 1)
        return 0 <= value < 1 << self.bits


VOID = Type("void", "void", 0, Kind.VOID)
BOOL = Type("bool", "i1", 1, Kind.BOOL)
POINTER = Type("ptr", "ptr", 64, Kind.POINTER)
I64 = Type("i64", "i64", 64, Kind.SIGNED)

TYPES: dict[str, Type] = {
    kind.name: kind
    for kind in (
        VOID,
        BOOL,
        POINTER,
        I64,
        Type("i8", "i8", 8, Kind.SIGNED),
        Type("i16", "i16", 16, Kind.SIGNED),
        Type("i32", "i32", 32, Kind.SIGNED),
        Type("u8", "i8", 8, Kind.UNSIGNED),
        Type("u16", "i16", 16, Kind.UNSIGNED),
        Type("u32", "i32", 32, Kind.UNSIGNED),
        Type("u64", "i64", 64, Kind.UNSIGNED),
        Type("u128", "i128", 128, Kind.UNSIGNED),
        Type("f32", "float", 32, Kind.FLOAT),
        Type("f64", "double", 64, Kind.FLOAT),
    )
}


@record
class Value:
    """An SSA operand as IR text (`%t3`, `7`, `null`) and its type."""

    text: str
    type: Type

    def __str__(self) -> str:
        return f"{self.type.llvm} {self.text}"


def float_literal(value: float, kind: Type) -> Value:
    """`value` rounded to `kind`; LLVM writes binary32 constants as the equal binary64."""
    if kind.bits == 32:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return Value(f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}", kind)
