"""What the tables of a linked file must say: headers, names, notes, frames, debugging information."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from targets.elf.hand_made import (
    ALLOC,
    ARM,
    LOCAL,
    NOBITS,
    WRITE,
    X86,
    Name,
    Part,
    build,
    code,
    edit_symbol,
    frames,
)
from targets.elf.linker_under_test import Linker
from targets.elf.looking import body_of, linked, section_of, symbols_of
from targets.elf.relocation_refusals import LONG_FACTOR, SHORTEST_FRAME

START = Name("_start", ".text")


def check_program_headers(elf: Linker) -> None:
    parts = [
        code(),
        _properties(3),
        Part(".data", ALLOC | WRITE, bytes(5), 1),
        Part(".bss", ALLOC | WRITE, b"", 8, kind=NOBITS, size=9),
        frames([1], ["_start"]),
    ]
    image = linked(elf, build(parts, [START]))
    found = {section.name: section for section in image.sections}
    features, identity, index = (
        found[name] for name in (".note.gnu.property", ".note.gnu.build-id", ".eh_frame_hdr")
    )
    dynamic = found[".dynamic"]
    end = dynamic.address + dynamic.size
    text, data = found[".text"], found[".data"]
    bss_end = found[".bss"].address + 9
    code_begin, data_begin = 0x1000 + end, 0x2000 + text.offset + 1
    assert [tuple(segment) for segment in image.segments] == [
        (1, 4, 0, 0, 0, end, end, 0x1000),
        (
            1,
            5,
            end,
            code_begin,
            code_begin,
            text.address + 1 - code_begin,
            text.address + 1 - code_begin,
            0x1000,
        ),
        (1, 6, data.offset, data_begin, data_begin, 5, bss_end - data_begin, 0x1000),
        (0x6474E550, 4, index.offset, index.address, index.address, index.size, index.size, 4),
        (0x6474E553, 4, features.offset, features.address, features.address, 32, 32, 8),
        (4, 4, features.offset, features.address, features.address, 32, 32, 8),
        (4, 4, identity.offset, identity.address, identity.address, 36, 36, 4),
        (2, 4, dynamic.offset, dynamic.address, dynamic.address, dynamic.size, dynamic.size, 8),
        (0x6474E551, 6, 0, 0, 0, 0, 0, 16),
    ]
    assert features.address == 64 + 56 * 9, "sections follow the headers"


def check_the_file_header(elf: Linker) -> None:
    for machine in (X86, ARM):
        image = linked(elf, build([code(machine)], [START], machine), machine=machine)
        table, count = image.unpack("<Q", 40)[0], len(image.sections)
        fields = struct.unpack_from("<16sHHIQQQIHHHHHH", image.data)
        identity, entry = b"\x7fELF\2\1\1" + bytes(9), section_of(image, ".text").address
        assert fields[:5] == (identity, 3, machine, 1, entry)
        assert fields[5:] == (64, table, 0, 64, 56, 5, 64, count, count - 1)
        assert table % 8 == 0 and len(image.data) == table + 64 * count


def check_section_headers(elf: Linker) -> None:
    pointer = Part(".data.rel.ro", ALLOC | WRITE, bytes(8), 8, ((0, 1, "_start", 0),))
    load = code(data=bytes(4), relocations=((0, 9, "_start", 0),))
    text = Part(".rodata.str", ALLOC | 0x30, b"text\0", entry_size=1)
    parts = [load, text, pointer, frames([1], ["_start"])]
    image = linked(elf, build(parts, [START]), blobs=(("blob", b"x", 32),))
    assert {
        section.name: (
            section.kind,
            section.flags,
            image.sections[section.link].name,
            section.info,
            section.align,
            section.entry,
        )
        for section in image.sections[1:]
    } == {
        ".note.gnu.build-id": (7, 2, "", 0, 4, 0),
        ".alpha.manifest": (1, 2, "", 0, 16, 0),
        ".dynsym": (11, 2, ".dynstr", 1, 8, 24),
        ".gnu.hash": (0x6FFFFFF6, 2, ".dynsym", 0, 8, 0),
        ".dynstr": (3, 2, "", 0, 1, 0),
        ".rela.dyn": (4, 2, ".dynsym", 0, 8, 24),
        ".rodata": (1, 2, "", 0, 1, 0),
        ".alpha.data": (1, 2, "", 0, 32, 0),
        ".eh_frame_hdr": (1, 2, "", 0, 4, 0),
        ".eh_frame": (1, 2, "", 0, 8, 0),
        ".text": (1, 6, "", 0, 16, 0),
        ".data.rel.ro": (1, 3, "", 0, 8, 0),
        ".dynamic": (6, 2, ".dynstr", 0, 8, 16),
        ".got": (1, 3, "", 0, 8, 0),
        ".symtab": (2, 0, ".strtab", 1, 8, 24),
        ".strtab": (3, 0, "", 0, 1, 0),
        ".shstrtab": (3, 0, "", 0, 1, 0),
    }
    assert section_of(image, ".symtab").offset % 8 == 0


def check_the_tags_of_the_dynamic_section(elf: Linker) -> None:
    pointer = Part(".data.rel.ro", ALLOC | WRITE, bytes(8), 8, ((0, 1, "_start", 0),))
    for parts, relocations in (([], 0), ([pointer], 1)):
        image = linked(elf, build([code(), *parts], [START]))
        at = {section.name: section.address for section in image.sections}
        tags = [
            (0x6FFFFEF5, at[".gnu.hash"]),
            (5, at[".dynstr"]),
            (6, at[".dynsym"]),
            (10, 1),
            (11, 24),
        ]
        if relocations:
            tags += [(7, at[".rela.dyn"]), (8, 24), (9, 24), (0x6FFFFFF9, 1)]
        tags += [(30, 8), (0x6FFFFFFB, 0x08000001), (0, 0)]
        assert list(struct.iter_unpack("<QQ", body_of(image, ".dynamic"))) == tags
        assert body_of(image, ".dynsym") == bytes(24) and body_of(image, ".dynstr") == b"\0"
        assert struct.unpack("<IIIIQI", body_of(image, ".gnu.hash")) == (1, 1, 1, 0, 0, 0)


def check_symbols_come_locals_first_and_without_sections(elf: Linker) -> None:
    parts = [
        code(data=b"\x90\xc3"),
        Part(".debug_str", 0x30, b"text\0", entry_size=1),
        _properties(1),
    ]
    names = [
        START,
        Name("inner", ".text", 1, 1, LOCAL),
        Name("file.alpha", "*absolute*", 0, 0, LOCAL, 4),
        Name("", ".text", 0, 0, LOCAL, 3),
        Name("", ".text", 0, 0, LOCAL, 0),
        Name("left out", ".note.gnu.property", 0, 0, LOCAL, 1),
        Name("debug", ".debug_str", 0, 0, LOCAL, 0),
    ]
    image = linked(
        elf,
        build(parts, names),
        build([code(name=".text.b")], [Name("b", ".text.b"), Name("c", ".text.b", binding=LOCAL)]),
    )
    assert list(symbols_of(image)) == ["inner", "c", "_start", "b"]
    assert section_of(image, ".symtab").info == 3
    text, index = (
        section_of(image, ".text"),
        [section.name for section in image.sections].index(".text"),
    )
    assert symbols_of(image)["inner"] == (0x02, 2, index, text.address + 1, 1)
    assert symbols_of(image)["_start"] == (0x12, 2, index, text.address, 0)


def check_frames_are_indexed_in_the_order_of_code(elf: Linker) -> None:
    for machine in (X86, ARM):
        one = code(machine, bytes(32), relocations=())
        names = [START, Name("late", ".text", 16), Name("mid", ".text", 8)]
        first = build([one, frames([8, 8, 16], ["mid", "_start", "late"], machine)], names, machine)
        other = [code(machine, bytes(4), name=".text.z"), frames([4], ["z"], machine)]
        image = linked(elf, first, build(other, [Name("z", ".text.z")], machine), machine=machine)
        index, text = section_of(image, ".eh_frame_hdr"), section_of(image, ".text").address
        rows = list(struct.iter_unpack("<ii", body_of(image, ".eh_frame_hdr")[12:]))
        assert [index.address + row[0] - text for row in rows] == [0, 8, 16, 32]
        assert body_of(image, ".eh_frame")[-4:] == bytes(4)


def check_frames_at_the_limits_of_their_form(elf: Linker) -> None:
    elf.link(LONG_FACTOR)
    elf.link(SHORTEST_FRAME)


def check_debugging_information_is_joined_and_can_be_left_out(elf: Linker) -> None:
    for machine, absolute32, absolute64 in ((X86, 10, 1), (ARM, 258, 257)):

        def one(
            name: str, machine: int = machine, wide: int = absolute64, narrow: int = absolute32
        ) -> bytes:
            text = ".text" if name == "_start" else ".text." + name
            strings = Part(".debug_str", 0x30, name.encode() + b"\0", 1, entry_size=1)
            information = Part(
                ".debug_info", 0, b"\xff" * 12, 1, ((0, narrow, "s", 1), (4, wide, name, 2))
            )
            section = Name("s", ".debug_str", 0, 0, LOCAL, 0)
            return build(
                [code(machine, name=text), strings, information],
                [section, Name(name, text)],
                machine,
            )

        image = linked(elf, one("_start"), one("g"), machine=machine)
        text = section_of(image, ".text").address
        assert body_of(image, ".debug_str") == b"_start\0g\0"
        assert body_of(image, ".debug_info") == struct.pack("<IQIQ", 1, text + 2, 8, text + 18)
        assert (
            section_of(image, ".debug_str")[2:3] == (0x30,)
            and section_of(image, ".debug_str").entry == 1
        )
        assert section_of(image, ".debug_info").flags == 0
        bare = linked(elf, one("_start"), one("g"), machine=machine, debug=False)
        assert [
            s.name for s in bare.sections if s.name.startswith((".debug", ".symtab", ".strtab"))
        ] == []
        assert body_of(bare, ".text") == body_of(image, ".text")


def _properties(features: int, machine: int = X86) -> Part:
    kind = 0xC0000002 if machine == X86 else 0xC0000000
    data = struct.pack("<III4sIIII", 4, 16, 5, b"GNU\0", kind, 4, features, 0)
    return Part(".note.gnu.property", ALLOC, data, 8, kind=7)


def check_branch_protection_is_what_all_code_keeps_to(elf: Linker) -> None:
    for machine in (X86, ARM):
        start = build([code(machine), _properties(3, machine)], [START], machine)
        weaker = build([code(machine, name=".text.b"), _properties(1, machine)], [], machine)
        none = build([code(machine, name=".text.b")], [], machine)
        # LLVM writes an empty .text into every object.
        only_data = build([Part(".rodata", ALLOC, b"x"), code(machine, b"")], [], machine)
        note = body_of(linked(elf, start, weaker, only_data, machine=machine), ".note.gnu.property")
        assert note == _properties(1, machine).data
        assert linked(elf, start, none, machine=machine).section(".note.gnu.property") is None


def check_other_properties_are_passed_over(elf: Linker) -> None:
    def note(*properties: bytes) -> bytes:
        data = b"".join(properties)
        data = struct.pack("<III4s", 4, len(data), 5, b"GNU\0") + data
        return build([code(), Part(".note.gnu.property", ALLOC, data, 8, kind=7)], [START])

    features = struct.pack("<IIII", 0xC0000002, 4, 1, 0)
    other = struct.pack("<IIII", 0xC0008002, 4, 6, 0)
    long = struct.pack("<IIQQ", 0xC0000002, 12, 2, 0)
    empty = struct.pack("<II", 0xC0000001, 0)
    for properties in (
        [features, other],
        [other, features],
        [long, features],
        [empty, features],
        [features, empty],
    ):
        image = linked(elf, note(*properties))
        assert body_of(image, ".note.gnu.property") == _properties(1).data
    for properties in ([], [other], [long]):
        assert linked(elf, note(*properties)).section(".note.gnu.property") is None


def check_strings_of_different_shapes_are_no_longer_mergeable(elf: Linker) -> None:
    def one(name: str, width: int) -> bytes:
        strings = Part(".debug_str", 0x30, bytes(4), 1, entry_size=width)
        return build([code(name=name), strings], [Name("_start", name)] if width == 1 else [])

    section = section_of(linked(elf, one(".text", 1), one(".text.b", 2)), ".debug_str")
    assert (section.flags, section.entry, section.size) == (0, 0, 8)


def check_digests(elf: Linker) -> None:
    image = linked(elf, build([code()], [START]), manifest=b"what it was made of")
    manifest, note = section_of(image, ".alpha.manifest"), section_of(image, ".note.gnu.build-id")
    whole = bytearray(image.data)
    digest = bytes(whole[manifest.offset : manifest.offset + 32])
    whole[manifest.offset : manifest.offset + 32] = bytes(32)
    assert hashlib.sha256(whole).digest() == digest
    assert manifest.flags == 2 and manifest.kind == 1
    identity = bytes(whole[note.offset + 16 : note.offset + 36])
    whole[note.offset + 16 : note.offset + 36] = bytes(20)
    assert hashlib.sha256(whole).digest()[:20] == identity


def check_what_is_not_for_the_program_is_left_out(elf: Linker) -> None:
    parts = [
        code(),
        Part(".comment", 0x30, b"LLVM\0", entry_size=1),
        Part(".note.GNU-stack", 0, b""),
        Part(".llvm_addrsig", 0x80000000, b"\1", kind=0x6FFF4C03),
        Part(".init_array", ALLOC | WRITE, b"", 8, kind=14),
    ]
    image = linked(elf, build(parts, [START]))
    names = {section.name for section in image.sections}
    assert not names & {part.name for part in parts[1:]}


def check_a_symbol_may_end_where_its_section_ends(elf: Linker) -> None:
    data = build([code(data=b"\x90\xc3")], [START, Name("end", ".text", 2)])
    linked(elf, edit_symbol(data, 1, size=2))


TABLE_CHECKS: list[Callable[[Linker], None]] = [
    value for name, value in list(globals().items()) if name.startswith("check_")
]
