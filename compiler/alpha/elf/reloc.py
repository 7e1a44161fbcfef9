"""Relocation arithmetic: one row a type, one pure function.

A row says which address is meant (the symbol's, or that of its slot in the global offset table), by which formula the
field's number follows from it, and where in the bytes the number goes. `apply` needs nothing else, so the linker can
be checked against any other linker by feeding it that linker's addresses.

Sources: System V ABI AMD64 supplement, table 4.9; ELF for the Arm 64-bit Architecture (AAELF64), tables 4-6 to 4-13.
Only the types that LLVM emits for position-independent code of the small model are here; every other one is refused.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from alpha.base.record import record
from alpha.elf.errors import Fault, LinkError
from alpha.elf.form import EM_AARCH64, EM_X86_64


class Formula(Enum):
    """What the field holds. S is the address meant, A the addend, P the place; S + A arrives as one value."""

    NONE = "nothing"
    ABSOLUTE = "S + A"
    RELATIVE = "S + A - P"
    PAGES = "Page(S + A) - Page(P)"  # pages of 4 KiB, whatever the page size of the system
    LOW_12 = "(S + A) & 0xfff"


@record
class Field:
    """Where the number goes: little-endian data, or the immediate of one AArch64 instruction."""

    name: str
    bits: int = 0
    lowest: int = 0


DATA: Final = Field("data")
IMM12: Final = Field("bits 21:10", 12, 10)
IMM14: Final = Field("bits 18:5", 14, 5)
IMM19: Final = Field("bits 23:5", 19, 5)
IMM26: Final = Field("bits 25:0", 26, 0)
# The two low bits of the number are the upper two of these.
ADR: Final = Field("bits 23:5 and 30:29", 21)

# Reached as module names: looking a member up on its class costs more than the arithmetic.
NONE: Final = Formula.NONE
ABSOLUTE: Final = Formula.ABSOLUTE
RELATIVE: Final = Formula.RELATIVE
PAGES: Final = Formula.PAGES
LOW_12: Final = Formula.LOW_12


@record
class Row:
    """One relocation type.

    The number must lie in [low, high) and be a multiple of 1 << scale; divided by that, it fills `field`.
    `got`: the address meant is that of the symbol's slot in the global offset table.
    """

    name: str
    formula: Formula
    field: Field
    width: int
    low: int
    high: int
    scale: int = 0
    got: bool = False


def _data(name: str, formula: Formula, width: int, signed: bool, got: bool = False) -> Row:
    bits = 8 * width
    low, high = (-(1 << bits - 1), 1 << bits - 1) if signed else (0, 1 << bits)
    return Row(name, formula, DATA, width, low, high, 0, got)


def _signed(
    name: str, formula: Formula, field: Field, bits: int, scale: int = 0, got: bool = False
) -> Row:
    reach = 1 << bits - 1 + scale
    return Row(name, formula, field, 4, -reach, reach, scale, got)


def _low12(name: str, scale: int, got: bool = False) -> Row:
    return Row(name, LOW_12, IMM12, 4, 0, 1 << 12, scale, got)


_NO_BYTES: Final = Row("NONE", NONE, DATA, 0, 0, 1)

X86_64: Final = {
    0: _NO_BYTES,
    1: _data("64", ABSOLUTE, 8, signed=False),
    2: _data("PC32", RELATIVE, 4, signed=True),
    4: _data("PLT32", RELATIVE, 4, signed=True),  # no PLT: the function is in this file
    9: _data("GOTPCREL", RELATIVE, 4, signed=True, got=True),
    10: _data("32", ABSOLUTE, 4, signed=False),
    11: _data("32S", ABSOLUTE, 4, signed=True),
    24: _data("PC64", RELATIVE, 8, signed=True),
    41: _data("GOTPCRELX", RELATIVE, 4, signed=True, got=True),
    42: _data("REX_GOTPCRELX", RELATIVE, 4, signed=True, got=True),
}

AARCH64: Final = {
    0: _NO_BYTES,
    257: _data("ABS64", ABSOLUTE, 8, signed=False),
    258: _data("ABS32", ABSOLUTE, 4, signed=False),
    260: _data("PREL64", RELATIVE, 8, signed=True),
    261: _data("PREL32", RELATIVE, 4, signed=True),
    273: _signed("LD_PREL_LO19", RELATIVE, IMM19, 19, scale=2),
    274: _signed("ADR_PREL_LO21", RELATIVE, ADR, 21),
    275: _signed("ADR_PREL_PG_HI21", PAGES, ADR, 21),
    277: _low12("ADD_ABS_LO12_NC", 0),
    278: _low12("LDST8_ABS_LO12_NC", 0),
    279: _signed("TSTBR14", RELATIVE, IMM14, 14, scale=2),
    280: _signed("CONDBR19", RELATIVE, IMM19, 19, scale=2),
    282: _signed("JUMP26", RELATIVE, IMM26, 26, scale=2),
    283: _signed("CALL26", RELATIVE, IMM26, 26, scale=2),
    284: _low12("LDST16_ABS_LO12_NC", 1),
    285: _low12("LDST32_ABS_LO12_NC", 2),
    286: _low12("LDST64_ABS_LO12_NC", 3),
    299: _low12("LDST128_ABS_LO12_NC", 4),
    311: _signed("ADR_GOT_PAGE", PAGES, ADR, 21, got=True),
    312: _low12("LD64_GOT_LO12_NC", 3, got=True),
    314: _data("PLT32", RELATIVE, 4, signed=True),
}

TABLE: Final = {EM_X86_64: X86_64, EM_AARCH64: AARCH64}


def row_of(machine: int, kind: int) -> Row:
    """The row of a relocation type. Raises `LinkError` for a type that is not in the table."""
    row = TABLE[machine].get(kind)
    if row is None:
        raise LinkError(Fault.UNKNOWN_RELOCATION, f"type {kind}")
    return row


def apply(row: Row, before: bytes, place: int, value: int) -> bytes:
    """The relocated form of the `row.width` bytes `before`, which stand at address `place`.

    `value` is S + A, with S the address the row means. Raises `LinkError` where the number does not fit.
    """
    formula = row.formula
    if formula is RELATIVE:
        number = value - place
    elif formula is ABSOLUTE:
        number = value
    elif formula is LOW_12:
        number = value & 0xFFF
    elif formula is PAGES:
        number = (value >> 12) - (place >> 12)
    else:
        return before
    if not row.low <= number < row.high:
        raise LinkError(Fault.VALUE_OUT_OF_RANGE, row.name, f"{number:#x}")
    if row.field is DATA:
        return number.to_bytes(row.width, "little", signed=number < 0)
    if place & 3:
        raise LinkError(Fault.MISALIGNED_INSTRUCTION, row.name, f"{place:#x}")
    if number & (1 << row.scale) - 1:
        raise LinkError(Fault.MISALIGNED_VALUE, row.name, f"{number:#x} and {1 << row.scale}")
    word = int.from_bytes(before, "little")
    return _insert(row.field, word, number >> row.scale).to_bytes(4, "little")


def _insert(field: Field, word: int, number: int) -> int:
    """The instruction `word` with `number` as the immediate in `field`; the other bits are kept."""
    if field is ADR:
        return word & ~0x60FFFFE0 | (number & 3) << 29 | (number >> 2 & 0x7FFFF) << 5
    mask = (1 << field.bits) - 1
    return word & ~(mask << field.lowest) | (number & mask) << field.lowest
