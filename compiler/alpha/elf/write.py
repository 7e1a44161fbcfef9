"""Headers, symbols and digests around the contents: the file itself.

Nothing but the arguments reaches the bytes: no clock, path, locale or hash order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from alpha.elf import form
from alpha.elf.collect import DIGEST_SIZE, MANIFEST_SECTION, Collection, Output, Segment
from alpha.elf.form import align_up
from alpha.elf.layout import Layout
from alpha.elf.notes import BUILD_ID_SECTION, BUILD_ID_SIZE, build_id_note
from alpha.elf.resolve import Resolution

_FLAGS: Final = {
    Segment.R: form.SHF_ALLOC,
    Segment.RX: form.SHF_ALLOC | form.SHF_EXECINSTR,
    Segment.RELRO: form.SHF_ALLOC | form.SHF_WRITE,
    Segment.RW: form.SHF_ALLOC | form.SHF_WRITE,
    Segment.FILE: 0,
}
# Sections whose header names another section.
_LINKS: Final = {
    ".dynsym": ".dynstr",
    ".gnu.hash": ".dynsym",
    ".rela.dyn": ".dynsym",
    ".dynamic": ".dynstr",
    ".symtab": ".strtab",
}


class _Entry(NamedTuple):
    """A section header before its name and link have numbers."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    info: int
    align: int
    entry_size: int


class _Chunk(NamedTuple):
    """Bytes of the file at an offset, in parts that follow each other."""

    offset: int
    name: str
    parts: tuple[bytes, ...]


def write(
    machine: int,
    resolution: Resolution,
    collection: Collection,
    layout: Layout,
    contents: dict[str, tuple[bytes, ...]],
    symbols: bool,
) -> bytes:
    """The executable or shared object. `symbols`: keep the symbol table."""
    entries = [_entry(output, layout) for output in collection.outputs]
    chunks = [
        _Chunk(each.offset, each.name, contents[each.name])
        for each in entries
        if each.name in contents
    ]
    end = layout.file_end
    for table_entry, body in _tail(resolution, collection, layout, symbols):
        entries.append(table_entry._replace(offset=align_up(end, table_entry.align)))
        chunks.append(_Chunk(entries[-1].offset, table_entry.name, (body,)))
        end = entries[-1].offset + len(body)
    table = align_up(end, 8)
    chunks.append(_Chunk(table, "", (_section_headers(entries),)))
    entry = resolution.entry
    entry_address = 0 if entry is None else layout.address(collection, entry)
    head = _file_header(machine, entry_address, table, layout, len(entries)) + _program_headers(
        layout
    )
    return _sealed([_Chunk(0, "", (head,)), *chunks])


def _entry(output: Output, layout: Layout) -> _Entry:
    return _Entry(
        output.name,
        output.kind,
        _FLAGS[output.segment] | output.flags,
        layout.addresses[output.name],
        layout.offsets[output.name],
        output.size,
        1 if output.kind == form.SHT_DYNSYM else 0,  # the first symbol that is not local
        output.align,
        output.entry_size,
    )


def _tail(
    resolution: Resolution, collection: Collection, layout: Layout, symbols: bool
) -> Iterator[tuple[_Entry, bytes]]:
    """The tables that are in no segment: symbols and names. The names of sections come last."""
    names = [output.name for output in collection.outputs]
    if symbols:
        table, strings, local = _symbols(resolution, collection, layout, names)
        shape = form.SYMBOL.size
        yield _Entry(".symtab", form.SHT_SYMTAB, 0, 0, 0, len(table), local, 8, shape), table
        yield _Entry(".strtab", form.SHT_STRTAB, 0, 0, 0, len(strings), 0, 1, 0), strings
        names += [".symtab", ".strtab"]
    text = _name_table([*names, ".shstrtab"])
    yield _Entry(".shstrtab", form.SHT_STRTAB, 0, 0, 0, len(text), 0, 1, 0), text


def _name_table(names: Sequence[str]) -> bytes:
    return b"\0" + b"".join(name.encode("ascii") + b"\0" for name in names)


def _symbols(
    resolution: Resolution, collection: Collection, layout: Layout, names: Sequence[str]
) -> tuple[bytes, bytes, int]:
    """Symbol table, its names, and the number of local symbols (they come first)."""
    section_index = {name: index for index, name in enumerate(names, 1)}
    local: list[bytes] = [bytes(form.SYMBOL.size)]
    other: list[bytes] = []
    strings = bytearray(b"\0")
    for each in resolution.objects:
        for symbol in each.symbols:
            if not symbol.name or not 0 < symbol.section < form.SHN_LORESERVE:
                continue
            if symbol.name.startswith(".L"):
                continue  # a label of the assembler's own, for nothing that anyone named
            section = each.sections[symbol.section]
            if not section.allocated or section not in collection.homes:
                continue
            home, at = collection.homes[section]
            row = form.SYMBOL.pack(
                len(strings),
                symbol.binding << 4 | symbol.kind,
                symbol.visibility,
                section_index[home],
                layout.addresses[home] + at + symbol.value,
                symbol.size,
            )
            strings += symbol.name.encode("ascii") + b"\0"
            (local if symbol.binding == form.STB_LOCAL else other).append(row)
    return b"".join(local + other), bytes(strings), len(local)


def _section_headers(entries: Sequence[_Entry]) -> bytes:
    index = {entry.name: number for number, entry in enumerate(entries, 1)}
    rows = [bytes(form.SECTION_HEADER.size)]
    name = 1
    for entry in entries:
        rows.append(
            form.SECTION_HEADER.pack(
                name,
                *entry[1:6],
                index[_LINKS[entry.name]] if entry.name in _LINKS else 0,
                *entry[6:],
            )
        )
        name += len(entry.name) + 1
    return b"".join(rows)


def _file_header(
    machine: int, entry: int, sections_offset: int, layout: Layout, sections: int
) -> bytes:
    return form.FILE_HEADER.pack(
        form.MAGIC,
        form.ET_DYN,
        machine,
        1,
        entry,
        form.FILE_HEADER.size,
        sections_offset,
        0,
        form.FILE_HEADER.size,
        form.PROGRAM_HEADER.size,
        len(layout.headers),
        form.SECTION_HEADER.size,
        sections + 1,
        sections,  # the names of sections come last
    )


def _program_headers(layout: Layout) -> bytes:
    return b"".join(
        form.PROGRAM_HEADER.pack(
            header.kind,
            header.permissions,
            header.offset,
            header.address,
            header.address,
            header.file_size,
            header.memory_size,
            header.align,
        )
        for header in layout.headers
    )


def _sealed(chunks: Sequence[_Chunk]) -> bytes:
    """The file with its two digests: the build identity over the file without either, then the SHA-256 over the file
    with the identity and without the digest. Parts are joined once: data may be large.
    """
    parts: list[bytes] = []
    position: dict[str, int] = {}
    end = 0
    for chunk in chunks:
        parts.append(bytes(chunk.offset - end))
        position[chunk.name] = len(parts)
        parts.extend(chunk.parts)
        end = chunk.offset + sum(len(part) for part in chunk.parts)
    parts[position[BUILD_ID_SECTION]] = build_id_note(_sha256(parts)[:BUILD_ID_SIZE])
    manifest = position[MANIFEST_SECTION]
    parts[manifest] = _sha256(parts) + parts[manifest][DIGEST_SIZE:]
    return b"".join(parts)


def _sha256(parts: Sequence[bytes]) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()
