"""A sound executable with one thing made wrong, and the law of the re-reader that must notice.

Both digests are made right again after every change, so that they are not what notices; but for their own cases.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from targets.elf.hand_made import (
    ALLOC,
    DATA,
    LOCAL,
    NOBITS,
    WRITE,
    Name,
    Part,
    build,
    code,
    edit_section,
    frames,
    section_numbers,
    section_offset,
)
from targets.elf.linker_under_test import REAL, Linker

LOAD, DYNAMIC, NOTE, EH_FRAME, STACK, RELRO = 1, 2, 4, 0x6474E550, 0x6474E551, 0x6474E552
PROGRAM_FIELDS = {
    "kind": (0, 4),
    "flags": (4, 4),
    "offset": (8, 8),
    "address": (16, 8),
    "file_size": (32, 8),
    "size": (40, 8),
    "align": (48, 8),
}


@dataclass(frozen=True)
class Broken:
    title: str
    law: str
    change: Callable[[bytes], bytes]
    reseal: bool = True


@cache
def sound() -> bytes:
    """An executable with every kind of section. Made by the real linker, whatever is tested."""
    pointers = Part(
        ".data.rel.ro", ALLOC | WRITE, bytes(16), 8, ((0, 1, "f", 0), (8, 1, "text", 0))
    )
    parts = [
        code(data=bytes(16)),
        code(data=bytes(16), name=".text.f"),
        Part(".rodata", ALLOC, b"text of some length", 16),
        pointers,
        Part(".data", ALLOC | WRITE, bytes(32), 16),
        Part(".bss", ALLOC | WRITE, b"", 16, kind=NOBITS, size=5000),
        frames([16, 16], ["_start", "f"]),
        Part(".debug_str", 0x30, b"debug\0", entry_size=1),
    ]
    names = [
        Name("_start", ".text"),
        Name("f", ".text.f", size=16),
        Name("text", ".rodata", kind=DATA),
        Name("inner", ".text", 4, binding=LOCAL),
    ]
    return REAL.link(build(parts, names), blobs=(("blob", b"blob", 64),))


def reseal(data: bytes) -> bytes:
    sealed = bytearray(data)
    numbers = section_numbers(data)
    if ".note.gnu.build-id" not in numbers or ".alpha.manifest" not in numbers:
        return data
    note, manifest = (
        section_offset(data, ".note.gnu.build-id"),
        section_offset(data, ".alpha.manifest"),
    )
    sealed[note + 16 : note + 36] = bytes(20)
    sealed[manifest : manifest + 32] = bytes(32)
    sealed[note + 16 : note + 36] = hashlib.sha256(sealed).digest()[:20]
    sealed[manifest : manifest + 32] = hashlib.sha256(sealed).digest()
    return bytes(sealed)


def header(offset: int, width: int, value: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:offset] + value.to_bytes(width, "little") + data[offset + width :]


def segment(kind: int, number: int = 0, /, **values: int) -> Callable[[bytes], bytes]:
    """The number-th program header of a kind with some of its fields changed."""

    def change(data: bytes) -> bytes:
        found = [
            64 + 56 * k
            for k in range(data[56])
            if struct.unpack_from("<I", data, 64 + 56 * k) == (kind,)
        ]
        edited = bytearray(data)
        for field, value in values.items():
            offset, width = PROGRAM_FIELDS[field]
            at = found[number] + offset
            edited[at : at + width] = value.to_bytes(width, "little")
        return bytes(edited)

    return change


def section(name: str, /, **values: int) -> Callable[[bytes], bytes]:
    return lambda data: edit_section(data, name, **values)


def inside(name: str, offset: int, value: bytes) -> Callable[[bytes], bytes]:
    """Bytes of a section replaced."""

    def change(data: bytes) -> bytes:
        at = section_offset(data, name) + offset
        return data[:at] + value + data[at + len(value) :]

    return change


def added(name: str, offset: int, amount: int, shape: str = "<q") -> Callable[[bytes], bytes]:
    """A number in a section increased."""

    def change(data: bytes) -> bytes:
        at = section_offset(data, name) + offset
        (old,) = struct.unpack_from(shape, data, at)
        return data[:at] + struct.pack(shape, old + amount) + data[at + struct.calcsize(shape) :]

    return change


def swapped(name: str, first: int, second: int, size: int) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        at = section_offset(data, name)
        one, two = data[at + first : at + first + size], data[at + second : at + second + size]
        return inside(name, second, one)(inside(name, first, two)(data))

    return change


def cut(amount: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:-amount]


# Layout of the sound image: R at 0, RX at 0x1470, RELRO at 0x2000 (.data.rel.ro 16 bytes), RW at 0x3000.
BROKEN = [
    Broken("not ELF", "header", header(0, 1, 0)),
    Broken("32 bits", "header", header(4, 1, 1)),
    Broken("an operating system's own", "header", header(7, 1, 9)),
    Broken("not position-independent", "header", header(16, 2, 2)),
    Broken("another machine", "header", header(18, 2, 183)),
    Broken("another header size", "header", header(52, 2, 60)),
    Broken("another program header size", "header", header(54, 2, 32)),
    Broken("no program headers", "header", header(56, 2, 0)),
    Broken("program headers outside", "header", header(32, 8, 1 << 62)),
    Broken("no section headers", "header", header(60, 2, 0)),
    Broken("another section header size", "header", header(58, 2, 40), False),
    Broken("section headers outside", "header", header(40, 8, 1 << 40), False),
    Broken("section headers cut short", "header", cut(8), False),
    Broken("names of sections outside", "header", section(".shstrtab", size=4), False),
    Broken("a first section that is one", "header", lambda data: _first_section(data), False),
    Broken("a segment outside the file", "segments", segment(LOAD, 3, offset=0x100000)),
    Broken("more in the file than in memory", "segments", segment(LOAD, 3, size=8)),
    Broken("an alignment below the page", "segments", segment(LOAD, 1, align=0x100)),
    Broken("a segment elsewhere in its page", "segments", segment(LOAD, 3, address=0x3080)),
    Broken("a segment elsewhere in the file's page", "segments", segment(LOAD, 3, offset=0x3010)),
    Broken("segments on one page", "segments", segment(LOAD, 2, address=0x1000)),
    Broken("segments out of order", "segments", segment(LOAD, 1, address=0x9000)),
    Broken("writable code", "segments", segment(LOAD, 1, flags=7)),
    Broken("executable data", "segments", segment(LOAD, 3, flags=7)),
    Broken("two segments of code", "segments", segment(LOAD, 3, flags=5)),
    Broken("no segment of code", "segments", segment(LOAD, 1, flags=4)),
    Broken("headers that are not loaded", "segments", segment(LOAD, 0, address=0x1000)),
    Broken("headers from elsewhere in the file", "segments", segment(LOAD, 0, offset=0x1000)),
    Broken("nothing to load", "segments", lambda data: _nothing_loaded(data)),
    Broken("a segment of more than 2 GiB", "segments", segment(LOAD, 3, size=1 << 31)),
    Broken("an interpreter", "marks", segment(NOTE, 0, kind=3)),
    Broken("a thread-local block", "marks", segment(NOTE, 0, kind=7)),
    Broken("an executable stack", "marks", segment(STACK, 0, flags=7)),
    Broken("no word on the stack", "marks", segment(STACK, 0, kind=0)),
    Broken("no RELRO", "marks", segment(RELRO, 0, kind=0)),
    Broken("what is sealed elsewhere", "marks", section(".data.rel.ro", address=0x3000)),
    Broken("RELRO of part of a page", "marks", segment(RELRO, 0, size=0x800)),
    Broken("RELRO of nothing", "marks", segment(RELRO, 0, size=0)),
    Broken("RELRO beyond its segment", "marks", segment(RELRO, 0, size=0x2000)),
    Broken("RELRO of code", "marks", segment(RELRO, 0, address=0x1000, offset=0x1000)),
    Broken("an entry outside", "entry", header(24, 8, 0x900000)),
    Broken("an entry that is data", "entry", header(24, 8, 0x3000)),
    Broken("an entry that is a constant", "entry", header(24, 8, 0x40)),
    Broken("no dynamic section", "dynamic", segment(DYNAMIC, 0, kind=0)),
    Broken(
        "a dynamic section that stays writable",
        "dynamic",
        segment(DYNAMIC, 0, address=0x3000, size=32),
    ),
    Broken("a dynamic section among code", "dynamic", segment(DYNAMIC, 0, address=0x1470, size=16)),
    Broken("half a tag", "dynamic", segment(DYNAMIC, 0, size=200)),
    Broken("a needed library", "dynamic", inside(".dynamic", 0, struct.pack("<QQ", 1, 0))),
    *(
        Broken(f"tag {tag}", "dynamic", inside(".dynamic", 0, struct.pack("<QQ", tag, 0)))
        for tag in (12, 13, 22, 25, 26)
    ),
    Broken(
        "not marked as PIE",
        "dynamic",
        inside(".dynamic", 16 * 10, struct.pack("<QQ", 0x6FFFFFFB, 1)),
    ),
    Broken("no end of the tags", "dynamic", inside(".dynamic", 16 * 11, struct.pack("<QQ", 99, 0))),
    Broken("another relocation table", "dynamic", added(".dynamic", 16 * 5 + 8, 24)),
    Broken("a longer relocation table", "dynamic", added(".dynamic", 16 * 6 + 8, 24)),
    Broken("a relocation of another type", "relocations", inside(".rela.dyn", 8, b"\x01")),
    Broken("a relocation with a symbol", "relocations", inside(".rela.dyn", 12, b"\x01")),
    Broken("relocations out of order", "relocations", swapped(".rela.dyn", 0, 24, 24)),
    Broken("relocations of one place", "relocations", added(".rela.dyn", 24, -8)),
    Broken("relocations that overlap", "relocations", added(".rela.dyn", 24, -1)),
    Broken(
        "a relocation of code", "relocations", inside(".rela.dyn", 0, struct.pack("<Q", 0x1470))
    ),
    Broken(
        "a relocation of constants", "relocations", inside(".rela.dyn", 0, struct.pack("<Q", 0x40))
    ),
    Broken(
        "a relocation of no place",
        "relocations",
        inside(".rela.dyn", 24, struct.pack("<Q", 1 << 40)),
    ),
    Broken(
        "a relocation of zeros beyond the file",
        "relocations",
        inside(".rela.dyn", 24, struct.pack("<Q", 0x3100)),
    ),
    Broken("a pointer with bytes of its own", "relocations", inside(".data.rel.ro", 0, b"\x01")),
    Broken(
        "a pointer to nowhere", "relocations", inside(".rela.dyn", 16, struct.pack("<q", 1 << 30))
    ),
    Broken(
        "a pointer below the image", "relocations", inside(".rela.dyn", 16, struct.pack("<q", -1))
    ),
    Broken("a section outside the file", "sections", section(".debug_str", size=1 << 40)),
    Broken("sections that overlap", "sections", section(".debug_str", offset=0x3000)),
    Broken("a section over the headers", "sections", section(".debug_str", offset=0)),
    Broken(
        "a section over the section headers",
        "sections",
        lambda data: section(".debug_str", offset=len(data) - 8)(data),
    ),
    Broken("an unloaded section with an address", "sections", section(".debug_str", address=64)),
    Broken("a section off its alignment", "sections", section(".rodata", align=1 << 20)),
    Broken("a section of another segment's kind", "sections", section(".rodata", flags=3)),
    Broken("code among constants", "sections", section(".rodata", flags=6)),
    Broken("constants among code", "sections", section(".text", flags=2)),
    Broken("a section beyond its segment", "sections", section(".bss", size=0x10000)),
    Broken("a section elsewhere in memory", "sections", section(".text", address=0x1010)),
    Broken("a section elsewhere in the file", "sections", section(".text", offset=0x1800)),
    Broken("a section in no segment", "sections", section(".data", address=0x100000)),
    Broken("half a symbol", "symbols", section(".symtab", size=24 * 5 - 1)),
    Broken("symbols without names", "symbols", section(".symtab", link=99)),
    Broken("a symbol name outside", "symbols", inside(".symtab", 24, b"\xff\xff")),
    Broken("no names of symbols", "symbols", lambda data: _renamed(data, ".strtab")),
    Broken("a symbol name without end", "symbols", lambda data: _shorter_names(data)),
    Broken("a symbol before its section", "symbols", added(".symtab", 24 + 8, -8)),
    Broken("an undefined symbol", "symbols", inside(".symtab", 24 + 6, b"\0\0")),
    Broken("a symbol of no section", "symbols", inside(".symtab", 24 + 6, b"\x63\0")),
    Broken("a symbol outside its section", "symbols", added(".symtab", 24 + 8, 0x1000)),
    Broken("a symbol that ends outside", "symbols", added(".symtab", 24 + 16, 0x1000)),
    Broken("a local after globals", "symbols", section(".symtab", info=1)),
    Broken("an index that is not marked", "frames", segment(EH_FRAME, 0, address=0x40)),
    Broken("no index", "frames", lambda data: _renamed(data, ".eh_frame_hdr")),
    Broken("no frames", "frames", lambda data: _renamed(data, ".eh_frame")),
    Broken("another encoding", "frames", inside(".eh_frame_hdr", 1, b"\x03")),
    Broken("an index of other frames", "frames", added(".eh_frame_hdr", 4, 8, "<i")),
    Broken("an index of one row fewer", "frames", added(".eh_frame_hdr", 8, -1, "<I")),
    Broken("an index out of order", "frames", swapped(".eh_frame_hdr", 12, 20, 8)),
    Broken("an index of another place", "frames", added(".eh_frame_hdr", 12, 1, "<i")),
    Broken("an index of another frame", "frames", added(".eh_frame_hdr", 16, 24, "<i")),
    Broken("a frame of more than its code", "frames", added(".eh_frame", 24 + 12, 1, "<I")),
    Broken("a frame of no code", "frames", added(".eh_frame", 48 + 12, 0x10000, "<I")),
    Broken("a frame of nothing", "frames", inside(".eh_frame", 48 + 12, bytes(4))),
    Broken("a frame with another parent", "frames", added(".eh_frame", 24 + 4, 4, "<I")),
    Broken("an end within the frames", "frames", inside(".eh_frame", 24, bytes(4))),
    Broken("a frame that ends outside", "frames", added(".eh_frame", 48, 8, "<I")),
    Broken("another note", "identity", inside(".note.gnu.build-id", 0, b"\x05")),
    Broken("no note", "identity", lambda data: _renamed(data, ".note.gnu.build-id")),
    Broken("no manifest", "identity", lambda data: _renamed(data, ".alpha.manifest")),
    Broken("another identity", "identity", inside(".note.gnu.build-id", 16, b"\xaa\xbb"), False),
    Broken("another constant", "identity", inside(".rodata", 0, b"T"), False),
    Broken("a manifest too short for its digest", "digest", section(".alpha.manifest", size=31)),
    Broken("another digest", "digest", inside(".alpha.manifest", 0, b"\xaa\xbb\xcc"), False),
]


def _first_section(data: bytes) -> bytes:
    (table,) = struct.unpack_from("<Q", data, 40)
    return data[:table] + b"\x01" + data[table + 1 :]


def _nothing_loaded(data: bytes) -> bytes:
    for _ in range(4):
        data = segment(LOAD, 0, kind=0)(data)
    return data


def _shorter_names(data: bytes) -> bytes:
    """The last name of the symbols' names without its end."""
    start = section_offset(data, ".strtab")
    end = section_offset(data, ".shstrtab")
    return section(".strtab", size=end - start - 1)(data)


def _renamed(data: bytes, name: str) -> bytes:
    return data.replace(name.encode() + b"\0", b"?" + name.encode()[1:] + b"\0", 1)


def check_broken(elf: Linker, case: Broken) -> None:
    data = case.change(sound())
    assert data != sound(), "the case changes nothing"
    message = ""
    try:
        elf.verify(reseal(data) if case.reseal else data)
    except Exception as error:
        if type(error).__name__ != "LinkError":
            raise
        message = str(error)
    assert message.startswith(case.law + ": the linked image breaks a law: "), message or "accepted"


def check_sound(elf: Linker) -> None:
    elf.verify(sound())
    elf.verify(reseal(sound()))
