"""Objects to be refused for their relocations and frames: the smallest change, and the name of the refusal."""

from __future__ import annotations

import struct

from targets.elf.hand_made import (
    ABSOLUTE,
    ALLOC,
    ARM,
    DATA,
    LOCAL,
    NOBITS,
    X86,
    Name,
    Part,
    build,
    code,
    common_record,
    edit_section,
    frames,
    section_numbers,
    section_offset,
)
from targets.elf.refusal import RELOCATED, START, Refusal, patched, with_parts


def _relocation(
    kind: int, offset: int = 0, symbol: str = "_start", machine: int = X86, size: int = 8
) -> bytes:
    return build(
        [code(machine, bytes(size), relocations=((offset, kind, symbol, 0),))], [START], machine
    )


def _relocated_twice() -> bytes:
    data = with_parts(
        *(Part(name, 0, b"", kind=4, entry_size=24) for name in (".rela.text", ".rela.2"))
    )
    symbols = section_numbers(data)[".symtab"]
    for name in (".rela.text", ".rela.2"):
        data = edit_section(data, name, link=symbols, info=1)
    return data


def _frame(record: bytes) -> bytes:
    return with_parts(Part(".eh_frame", ALLOC, record, 1))


def _frame_of_parent(distance: int, length: int = 20) -> bytes:
    """A common record, then a frame of `length` whose parent lies `distance` bytes before its own pointer."""
    body = (struct.pack("<IiI", distance, 0, 4) + bytes(8))[:length]
    return common_record() + struct.pack("<I", length) + body


def _cie(**changes: bytes) -> bytes:
    """A common record with one of its fields changed."""
    fields = {
        "id": bytes(4),
        "version": b"\1",
        "augmentation": b"zR\0",
        "code": b"\1",
        "data": b"\x78",
        "return": b"\x10",
        "size": b"\1",
        "pointer": b"\x1b",
    } | changes
    body = b"".join(fields.values())
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


