"""What a linker must do on objects made by hand. Each check takes the linker, real or mutated, as its argument."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable

from alpha.elf.verify import Image, Section
from targets.elf import refusals
from targets.elf.hand_made import (
    ALLOC,
    ARM,
    DATA,
    EXECUTE,
    LOCAL,
    NOBITS,
    UNDEFINED,
    WRITE,
    X86,
    Name,
    Part,
    build,
    code,
    edit_header,
    edit_section,
    edit_symbol,
    frames,
)
from targets.elf.linker_under_test import Linker
from targets.elf.relocation_table import Case

START = Name("_start", ".text")


def check_relocation(elf: Linker, case: Case) -> None:
    reloc = elf.modules["reloc"]
    row = reloc.TABLE[case.machine][case.kind]
    before = bytes.fromhex(case.before)[: row.width]
    after: list[bytes] = []
    fault = elf.fault(lambda: after.append(reloc.apply(row, before, case.place, case.value)))
    assert (after[0].hex() if after else fault) == case.after
    assert row.got == case.got


def check_refusal(elf: Linker, case: refusals.Refusal) -> None:
    for_arm = bool(case.objects) and case.objects[0][18:20] == b"\xb7\0"
    options = {"machine": ARM if for_arm else X86} | case.options
    fault = elf.fault(lambda: elf.link(*case.objects, **options))
    assert fault == case.fault, fault


def _image(elf: Linker, *objects: bytes, **options: object) -> Image:
    linked = elf.link(*objects, **options)  # type: ignore[arg-type]
    machine = int(options.get("machine", X86))  # type: ignore[call-overload]
    elf.verify(linked, machine)
    return Image(linked, elf.host(machine))


def _section(image: Image, name: str) -> Section:
    section = image.section(name)
    assert section is not None, f"no section {name}"
    return section


def _body(image: Image, name: str) -> bytes:
    section = _section(image, name)
    return image.data[section.offset : section.offset + section.size]


def _symbols(image: Image) -> dict[str, tuple[int, ...]]:
    """Name to (information, visibility, section, value, size)."""
    table, strings = _section(image, ".symtab"), _section(image, ".strtab")
    rows = [image.unpack("<IBBHQQ", table.offset + at) for at in range(24, table.size, 24)]
    return {image.text(strings.offset, strings.size, row[0]): row[1:] for row in rows}


def _relative(image: Image) -> list[tuple[int, int, int]]:
    return list(struct.iter_unpack("<QQq", _body(image, ".rela.dyn")))


def check_code_is_joined_in_order_and_padded_with_traps(elf: Linker) -> None:
    first = build([code(data=b"\xc3")], [START])
    second = build([code(data=b"\x90\xc3", name=".text.second")], [Name("f", ".text.second", 1)])
    image = _image(elf, first, second)
    text = _section(image, ".text")
    assert _body(image, ".text") == b"\xc3" + b"\xcc" * 15 + b"\x90\xc3"
    assert _symbols(image)["f"][3] == text.address + 17
    assert image.unpack("<Q", 24)[0] == text.address
    arm = [
        build([code(ARM, name=name)], [Name(symbol, name)], ARM)
        for name, symbol in ((".text", "_start"), (".text.f", "f"))
    ]
    image = _image(elf, *arm, machine=ARM)
    assert _body(image, ".text")[4:16] == bytes(12)


def check_segments_are_apart_and_in_order(elf: Linker) -> None:
    parts = [
        code(),
        Part(".rodata", ALLOC, b"ro", 4),
        Part(".data.rel.ro", ALLOC | WRITE, b"relocate", 8),
        Part(".data", ALLOC | WRITE, b"data", 8),
        Part(".bss", ALLOC | WRITE, b"", 64, kind=NOBITS, size=100),
    ]
    for machine, page in ((X86, 0x1000), (ARM, 0x10000)):
        image = _image(elf, build(parts, [START], machine), machine=machine)
        assert [load.flags for load in image.loads] == [4, 5, 6, 6]
        assert [load.address for load in image.loads] == [0, page, 2 * page, 3 * page]
        assert image.loads[2].size == page and image.loads[2].file_size == 8 + 8 * 16
        assert image.loads[3].file_size == 4 and image.loads[3].size == 64 + 100
        names = [".data.rel.ro", ".dynamic", ".data", ".bss"]
        assert [_section(image, name).address for name in names] == [
            2 * page,
            2 * page + 8,
            3 * page,
            3 * page + 64,
        ]
        assert image.unpack("<H", 16) == (3,) and image.unpack("<H", 18) == (machine,)


def check_an_empty_writable_part_makes_no_segment(elf: Linker) -> None:
    image = _image(elf, build([code(), Part(".data", ALLOC | WRITE, b"", 8)], [START]))
    assert [load.flags for load in image.loads] == [4, 5, 6]


def check_calls_between_objects(elf: Linker) -> None:
    caller = build(
        [code(data=b"\xe8\0\0\0\0\xc3", relocations=((1, 4, "f", -4),))],
        [START, Name("f", UNDEFINED, kind=0)],
    )
    callee = build([code(name=".text.f", data=b"\x90\xc3")], [Name("f", ".text.f", 1)])
    image = _image(elf, caller, callee)
    assert _body(image, ".text")[:6] == b"\xe8" + struct.pack("<i", 17 - 5) + b"\xc3"


def check_a_local_name_is_its_own_object_s(elf: Linker) -> None:
    def one(names: list[Name], at: int) -> bytes:
        data = b"\xe8\0\0\0\0" + b"\x90" * at + b"\xc3"
        local = Name("here", ".text", 5 + at, binding=LOCAL)
        return build([code(data=data, relocations=((1, 2, "here", -4),))], [local, *names])

    image = _image(elf, one([START], 1), one([], 3))
    text = _body(image, ".text")
    assert struct.unpack_from("<i", text, 1)[0] == 1 and struct.unpack_from("<i", text, 17)[0] == 3


def check_pointers_are_filled_at_run_time(elf: Linker) -> None:
    table = Part(
        ".data.rel.ro.table",
        ALLOC | WRITE,
        b"\xff" * 24,
        8,
        ((16, 1, "_start", 0), (0, 1, "text", 9)),
    )
    data = Part(".data.first", ALLOC | WRITE, b"\xff" * 24, 8)
    more = Part(".data", ALLOC | WRITE, b"\xff" * 8, 8, ((0, 1, "__ehdr_start", 3),))
    names = [START, Name("text", ".rodata", 2, kind=DATA), Name("__ehdr_start", UNDEFINED, kind=0)]
    parts = [code(), Part(".rodata", ALLOC, bytes(16), 4), table, data, more]
    image = _image(elf, build(parts, names))
    relro, at = _section(image, ".data.rel.ro"), _section(image, ".data").address + 24
    ro, text = _section(image, ".rodata").address, _section(image, ".text").address
    expected = [(relro.address, 8, ro + 11), (relro.address + 16, 8, text), (at, 8, 3)]
    assert _relative(image) == expected
    assert _body(image, ".data.rel.ro") == bytes(8) + b"\xff" * 8 + bytes(8)
    tags = dict(struct.iter_unpack("<QQ", _body(image, ".dynamic")))
    assert tags[8] == 72 and tags[0x6FFFFFF9] == 3 and image.section(".got") is None
    arm = [
        Part(
            p.name, p.flags, p.data, p.align, tuple((o, 257, s, a) for o, _, s, a in p.relocations)
        )
        for p in parts[1:]
    ]
    image = _image(elf, build([code(ARM), *arm], names, ARM), machine=ARM)
    assert [row[1] for row in _relative(image)] == [1027] * 3


def check_slots_are_shared_and_relative(elf: Linker) -> None:
    loads = code(
        data=bytes(21), relocations=((3, 42, "x", -4), (10, 9, "y", -4), (17, 41, "x", -4))
    )
    data = Part(".data", ALLOC | WRITE, bytes(16), 8)
    names = [START, Name("x", ".data", 0, kind=DATA), Name("y", ".data", 8, kind=DATA)]
    image = _image(elf, build([loads, data], names))
    text, got, at = (
        _section(image, ".text"),
        _section(image, ".got"),
        _section(image, ".data").address,
    )
    assert got.size == 16 and _body(image, ".got") == bytes(16)
    words = [struct.unpack_from("<i", _body(image, ".text"), offset)[0] for offset in (3, 10, 17)]
    slots = [
        text.address + offset + 4 + word for offset, word in zip((3, 10, 17), words, strict=True)
    ]
    assert slots == [got.address, got.address + 8, got.address]
    assert _relative(image) == [(got.address, 8, at), (got.address + 8, 8, at + 8)]
    arm = code(
        ARM, b"\x00\x00\x00\x90\x00\x00\x40\xf9", relocations=((0, 311, "x", 0), (4, 312, "x", 0))
    )
    image = _image(elf, build([arm, data], names, ARM), machine=ARM)
    first, second = struct.unpack("<II", _body(image, ".text"))
    pages = (first >> 29 & 3) | (first >> 5 & 0x7FFFF) << 2
    slot = (_section(image, ".text").address & ~0xFFF) + (pages << 12) + (second >> 10 & 0xFFF) * 8
    assert slot == _section(image, ".got").address


RESERVED = (
    "__ehdr_start",
    "__rela_start",
    "__rela_end",
    "__relro_start",
    "__relro_end",
    "__alpha_digest",
    "__alpha_manifest_start",
    "__alpha_manifest_end",
)


def _reserved(image: Image) -> dict[str, int]:
    text = _section(image, ".text")
    words = struct.unpack(f"<{len(RESERVED)}i", _body(image, ".text"))
    return {
        name: text.address + 4 * k + word
        for k, (name, word) in enumerate(zip(RESERVED, words, strict=True))
    }


def check_reserved_names(elf: Linker) -> None:
    distances = code(
        data=bytes(4 * len(RESERVED)),
        relocations=tuple((4 * k, 2, name, 0) for k, name in enumerate(RESERVED)),
    )
    names = [START, *(Name(name, UNDEFINED, kind=0) for name in RESERVED)]
    plain = _reserved(_image(elf, build([distances], names)))
    assert plain["__rela_start"] == plain["__rela_end"] and plain["__ehdr_start"] == 0
    pointer = Part(".data.rel.ro", ALLOC | WRITE, bytes(8), 8, ((0, 1, "_start", 0),))
    image = _image(elf, build([distances, pointer], names), manifest=b"manifest")
    found = _reserved(image)
    rela, manifest = _section(image, ".rela.dyn"), _section(image, ".alpha.manifest")
    assert (found["__rela_start"], found["__rela_end"]) == (rela.address, rela.address + 24)
    assert (found["__relro_start"], found["__relro_end"]) == (0x2000, 0x3000)
    assert found["__alpha_digest"] == manifest.address
    assert found["__alpha_manifest_start"] == manifest.address + 32
    assert found["__alpha_manifest_end"] == manifest.address + 40
    assert image.bytes_at(found["__alpha_manifest_start"], 8) == b"manifest"


def check_digests(elf: Linker) -> None:
    image = _image(elf, build([code()], [START]), manifest=b"what it was made of")
    manifest, note = _section(image, ".alpha.manifest"), _section(image, ".note.gnu.build-id")
    whole = bytearray(image.data)
    digest = bytes(whole[manifest.offset : manifest.offset + 32])
    whole[manifest.offset : manifest.offset + 32] = bytes(32)
    assert hashlib.sha256(whole).digest() == digest
    assert manifest.flags == 2 and manifest.kind == 1
    identity = bytes(whole[note.offset + 16 : note.offset + 36])
    whole[note.offset + 16 : note.offset + 36] = bytes(20)
    assert hashlib.sha256(whole).digest()[:20] == identity


def check_blobs_are_read_only_data_where_they_should_be(elf: Linker) -> None:
    uses = code(data=bytes(12), relocations=((0, 2, "one", 0), (4, 2, "two", 0), (8, 2, "none", 0)))
    names = [START, *(Name(name, UNDEFINED, kind=0) for name in ("one", "two", "none"))]
    blobs = (("one", b"first", 4), ("two", b"second" * 1000, 512), ("none", b"", 1))
    image = _image(elf, build([uses], names), blobs=blobs)
    text = _section(image, ".text").address
    words = struct.unpack("<3i", _body(image, ".text"))
    places = [text + 4 * k + word for k, word in enumerate(words)]
    assert (
        image.bytes_at(places[0], 5) == b"first"
        and image.bytes_at(places[1], 6000) == b"second" * 1000
    )
    assert places[1] % 512 == 0 and _section(image, ".alpha.data").flags == 2
    symbols = _symbols(image)
    assert [symbols[name][3] for name in ("one", "two", "none")] == places
    assert symbols["two"][4] == 6000 and symbols["none"][4] == 0 and symbols["one"][1] == 2


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
    image = _image(
        elf,
        build(parts, names),
        build([code(name=".text.b")], [Name("b", ".text.b"), Name("c", ".text.b", binding=LOCAL)]),
    )
    assert list(_symbols(image)) == ["inner", "c", "_start", "b"]
    assert _section(image, ".symtab").info == 3
    text, index = (
        _section(image, ".text"),
        [section.name for section in image.sections].index(".text"),
    )
    assert _symbols(image)["inner"] == (0x02, 2, index, text.address + 1, 1)
    assert _symbols(image)["_start"] == (0x12, 2, index, text.address, 0)


def check_frames_are_indexed_in_the_order_of_code(elf: Linker) -> None:
    for machine in (X86, ARM):
        one = code(machine, bytes(32), relocations=())
        names = [START, Name("late", ".text", 16), Name("mid", ".text", 8)]
        first = build([one, frames([8, 8, 16], ["mid", "_start", "late"], machine)], names, machine)
        other = [code(machine, bytes(4), name=".text.z"), frames([4], ["z"], machine)]
        image = _image(elf, first, build(other, [Name("z", ".text.z")], machine), machine=machine)
        index, text = _section(image, ".eh_frame_hdr"), _section(image, ".text").address
        rows = list(struct.iter_unpack("<ii", _body(image, ".eh_frame_hdr")[12:]))
        assert [index.address + row[0] - text for row in rows] == [0, 8, 16, 32]
        assert _body(image, ".eh_frame")[-4:] == bytes(4)


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

        image = _image(elf, one("_start"), one("g"), machine=machine)
        text = _section(image, ".text").address
        assert _body(image, ".debug_str") == b"_start\0g\0"
        assert _body(image, ".debug_info") == struct.pack("<IQIQ", 1, text + 2, 8, text + 18)
        assert (
            _section(image, ".debug_str")[2:3] == (0x30,)
            and _section(image, ".debug_str").entry == 1
        )
        assert _section(image, ".debug_info").flags == 0
        bare = _image(elf, one("_start"), one("g"), machine=machine, debug=False)
        assert [
            s.name for s in bare.sections if s.name.startswith((".debug", ".symtab", ".strtab"))
        ] == []
        assert _body(bare, ".text") == _body(image, ".text")


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
        note = _body(_image(elf, start, weaker, only_data, machine=machine), ".note.gnu.property")
        assert note == _properties(1, machine).data
        assert _image(elf, start, none, machine=machine).section(".note.gnu.property") is None


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
        image = _image(elf, note(*properties))
        assert _body(image, ".note.gnu.property") == _properties(1).data
    for properties in ([], [other], [long]):
        assert _image(elf, note(*properties)).section(".note.gnu.property") is None


def check_program_headers(elf: Linker) -> None:
    parts = [
        code(),
        _properties(3),
        Part(".data", ALLOC | WRITE, bytes(5), 1),
        Part(".bss", ALLOC | WRITE, b"", 8, kind=NOBITS, size=9),
        frames([1], ["_start"]),
    ]
    image = _image(elf, build(parts, [START]))
    found = {section.name: section for section in image.sections}
    features, identity, index = (
        found[name] for name in (".note.gnu.property", ".note.gnu.build-id", ".eh_frame_hdr")
    )
    frames_end, dynamic = found[".eh_frame"].address + found[".eh_frame"].size, found[".dynamic"]
    assert [tuple(segment) for segment in image.segments] == [
        (1, 4, 0, 0, 0, frames_end, frames_end, 0x1000),
        (1, 5, 0x1000, 0x1000, 0x1000, 1, 1, 0x1000),
        (1, 6, 0x2000, 0x2000, 0x2000, dynamic.size, 0x1000, 0x1000),
        (1, 6, 0x3000, 0x3000, 0x3000, 5, 17, 0x1000),
        (0x6474E550, 4, index.offset, index.address, index.address, index.size, index.size, 4),
        (0x6474E553, 4, features.offset, features.address, features.address, 32, 32, 8),
        (4, 4, features.offset, features.address, features.address, 32, 32, 8),
        (4, 4, identity.offset, identity.address, identity.address, 36, 36, 4),
        (2, 6, dynamic.offset, dynamic.address, dynamic.address, dynamic.size, dynamic.size, 8),
        (0x6474E552, 4, 0x2000, 0x2000, 0x2000, dynamic.size, 0x1000, 1),
        (0x6474E551, 6, 0, 0, 0, 0, 0, 16),
    ]
    assert features.address == 64 + 56 * 11, "sections follow the headers"


def check_the_file_header(elf: Linker) -> None:
    for machine in (X86, ARM):
        image = _image(elf, build([code(machine)], [START], machine), machine=machine)
        table, count = image.unpack("<Q", 40)[0], len(image.sections)
        fields = struct.unpack_from("<16sHHIQQQIHHHHHH", image.data)
        identity, entry = b"\x7fELF\2\1\1" + bytes(9), _section(image, ".text").address
        assert fields[:5] == (identity, 3, machine, 1, entry)
        assert fields[5:] == (64, table, 0, 64, 56, 7, 64, count, count - 1)
        assert table % 8 == 0 and len(image.data) == table + 64 * count


def check_section_headers(elf: Linker) -> None:
    pointer = Part(".data.rel.ro", ALLOC | WRITE, bytes(8), 8, ((0, 1, "_start", 0),))
    load = code(data=bytes(4), relocations=((0, 9, "_start", 0),))
    text = Part(".rodata.str", ALLOC | 0x30, b"text\0", entry_size=1)
    parts = [load, text, pointer, frames([1], ["_start"])]
    image = _image(elf, build(parts, [START]), blobs=(("blob", b"x", 32),))
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
        ".dynamic": (6, 3, ".dynstr", 0, 8, 16),
        ".got": (1, 3, "", 0, 8, 0),
        ".symtab": (2, 0, ".strtab", 1, 8, 24),
        ".strtab": (3, 0, "", 0, 1, 0),
        ".shstrtab": (3, 0, "", 0, 1, 0),
    }
    assert _section(image, ".symtab").offset % 8 == 0


def check_the_tags_of_the_dynamic_section(elf: Linker) -> None:
    pointer = Part(".data.rel.ro", ALLOC | WRITE, bytes(8), 8, ((0, 1, "_start", 0),))
    for parts, relocations in (([], 0), ([pointer], 1)):
        image = _image(elf, build([code(), *parts], [START]))
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
        assert list(struct.iter_unpack("<QQ", _body(image, ".dynamic"))) == tags
        assert _body(image, ".dynsym") == bytes(24) and _body(image, ".dynstr") == b"\0"
        assert struct.unpack("<IIIIQI", _body(image, ".gnu.hash")) == (1, 1, 1, 0, 0, 0)


def check_constants_are_padded_with_zeros(elf: Linker) -> None:
    parts = [code(), Part(".rodata.a", ALLOC, b"a", 1), Part(".rodata.b", ALLOC, b"b", 4)]
    assert _body(_image(elf, build(parts, [START])), ".rodata") == b"a\0\0\0b"


def check_sections_go_where_their_flags_say(elf: Linker) -> None:
    parts = [
        code(),
        Part(".debug_loaded", ALLOC, b"constant", 1),
        Part(".rodata.str", ALLOC | 0x30, b"text\0", 1, entry_size=1),
        Part(".data.rel.rowing", ALLOC | WRITE, b"variable", 1),
        Part(".data.rel.ro.zeros", ALLOC | WRITE, b"", 1, kind=NOBITS, size=7),
        frames([1], ["_start"], kind=0x70000001),
    ]
    image = _image(elf, build(parts, [START]))
    assert _body(image, ".rodata") == b"constanttext\0" and _body(image, ".data") == b"variable"
    assert (_section(image, ".rodata").flags, _section(image, ".rodata").entry) == (2, 0)
    assert _section(image, ".bss").size == 7 and _section(image, ".eh_frame").kind == 1


def check_strings_of_different_shapes_are_no_longer_mergeable(elf: Linker) -> None:
    def one(name: str, width: int) -> bytes:
        strings = Part(".debug_str", 0x30, bytes(4), 1, entry_size=width)
        return build([code(name=name), strings], [Name("_start", name)] if width == 1 else [])

    section = _section(_image(elf, one(".text", 1), one(".text.b", 2)), ".debug_str")
    assert (section.flags, section.entry, section.size) == (0, 0, 8)


def check_unusual_objects_that_are_sound(elf: Linker) -> None:
    good = build([code()], [START])
    data_alone = edit_section(build([Part(".rodata", ALLOC, b"x")], []), ".symtab", kind=0)
    _image(elf, edit_header(good, abi=3), data_alone)
    once = edit_section(
        build([code(), Part(".rela.text", 0, b"", kind=4, entry_size=24)], [START]),
        ".rela.text",
        link=3,
        info=1,
    )
    _image(elf, once)
    wide = build([code(ARM), Part(".rodata", ALLOC, b"x", 0x10000)], [START], ARM)
    _image(elf, wide, machine=ARM)


def check_a_page_is_the_largest_alignment(elf: Linker) -> None:
    image = _image(elf, build([code()], [START]), blobs=(("blob", b"x", 0x1000),))
    assert _section(image, ".alpha.data").address == 0x1000
    image = _image(
        elf, build([code(ARM)], [START], ARM), machine=ARM, blobs=(("blob", b"x", 0x10000),)
    )
    assert _section(image, ".alpha.data").address == 0x10000


def check_frames_at_the_limits_of_their_form(elf: Linker) -> None:
    elf.link(refusals.LONG_FACTOR)
    elf.link(refusals.SHORTEST_FRAME)


def check_what_is_not_for_the_program_is_left_out(elf: Linker) -> None:
    parts = [
        code(),
        Part(".comment", 0x30, b"LLVM\0", entry_size=1),
        Part(".note.GNU-stack", 0, b""),
        Part(".llvm_addrsig", 0x80000000, b"\1", kind=0x6FFF4C03),
        Part(".init_array", ALLOC | WRITE, b"", 8, kind=14),
    ]
    image = _image(elf, build(parts, [START]))
    names = {section.name for section in image.sections}
    assert not names & {part.name for part in parts[1:]}


def check_an_undefined_name_that_nothing_uses_is_still_refused(elf: Linker) -> None:
    data = build([code()], [START, Name("f", UNDEFINED, kind=0)])
    assert elf.fault(lambda: elf.link(data)) == "UNDEFINED_SYMBOL"


def check_a_relocation_of_no_bytes_needs_no_target(elf: Linker) -> None:
    data = build([code(relocations=((0, 0, "", 0), (1, 0, "", 0)))], [START])
    assert _body(_image(elf, data), ".text") == b"\xc3"


def check_a_symbol_may_end_where_its_section_ends(elf: Linker) -> None:
    data = build([code(data=b"\x90\xc3")], [START, Name("end", ".text", 2)])
    _image(elf, edit_symbol(data, 1, size=2))


def check_any_function_can_be_the_entry(elf: Linker) -> None:
    image = _image(elf, build([code(data=b"\x90\xc3")], [Name("go", ".text", 1)]), entry="go")
    assert image.unpack("<Q", 24)[0] == _section(image, ".text").address + 1


def check_the_limit_of_two_gibibytes(elf: Linker) -> None:
    def program(size: int) -> bytes:
        parts = [code(), Part(".bss", ALLOC | WRITE, b"", 1, kind=NOBITS, size=size)]
        return build(parts, [START])

    room = (1 << 31) - 0x3000
    _image(elf, program(room))
    assert elf.fault(lambda: elf.link(program(room + 1))) == "TOO_LARGE"


def check_writable_code_flags_never_survive(elf: Linker) -> None:
    parts = [
        code(),
        Part(".data", ALLOC | WRITE, b"1", 1),
        Part(".text.x", ALLOC | EXECUTE, b"\xc3", 1),
    ]
    image = _image(elf, build(parts, [START]))
    assert all(load.flags & 3 != 3 for load in image.loads)


CHECKS: list[Callable[[Linker], None]] = [
    value
    for name, value in list(globals().items())
    if name.startswith("check_") and name not in ("check_relocation", "check_refusal")
]
