"""Where a linker must put things, and what it must write there."""

from __future__ import annotations

import struct
from collections.abc import Callable

from alpha.elf.image import Image
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
    frames,
)
from targets.elf.linker_under_test import Linker
from targets.elf.looking import body_of, linked, section_of, symbols_of

START = Name("_start", ".text")


def _relative(image: Image) -> list[tuple[int, int, int]]:
    return list(struct.iter_unpack("<QQq", body_of(image, ".rela.dyn")))


def check_code_is_joined_in_order_and_padded_with_traps(elf: Linker) -> None:
    first = build([code(data=b"\xc3")], [START])
    second = build([code(data=b"\x90\xc3", name=".text.second")], [Name("f", ".text.second", 1)])
    image = linked(elf, first, second)
    text = section_of(image, ".text")
    assert body_of(image, ".text") == b"\xc3" + b"\xcc" * 15 + b"\x90\xc3"
    assert symbols_of(image)["f"][3] == text.address + 17
    assert image.unpack("<Q", 24)[0] == text.address
    arm = [
        build([code(ARM, name=name)], [Name(symbol, name)], ARM)
        for name, symbol in ((".text", "_start"), (".text.f", "f"))
    ]
    image = linked(elf, *arm, machine=ARM)
    assert body_of(image, ".text")[4:16] == bytes(12)


