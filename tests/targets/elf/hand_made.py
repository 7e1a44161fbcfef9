"""Relocatable objects written field by field, so that a test can say exactly what is wrong with one.

The numbers are literals on purpose: the linker's own names for them are what is tested.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

X86, ARM = 62, 183
PROGBITS, SYMTAB, STRTAB, RELA, NOBITS = 1, 2, 3, 4, 8
WRITE, ALLOC, EXECUTE = 1, 2, 4
LOCAL, GLOBAL = 0, 1
NO_TYPE, DATA, FUNCTION, SECTION_SYMBOL, FILE_NAME = 0, 1, 2, 3, 4
UNDEFINED, ABSOLUTE = "", "*absolute*"

# Section header fields: offset and width.
SECTION_FIELDS = {
    "name": (0, 4),
    "kind": (4, 4),
    "flags": (8, 8),
    "address": (16, 8),
    "offset": (24, 8),
    "size": (32, 8),
    "link": (40, 4),
    "info": (44, 4),
    "align": (48, 8),
    "entry_size": (56, 8),
}
SYMBOL_FIELDS = {
    "name": (0, 4),
    "information": (4, 1),
    "section": (6, 2),
    "value": (8, 8),
    "size": (16, 8),
}
HEADER_FIELDS = {
    "class": (4, 1),
    "abi": (7, 1),
    "kind": (16, 2),
    "machine": (18, 2),
    "version": (20, 4),
    "section_table": (40, 8),
    "entry_size": (58, 2),
    "count": (60, 2),
    "names": (62, 2),
}
CODE = {X86: b"\xc3", ARM: b"\xc0\x03\x5f\xd6"}  # ret


@dataclass(frozen=True)
class Part:
    """A section: relocations are (offset, type, symbol name, addend)."""

    name: str
    flags: int
    data: bytes
    align: int = 1
    relocations: Sequence[tuple[int, int, str, int]] = ()
    kind: int = PROGBITS
    entry_size: int = 0
    size: int | None = None


@dataclass(frozen=True)
class Name:
    """A symbol in the section called `section`."""

    name: str
    section: str
    value: int = 0
    size: int = 0
    binding: int = GLOBAL
    kind: int = FUNCTION
    visibility: int = 2


def code(
    machine: int = X86, data: bytes | None = None, name: str = ".text", **more: object
) -> Part:
    return Part(name, ALLOC | EXECUTE, CODE[machine] if data is None else data, 16, **more)  # type: ignore[arg-type]


def build(parts: Sequence[Part], names: Sequence[Name], machine: int = X86) -> bytes:
    """The bytes of an object. Symbols are numbered locals first; symbol 0 is the null symbol."""
    names = sorted(names, key=lambda name: name.binding != LOCAL)
    number = {name.name: index for index, name in enumerate(names, 1)} | {"": 0}
    section_number = {part.name: index for index, part in enumerate(parts, 1)}
    related = [part for part in parts if part.relocations]
    symtab_number = len(parts) + len(related) + 1
    titles = [part.name for part in parts] + [".rela" + part.name for part in related]
    titles += [".symtab", ".strtab", ".shstrtab"]
    headers, bodies = [(0,) * 10], []
    strings, title_strings = bytearray(b"\0"), bytearray(b"\0")
    symbols = bytearray(24)
    for name in names:
        special = {UNDEFINED: 0, ABSOLUTE: 0xFFF1}
        index = special[name.section] if name.section in special else section_number[name.section]
        information = name.binding << 4 | name.kind
        symbols += struct.pack(
            "<IBBHQQ", len(strings), information, name.visibility, index, name.value, name.size
        )
        strings += name.name.encode() + b"\0"
    at = 64

    def add(
        title: str,
        kind: int,
        flags: int,
        data: bytes,
        link: int,
        info: int,
        align: int,
        entry: int,
        size: int,
    ) -> None:
        nonlocal at
        at += -at % max(align, 1)
        headers.append((len(title_strings), kind, flags, 0, at, size, link, info, align, entry))
        title_strings.extend(title.encode() + b"\0")
        bodies.append((at, data))
        at += len(data)

    for part in parts:
        size = len(part.data) if part.size is None else part.size
        add(part.name, part.kind, part.flags, part.data, 0, 0, part.align, part.entry_size, size)
    for part in related:
        rows = b"".join(
            struct.pack("<QIIq", offset, kind, number[symbol], addend)
            for offset, kind, symbol, addend in part.relocations
        )
        target = section_number[part.name]
        add(".rela" + part.name, RELA, 0x40, rows, symtab_number, target, 8, 24, len(rows))
    locals_ = 1 + sum(name.binding == LOCAL for name in names)
    add(".symtab", SYMTAB, 0, bytes(symbols), symtab_number + 1, locals_, 8, 24, len(symbols))
    add(".strtab", STRTAB, 0, bytes(strings), 0, 0, 1, 0, len(strings))
    all_titles = bytes(title_strings) + b".shstrtab\0"
    add(".shstrtab", STRTAB, 0, all_titles, 0, 0, 1, 0, len(all_titles))
    table = at + -at % 8
    data = bytearray(table)
    for offset, body in bodies:
        data[offset : offset + len(body)] = body
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    count = len(headers)
    data[:64] = struct.pack(
        "<16sHHIQQQIHHHHHH", identity, 1, machine, 1, 0, 0, table, 0, 64, 0, 0, 64, count, count - 1
    )
    return bytes(data) + b"".join(struct.pack("<IIQQQQIIQQ", *header) for header in headers)


def _set(
    data: bytes, base: int, fields: dict[str, tuple[int, int]], values: dict[str, int]
) -> bytes:
    edited = bytearray(data)
    for field, value in values.items():
        offset, width = fields[field]
        edited[base + offset : base + offset + width] = value.to_bytes(width, "little")
    return bytes(edited)


def edit_header(data: bytes, /, **values: int) -> bytes:
    return _set(data, 0, HEADER_FIELDS, values)


def section_numbers(data: bytes) -> dict[str, int]:
    """Section names to indices."""
    (table,) = struct.unpack_from("<Q", data, 40)
    count, names = struct.unpack_from("<HH", data, 60)
    (text,) = struct.unpack_from("<Q", data, table + 64 * names + 24)
    found = {}
    for index in range(count):
        start = text + struct.unpack_from("<I", data, table + 64 * index)[0]
        found[data[start : data.index(b"\0", start)].decode()] = index
    return found


def edit_section(data: bytes, section: str, /, **values: int) -> bytes:
    (table,) = struct.unpack_from("<Q", data, 40)
    return _set(data, table + 64 * section_numbers(data)[section], SECTION_FIELDS, values)


def section_offset(data: bytes, section: str) -> int:
    (table,) = struct.unpack_from("<Q", data, 40)
    return int(struct.unpack_from("<Q", data, table + 64 * section_numbers(data)[section] + 24)[0])


def edit_symbol(data: bytes, index: int, /, **values: int) -> bytes:
    return _set(data, section_offset(data, ".symtab") + 24 * index, SYMBOL_FIELDS, values)


def common_record(machine: int = X86) -> bytes:
    """A common frame record of the supported form."""
    body = (
        struct.pack("<I", 0)
        + b"\x01zR\0\x01\x78"
        + (b"\x10" if machine == X86 else b"\x1e")
        + b"\x01\x1b"
    )
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


def frame_record(at: int, code_size: int) -> bytes:
    """A frame record at offset `at` of a section whose common record is at 0; its code address is at `at` + 8."""
    body = struct.pack("<IiI", at + 4, 0, code_size) + b"\0"
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


def frames(
    sizes: Sequence[int], symbols: Sequence[str], machine: int = X86, **more: object
) -> Part:
    """An `.eh_frame` with one frame for each symbol."""
    data, relocations = common_record(machine), []
    for size, symbol in zip(sizes, symbols, strict=True):
        relocations.append((len(data) + 8, 2 if machine == X86 else 261, symbol, 0))
        data += frame_record(len(data), size)
    return Part(".eh_frame", ALLOC, data, 8, tuple(relocations), **more)  # type: ignore[arg-type]
