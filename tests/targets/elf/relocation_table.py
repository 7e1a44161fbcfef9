"""Every relocation type at its exact limits: what must come out, or the name of the refusal.

The expected bytes were worked out by hand from the ABI documents, not by the code they test.
"""

from __future__ import annotations

from dataclasses import dataclass

from targets.elf.hand_made import ARM, X86


@dataclass(frozen=True)
class Case:
    """`value` is S + A. `after` is the field as hexadecimal text in file order, or the name of a fault."""

    machine: int
    kind: int
    value: int
    place: int
    after: str
    before: str = ""
    got: bool = False

    @property
    def title(self) -> str:
        return (
            f"{'x86' if self.machine == X86 else 'arm'}-{self.kind}-{self.value:#x}-{self.place:#x}"
        )


FIT, ALIGN, PLACE = "VALUE_OUT_OF_RANGE", "MISALIGNED_VALUE", "MISALIGNED_INSTRUCTION"


def _x86(kind: int, *rows: tuple[int, int, str], got: bool = False) -> list[Case]:
    return [Case(X86, kind, value, place, after, "a5" * 8, got) for value, place, after in rows]


def _signed32(kind: int, machine: int, place: int, got: bool = False) -> list[Case]:
    rows = [
        (place, "00000000"),
        (place + 1, "01000000"),
        (place - 1, "ffffffff"),
        (place + 0x7FFFFFFF, "ffffff7f"),
        (place + 0x80000000, FIT),
        (place - 0x80000000, "00000080"),
        (place - 0x80000001, FIT),
    ]
    return [Case(machine, kind, value, place, after, "a5" * 4, got) for value, after in rows]


def _arm(kind: int, before: str, *rows: tuple[int, int, str], got: bool = False) -> list[Case]:
    return [Case(ARM, kind, value, place, after, before, got) for value, place, after in rows]


def _unsigned(machine: int, wide: int, narrow: int) -> list[Case]:
    rows = [
        (wide, 0, "0000000000000000"),
        (wide, 0x0123456789ABCDEF, "efcdab8967452301"),
        (wide, (1 << 64) - 1, "ffffffffffffffff"),
        (wide, 1 << 64, FIT),
        (wide, -1, FIT),
        (narrow, 0, "00000000"),
        (narrow, 0x80000000, "00000080"),
        (narrow, 0xFFFFFFFF, "ffffffff"),
        (narrow, 1 << 32, FIT),
        (narrow, -1, FIT),
    ]
    return [Case(machine, kind, value, 0x1000, after, "a5" * 8) for kind, value, after in rows]


def _signed64(machine: int, kind: int) -> list[Case]:
    rows = [
        (0x1000, "0000000000000000"),
        (0xFFF, "ffffffffffffffff"),
        (0x1000 + (1 << 63) - 1, "ffffffffffffff7f"),
        (0x1000 + (1 << 63), FIT),
        (0x1000 - (1 << 63), "0000000000000080"),
        (0x1000 - (1 << 63) - 1, FIT),
    ]
    return [Case(machine, kind, value, 0x1000, after, "a5" * 8) for value, after in rows]


def _page(kind: int, got: bool = False) -> list[Case]:
    # adrp x0, .  with x7 and other bits kept; the immediate counts pages, low two bits at 29, the rest at 5
    return _arm(
        kind,
        "07000090",
        (0x5000, 0x5FFC, "07000090"),
        (0x5FFF, 0x5000, "07000090"),
        (0x6000, 0x5FFC, "070000b0"),
        (0x7000, 0x5000, "070000d0"),
        (0x8000, 0x5000, "070000f0"),
        (0x9000, 0x5000, "27000090"),
        (0x4FFF, 0x5000, "e7fffff0"),
        (0x5000 + 0xFFFFF000, 0x5FFC, "e7ff7ff0"),
        (0x5000 + 0xFFFFFFFF, 0x5000, "e7ff7ff0"),
        (0x5000 + 0x100000000, 0x5FFC, FIT),
        (0x100005000 - 0x100000000, 0x100005FFC, "07008090"),
        (0x100004FFF - 0x100000000, 0x100005000, FIT),
        (0x6000, 0x5002, PLACE),
        got=got,
    )


def _low12(kind: int, scale: int, before: str, got: bool = False) -> list[Case]:
    """`before` has zero in bits 21:10 and ones and zeros elsewhere that must survive."""
    word = int.from_bytes(bytes.fromhex(before), "little")

    def with_immediate(number: int) -> str:
        return (word | number << 10).to_bytes(4, "little").hex()

    rows = [
        (0x5000, 0x100, with_immediate(0)),
        (0x12345000 + (1 << scale), 0x100, with_immediate(1)),
        (0x5000 + 0x1000 - (1 << scale), 0x100, with_immediate(0xFFF >> scale)),
        (0x6000, 0x100, with_immediate(0)),
        (0x5000, 0x101, PLACE),
    ]
    if scale:
        rows += [(0x5001, 0x100, ALIGN), (0x5000 + (1 << scale - 1), 0x100, ALIGN)]
    return _arm(kind, before, *rows, got=got)