def check_segments_are_apart_and_in_order(elf: Linker) -> None:
    parts = [
        code(),
        Part(".rodata", ALLOC, b"ro", 4),
        Part(".data.rel.ro", ALLOC | WRITE, b"relocate", 8),
        Part(".data", ALLOC | WRITE, b"data", 8),
        Part(".bss", ALLOC | WRITE, b"", 64, kind=NOBITS, size=100),
    ]
    for machine, page in ((X86, 0x1000), (ARM, 0x10000)):
        image = linked(elf, build(parts, [START], machine), machine=machine)
        assert [load.flags for load in image.loads] == [4, 5, 6, 6]
        assert [load.address // page for load in image.loads] == [0, 1, 2, 3]
        assert [load.offset // page for load in image.loads] == [0, 0, 1, 2]
        assert image.loads[1].offset == image.loads[0].file_size
        assert image.loads[1].address == page + image.loads[1].offset
        assert image.loads[2].size == page and image.loads[2].file_size == 8
        assert image.loads[3].file_size == 4 and image.loads[3].size == 64 + 100
        names = [".data.rel.ro", ".data", ".bss"]
        assert [section_of(image, name).address for name in names] == [
            2 * page,
            3 * page,
            3 * page + 64,
        ]


def check_segments_follow_one_another_in_the_file(elf: Linker) -> None:
    parts = [code(), Part(".data", ALLOC | WRITE, b"data", 8)]
    image = linked(elf, build(parts, [START]))
    constants, text, data = image.loads
    assert text.offset == constants.file_size
    assert data.offset == text.offset + text.file_size
    assert [load.address for load in (text, data)] == [0x1000 + text.offset, 0x2000 + data.offset]


def check_what_no_loader_writes_is_read_only(elf: Linker) -> None:
    for machine in (X86, ARM):
        image = linked(elf, build([code(machine)], [START], machine), machine=machine)
        assert [load.flags for load in image.loads] == [4, 5]
        dynamic = section_of(image, ".dynamic")
        assert dynamic.flags == 2 and image.loads[0].size >= dynamic.address + dynamic.size
        assert image.unpack("<H", 16) == (3,) and image.unpack("<H", 18) == (machine,)


def check_an_empty_writable_part_makes_no_segment(elf: Linker) -> None:
    image = linked(elf, build([code(), Part(".data", ALLOC | WRITE, b"", 8)], [START]))
    assert [load.flags for load in image.loads] == [4, 5]


def check_calls_between_objects(elf: Linker) -> None:
    caller = build(
        [code(data=b"\xe8\0\0\0\0\xc3", relocations=((1, 4, "f", -4),))],
        [START, Name("f", UNDEFINED, kind=0)],
    )
    callee = build([code(name=".text.f", data=b"\x90\xc3")], [Name("f", ".text.f", 1)])
    image = linked(elf, caller, callee)
    assert body_of(image, ".text")[:6] == b"\xe8" + struct.pack("<i", 17 - 5) + b"\xc3"


def check_a_local_name_is_its_own_object_s(elf: Linker) -> None:
    def one(names: list[Name], at: int) -> bytes:
        data = b"\xe8\0\0\0\0" + b"\x90" * at + b"\xc3"
        local = Name("here", ".text", 5 + at, binding=LOCAL)
        return build([code(data=data, relocations=((1, 2, "here", -4),))], [local, *names])

    image = linked(elf, one([START], 1), one([], 3))
    text = body_of(image, ".text")
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
    image = linked(elf, build(parts, names))
    relro, at = section_of(image, ".data.rel.ro"), section_of(image, ".data").address + 24
    ro, text = section_of(image, ".rodata").address, section_of(image, ".text").address
    expected = [(relro.address, 8, ro + 11), (relro.address + 16, 8, text), (at, 8, 3)]
    assert _relative(image) == expected
    assert body_of(image, ".data.rel.ro") == bytes(8) + b"\xff" * 8 + bytes(8)
    tags = dict(struct.iter_unpack("<QQ", body_of(image, ".dynamic")))
    assert tags[8] == 72 and tags[0x6FFFFFF9] == 3 and image.section(".got") is None
    arm = [
        Part(
            p.name, p.flags, p.data, p.align, tuple((o, 257, s, a) for o, _, s, a in p.relocations)
        )
        for p in parts[1:]
    ]
    image = linked(elf, build([code(ARM), *arm], names, ARM), machine=ARM)
    assert [row[1] for row in _relative(image)] == [1027] * 3


def check_a_pointer_may_stand_past_the_end(elf: Linker) -> None:
    data = Part(".data", ALLOC | WRITE, bytes(8), 8, ((0, 1, "end", 0),))
    image = linked(elf, build([code(), data], [START, Name("end", ".data", 8, kind=DATA)]))
    end = section_of(image, ".data").address + 8
    assert _relative(image) == [(end - 8, 8, end)]


def check_slots_are_shared_and_relative(elf: Linker) -> None:
    loads = code(
        data=bytes(21), relocations=((3, 42, "x", -4), (10, 9, "y", -4), (17, 41, "x", -4))
    )
    data = Part(".data", ALLOC | WRITE, bytes(16), 8)
    names = [START, Name("x", ".data", 0, kind=DATA), Name("y", ".data", 8, kind=DATA)]
    image = linked(elf, build([loads, data], names))
    text, got, at = (
        section_of(image, ".text"),
        section_of(image, ".got"),
        section_of(image, ".data").address,
    )
    assert got.size == 16 and body_of(image, ".got") == bytes(16)
    words = [struct.unpack_from("<i", body_of(image, ".text"), offset)[0] for offset in (3, 10, 17)]
    slots = [
        text.address + offset + 4 + word for offset, word in zip((3, 10, 17), words, strict=True)
    ]
    assert slots == [got.address, got.address + 8, got.address]
    assert _relative(image) == [(got.address, 8, at), (got.address + 8, 8, at + 8)]
    arm = code(
        ARM, b"\x00\x00\x00\x90\x00\x00\x40\xf9", relocations=((0, 311, "x", 0), (4, 312, "x", 0))
    )
    image = linked(elf, build([arm, data], names, ARM), machine=ARM)
    first, second = struct.unpack("<II", body_of(image, ".text"))
    pages = (first >> 29 & 3) | (first >> 5 & 0x7FFFF) << 2
    slot = (
        (section_of(image, ".text").address & ~0xFFF) + (pages << 12) + (second >> 10 & 0xFFF) * 8
    )
    assert slot == section_of(image, ".got").address


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
    text = section_of(image, ".text")
    words = struct.unpack(f"<{len(RESERVED)}i", body_of(image, ".text"))
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
    plain = _reserved(linked(elf, build([distances], names)))
    assert plain["__rela_start"] == plain["__rela_end"] and plain["__ehdr_start"] == 0
    pointer = Part(".data.rel.ro", ALLOC | WRITE, bytes(8), 8, ((0, 1, "_start", 0),))
    image = linked(elf, build([distances, pointer], names), manifest=b"manifest")
    found = _reserved(image)
    rela, manifest = section_of(image, ".rela.dyn"), section_of(image, ".alpha.manifest")
    assert (found["__rela_start"], found["__rela_end"]) == (rela.address, rela.address + 24)
    assert (found["__relro_start"], found["__relro_end"]) == (0x2000, 0x3000)
    assert found["__alpha_digest"] == manifest.address
    assert found["__alpha_manifest_start"] == manifest.address + 32
    assert found["__alpha_manifest_end"] == manifest.address + 40
    assert image.bytes_at(found["__alpha_manifest_start"], 8) == b"manifest"


def check_blobs_are_read_only_data_where_they_should_be(elf: Linker) -> None:
    uses = code(data=bytes(12), relocations=((0, 2, "one", 0), (4, 2, "two", 0), (8, 2, "none", 0)))
    names = [START, *(Name(name, UNDEFINED, kind=0) for name in ("one", "two", "none"))]
    blobs = (("one", b"first", 4), ("two", b"second" * 1000, 512), ("none", b"", 1))
    image = linked(elf, build([uses], names), blobs=blobs)
    text = section_of(image, ".text").address
    words = struct.unpack("<3i", body_of(image, ".text"))
    places = [text + 4 * k + word for k, word in enumerate(words)]
    assert (
        image.bytes_at(places[0], 5) == b"first"
        and image.bytes_at(places[1], 6000) == b"second" * 1000
    )
    assert places[1] % 512 == 0 and section_of(image, ".alpha.data").flags == 2
    symbols = symbols_of(image)
    assert [symbols[name][3] for name in ("one", "two", "none")] == places
    assert symbols["two"][4] == 6000 and symbols["none"][4] == 0 and symbols["one"][1] == 2


def check_sections_that_are_left_out(elf: Linker) -> None:
    caller = code(data=b"\xe8\0\0\0\0\xc3", relocations=((1, 4, "f", -4),))
    parts = [
        caller,
        code(name=".text.unit", data=b"\x90\xc3"),
        Part(".rodata.unit", ALLOC, b"text", 1),
        Part(".debug_info", 0, b"\xff" * 8, relocations=((0, 1, "f", 0),)),
        Part(".debug_ranges", 0, b"\xff" * 8, relocations=((0, 1, "f", 0),)),
    ]
    names = [START, Name("f", ".text.unit")]
    left_out = frozenset({".text.unit", ".rodata.unit"})
    image = linked(elf, build(parts, names), left_out=left_out)
    text = section_of(image, ".text")
    assert text.size == 6 and image.section(".rodata") is None
    assert struct.unpack_from("<i", body_of(image, ".text"), 1)[0] == -(text.address + 5)
    assert body_of(image, ".debug_info") == b"\xff" * 8
    assert body_of(image, ".debug_ranges") == b"\1" + bytes(7), "0 would end the list"
    assert "f" not in symbols_of(image)


def check_constants_are_padded_with_zeros(elf: Linker) -> None:
    parts = [code(), Part(".rodata.a", ALLOC, b"a", 1), Part(".rodata.b", ALLOC, b"b", 4)]
    assert body_of(linked(elf, build(parts, [START])), ".rodata") == b"a\0\0\0b"


def check_sections_go_where_their_flags_say(elf: Linker) -> None:
    parts = [
        code(),
        Part(".debug_loaded", ALLOC, b"constant", 1),
        Part(".rodata.str", ALLOC | 0x30, b"text\0", 1, entry_size=1),
        Part(".data.rel.rowing", ALLOC | WRITE, b"variable", 1),
        Part(".data.rel.ro.zeros", ALLOC | WRITE, b"", 1, kind=NOBITS, size=7),
        frames([1], ["_start"], kind=0x70000001),
    ]
    image = linked(elf, build(parts, [START]))
    assert body_of(image, ".rodata") == b"constanttext\0" and body_of(image, ".data") == b"variable"
    assert (section_of(image, ".rodata").flags, section_of(image, ".rodata").entry) == (2, 0)
    assert section_of(image, ".bss").size == 7 and section_of(image, ".eh_frame").kind == 1


def check_unusual_objects_that_are_sound(elf: Linker) -> None:
    good = build([code()], [START])
    data_alone = edit_section(build([Part(".rodata", ALLOC, b"x")], []), ".symtab", kind=0)
    linked(elf, edit_header(good, abi=3), data_alone)
    once = edit_section(
        build([code(), Part(".rela.text", 0, b"", kind=4, entry_size=24)], [START]),
        ".rela.text",
        link=3,
        info=1,
    )
    linked(elf, once)
    wide = build([code(ARM), Part(".rodata", ALLOC, b"x", 0x10000)], [START], ARM)
    linked(elf, wide, machine=ARM)


def check_a_page_is_the_largest_alignment(elf: Linker) -> None:
    image = linked(elf, build([code()], [START]), blobs=(("blob", b"x", 0x1000),))
    assert section_of(image, ".alpha.data").address == 0x1000
    image = linked(
        elf, build([code(ARM)], [START], ARM), machine=ARM, blobs=(("blob", b"x", 0x10000),)
    )
    assert section_of(image, ".alpha.data").address == 0x10000


def check_an_undefined_name_that_nothing_uses_is_still_refused(elf: Linker) -> None:
    data = build([code()], [START, Name("f", UNDEFINED, kind=0)])
    assert elf.fault(lambda: elf.link(data)) == "UNDEFINED_SYMBOL"


def check_a_relocation_of_no_bytes_needs_no_target(elf: Linker) -> None:
    data = build([code(relocations=((0, 0, "", 0), (1, 0, "", 0)))], [START])
    assert body_of(linked(elf, data), ".text") == b"\xc3"


def check_any_function_can_be_the_entry(elf: Linker) -> None:
    image = linked(elf, build([code(data=b"\x90\xc3")], [Name("go", ".text", 1)]), entry="go")
    assert image.unpack("<Q", 24)[0] == section_of(image, ".text").address + 1


def check_the_limit_of_two_gibibytes(elf: Linker) -> None:
    def program(size: int) -> bytes:
        parts = [code(), Part(".bss", ALLOC | WRITE, b"", 1, kind=NOBITS, size=size)]
        return build(parts, [START])

    begin = linked(elf, program(1)).loads[-1].address
    room = (1 << 31) - begin
    linked(elf, program(room))
    assert elf.fault(lambda: elf.link(program(room + 1))) == "TOO_LARGE"


def check_writable_code_flags_never_survive(elf: Linker) -> None:
    parts = [
        code(),
        Part(".data", ALLOC | WRITE, b"1", 1),
        Part(".text.x", ALLOC | EXECUTE, b"\xc3", 1),
    ]
    image = linked(elf, build(parts, [START]))
    assert all(load.flags & 3 != 3 for load in image.loads)


PLACE_CHECKS: list[Callable[[Linker], None]] = [
    value for name, value in list(globals().items()) if name.startswith("check_")
]