RELOCATION_REFUSALS = [
    # Relocations
    Refusal("half a relocation", "MALFORMED", (edit_section(RELOCATED, ".rela.text", size=23),)),
    Refusal(
        "relocations of another size",
        "MALFORMED",
        (edit_section(RELOCATED, ".rela.text", entry_size=12),),
    ),
    Refusal(
        "relocations of no section", "MALFORMED", (edit_section(RELOCATED, ".rela.text", info=0),)
    ),
    Refusal(
        "relocations of a section too many",
        "MALFORMED",
        (edit_section(RELOCATED, ".rela.text", info=6),),
    ),
    Refusal(
        "relocations without symbols", "MALFORMED", (edit_section(RELOCATED, ".rela.text", link=1),)
    ),
    Refusal(
        "relocations of symbols outside",
        "MALFORMED",
        (edit_section(RELOCATED, ".rela.text", link=6),),
    ),
    Refusal("relocations twice", "MALFORMED", (_relocated_twice(),)),
    Refusal(
        "relocations of zeros",
        "MALFORMED",
        (with_parts(Part(".bss", 3, b"", 8, ((0, 1, "_start", 0),), NOBITS, size=8)),),
    ),
    Refusal(
        "a relocation of no symbol",
        "MALFORMED",
        (patched(RELOCATED, section_offset(RELOCATED, ".rela.text") + 12, b"\2"),),
    ),
    Refusal("an unknown relocation", "UNKNOWN_RELOCATION", (_relocation(19),)),
    Refusal("the other machine's relocation", "UNKNOWN_RELOCATION", (_relocation(2, machine=ARM),)),
    Refusal(
        "an unknown relocation of debugging",
        "UNKNOWN_RELOCATION",
        (with_parts(Part(".debug_info", 0, bytes(8), 1, ((0, 3, "_start", 0),))),),
    ),
    Refusal("a relocation that ends outside", "RELOCATION_OUTSIDE_SECTION", (_relocation(2, 5),)),
    Refusal("a relocation far outside", "RELOCATION_OUTSIDE_SECTION", (_relocation(2, 1 << 63),)),
    Refusal(
        "a pointer that ends outside",
        "RELOCATION_OUTSIDE_SECTION",
        (with_parts(Part(".data", 3, bytes(15), 8, ((8, 1, "_start", 0),))),),
    ),
    Refusal(
        "a relocation against nothing", "RELOCATION_WITHOUT_TARGET", (_relocation(2, symbol=""),)
    ),
    Refusal(
        "a relocation against a file name",
        "RELOCATION_WITHOUT_TARGET",
        (
            build(
                [code(data=bytes(8), relocations=((0, 2, "f", 0),))],
                [START, Name("f", ABSOLUTE, 0, 0, LOCAL, 4)],
            ),
        ),
    ),
    Refusal(
        "a relocation of debugging against nothing",
        "RELOCATION_WITHOUT_TARGET",
        (with_parts(Part(".debug_info", 0, bytes(8), 1, ((0, 10, "", 0),))),),
    ),
    Refusal(
        "a slot for debugging information",
        "RELOCATION_WITHOUT_TARGET",
        (with_parts(Part(".debug_info", 0, bytes(8), 1, ((0, 9, "_start", 0),))),),
    ),
    Refusal(
        "a distance that does not fit",
        "VALUE_OUT_OF_RANGE",
        (build([code(data=bytes(4), relocations=((0, 2, "_start", 1 << 31),))], [START]),),
    ),
    Refusal(
        "a branch into the middle of an instruction",
        "MISALIGNED_VALUE",
        (build([code(ARM, bytes(4), relocations=((0, 283, "_start", 2),))], [START], ARM),),
    ),
    Refusal(
        "an instruction at an odd place",
        "MISALIGNED_INSTRUCTION",
        (_relocation(283, 2, machine=ARM),),
    ),
    Refusal("a 32-bit address in code", "NOT_POSITION_INDEPENDENT", (_relocation(10),)),
    Refusal("a signed 32-bit address in code", "NOT_POSITION_INDEPENDENT", (_relocation(11),)),
    Refusal(
        "a 32-bit address in AArch64 code",
        "NOT_POSITION_INDEPENDENT",
        (_relocation(258, machine=ARM),),
    ),
    Refusal("a pointer in code", "READ_ONLY_ADDRESS", (_relocation(1),)),
    Refusal(
        "a pointer in constants",
        "READ_ONLY_ADDRESS",
        (with_parts(Part(".rodata", ALLOC, bytes(8), 8, ((0, 1, "_start", 0),))),),
    ),
    Refusal(
        "a reference to debugging information",
        "DISCARDED_TARGET",
        (
            build(
                [
                    code(data=bytes(4), relocations=((0, 2, "d", 0),)),
                    Part(".debug_str", 0x30, b"d\0"),
                ],
                [START, Name("d", ".debug_str", 0, 0, LOCAL, DATA)],
            ),
        ),
    ),
    Refusal(
        "a reference to an empty section",
        "DISCARDED_TARGET",
        (
            build(
                [code(data=bytes(4), relocations=((0, 2, "d", 0),)), Part(".data", 3, b"")],
                [START, Name("d", ".data", 0, 0, LOCAL, DATA)],
            ),
        ),
    ),
    # Frames
    Refusal("a frame table cut short", "BAD_FRAME", (_frame(common_record() + bytes(4)),)),
    Refusal(
        "a frame table of half a header", "BAD_FRAME", (_frame(common_record() + b"\x08\0\0\0"),)
    ),
    Refusal("an end within the frames", "BAD_FRAME", (_frame(bytes(8) + common_record()),)),
    Refusal(
        "a common record that is too short",
        "BAD_FRAME",
        (_frame(struct.pack("<II", 7, 0) + bytes(3)),),
    ),
    Refusal("a 64-bit frame record", "BAD_FRAME", (_frame(b"\xff" * 4 + bytes(20)),)),
    Refusal(
        "a frame record that ends outside",
        "BAD_FRAME",
        (_frame(struct.pack("<II", 17, 0) + _cie()[8:]),),
    ),
    Refusal("a frame that ends outside", "BAD_FRAME", (_frame(_frame_of_parent(28, length=32)),)),
    Refusal(
        "a frame record too short for its pointers",
        "BAD_FRAME",
        (_frame(_frame_of_parent(28, length=12)),),
    ),
    Refusal(
        "a frame whose parent would lie before the table",
        "BAD_FRAME",
        (_frame(_frame_of_parent(29)),),
    ),
    Refusal("another version", "BAD_FRAME", (_frame(_cie(version=b"\4")),)),
    Refusal("another augmentation", "BAD_FRAME", (_frame(_cie(augmentation=b"zPLR\0")),)),
    Refusal("another pointer form", "BAD_FRAME", (_frame(_cie(pointer=b"\x03")),)),
    Refusal("more augmentation data", "BAD_FRAME", (_frame(_cie(size=b"\2")),)),
    Refusal(
        "an endless factor",
        "BAD_FRAME",
        (_frame(struct.pack("<II", 20, 0) + b"\x01zR\0" + b"\xff" * 12),),
    ),
    Refusal(
        "frames that would need padding",
        "BAD_FRAME",
        (with_parts(Part(".eh_frame", ALLOC, common_record(), 16)),),
    ),
    Refusal(
        "a pointer to nothing",
        "RELOCATION_WITHOUT_TARGET",
        (with_parts(Part(".data", 3, bytes(8), 8, ((0, 1, "", 0),))),),
    ),
    Refusal(
        "writable data of an unknown kind",
        "UNKNOWN_SECTION",
        (with_parts(Part(".data", 3, b"x", kind=7)),),
    ),
    Refusal(
        "an unloaded section to be left out",
        "UNKNOWN_SECTION",
        (with_parts(Part(".llvmbc", 0x80000000, b"x")),),
    ),
    Refusal(
        "frames of an unknown kind",
        "UNKNOWN_SECTION",
        (with_parts(Part(".eh_frame", ALLOC, common_record(), 8, kind=7)),),
    ),
]
LONG_FACTOR = _frame(_cie(data=b"\xf8\x7f"))
SHORTEST_FRAME = build(
    [code(), Part(".eh_frame", ALLOC, _frame_of_parent(28, length=13), 1, ((32, 2, "_start", 0),))],
    [Name("_start", ".text")],
)
WITH_FRAMES = build([code(), frames([1], ["_start"])], [START])