def _branch(kind: int, before: str, bits: int, lowest: int) -> list[Case]:
    """Immediates that count instructions: the extremes of `bits` bits at bit `lowest`."""
    word = int.from_bytes(bytes.fromhex(before), "little")
    reach, place = 1 << bits + 1, 0x40000000

    def with_immediate(number: int) -> str:
        return (word | (number & (1 << bits) - 1) << lowest).to_bytes(4, "little").hex()

    return _arm(
        kind,
        before,
        (place, place, with_immediate(0)),
        (place + 4, place, with_immediate(1)),
        (place - 4, place, with_immediate(-1)),
        (place + reach - 4, place, with_immediate((1 << bits - 1) - 1)),
        (place + reach, place, FIT),
        (place - reach, place, with_immediate(-(1 << bits - 1))),
        (place - reach - 4, place, FIT),
        (place + 2, place, ALIGN),
        (place + 1, place, ALIGN),
        (place + 4, place + 2, PLACE),
    )


CASES = [
    *_x86(0, (0x123456, 456, "")),
    *_unsigned(X86, 1, 10),
    *_signed32(2, X86, 0x200000000),
    *_signed32(4, X86, 0x200000001),
    *_signed32(9, X86, 0x200000002, got=True),
    *_signed32(41, X86, 0x200000003, got=True),
    *_signed32(42, X86, 0x200000004, got=True),
    *_x86(
        11,
        (0, 0x1000, "00000000"),
        (0x7FFFFFFF, 0x1000, "ffffff7f"),
        (0x80000000, 0x1000, FIT),
        (-0x80000000, 0x1000, "00000080"),
        (-0x80000001, 0x1000, FIT),
    ),
    *_signed64(X86, 24),
    *_arm(0, "", (0x123456, 456, "")),
    *_unsigned(ARM, 257, 258),
    *_signed64(ARM, 260),
    *_signed32(261, ARM, 0x200000000),
    *_signed32(314, ARM, 0x200000000),
    *_branch(273, "1f000058", 19, 5),  # ldr xzr, .
    *_branch(279, "1f00f8b7", 14, 5),  # tbnz xzr, #63, .
    *_branch(280, "0f000054", 19, 5),  # b.nv .
    *_branch(282, "00000014", 26, 0),  # b .
    *_branch(283, "00000094", 26, 0),  # bl .
    *_arm(
        274,
        "1f000010",  # adr xzr, .
        (0x40000000, 0x40000000, "1f000010"),
        (0x40000001, 0x40000000, "1f000030"),
        (0x40000003, 0x40000000, "1f000070"),
        (0x40000004, 0x40000000, "3f000010"),
        (0x3FFFFFFF, 0x40000000, "ffffff70"),
        (0x400FFFFF, 0x40000000, "ffff7f70"),
        (0x40100000, 0x40000000, FIT),
        (0x3FF00000, 0x40000000, "1f008010"),
        (0x3FEFFFFF, 0x40000000, FIT),
        (0x40000000, 0x40000001, PLACE),
    ),
    # What stood in the field is replaced, whatever it was; every other bit is kept.
    *_arm(273, "ffffffff", (0x1008, 0x1000, "5f0000ff")),
    *_arm(274, "ffffffff", (0x1009, 0x1000, "5f0000bf")),
    *_arm(275, "ffffffff", (0x9000, 0x1000, "5f00009f")),
    *_arm(277, "ffffffff", (0x1003, 0x1000, "ff0fc0ff")),
    *_arm(279, "ffffffff", (0x1008, 0x1000, "5f00f8ff")),
    *_arm(283, "ffffffff", (0x1008, 0x1000, "020000fc")),
    *_page(275),
    *_page(311, got=True),
    *_low12(277, 0, "ff030091"),  # add sp, sp, #0
    *_low12(278, 0, "ff034039"),  # ldrb wzr, [sp]
    *_low12(284, 1, "ff034079"),  # ldrh wzr, [sp]
    *_low12(285, 2, "ff0340b9"),  # ldr wzr, [sp]
    *_low12(286, 3, "ff0340f9"),  # ldr xzr, [sp]
    *_low12(299, 4, "ff03c03d"),  # ldr q31, [sp]
    *_low12(312, 3, "ff0340f9", got=True),
]
