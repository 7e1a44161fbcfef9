"""The strict reader of relocatable objects.

It accepts what LLVM's code generator and `llvm-mc` write for Alpha's code and refuses everything else by name. Every
offset is checked before it is followed, so no input can make the linker look outside its own buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from alpha.base.record import record
from alpha.elf import form
from alpha.elf.errors import Fault, LinkError

# Offset in the section, type, symbol index, addend. A plain tuple: an object holds thousands.
Relocation: TypeAlias = tuple[int, int, int, int]

LARGEST_ALIGNMENT = 1 << 16
_CONSTRUCTOR_KINDS = (form.SHT_INIT_ARRAY, form.SHT_FINI_ARRAY, form.SHT_PREINIT_ARRAY)
_SYMBOL_KINDS = (form.STT_NOTYPE, form.STT_OBJECT, form.STT_FUNC, form.STT_SECTION, form.STT_FILE)


# Compared by identity: two sections with equal bytes are still two places.
@record(eq=False)
class Section:
    """A section of one object. `data` is empty and `size` counts where the file holds no bytes (`.bss`)."""

    owner: str
    index: int
    name: str
    kind: int
    flags: int
    data: bytes
    size: int
    align: int
    entry_size: int
    relocations: tuple[Relocation, ...] = ()

    @property
    def allocated(self) -> bool:
        return bool(self.flags & form.SHF_ALLOC)

    @property
    def where(self) -> str:
        return f"{self.owner}: {self.name}"


class Symbol(NamedTuple):
    """A symbol; `section` is the index of its section, or one of ELF's reserved indices."""

    name: str
    value: int
    size: int
    binding: int
    kind: int
    visibility: int
    section: int


@record
class Object:
    """A relocatable object; both tables keep the file's indices."""

    name: str
    machine: int
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]


class _Header(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


def read_object(name: str, data: bytes) -> Object:
    """The object in `data`; `name` appears in refusals. Raises `LinkError`."""
    machine, headers, names = _read_headers(name, data)
    bodies = _read_bodies(name, data, headers, names)
    symbols = _read_symbols(name, headers, names, bodies)
    for title, header in zip(names, headers, strict=True):
        _refuse_unsupported(f"{name}: {title}", title, header)
    relocations = _read_relocations(name, headers, names, bodies, len(symbols))
    sections = tuple(
        Section(
            name,
            index,
            names[index],
            header.kind,
            header.flags,
            bodies[index],
            header.size,
            max(header.align, 1),
            header.entry_size,
            relocations.get(index, ()),
        )
        for index, header in enumerate(headers)
    )
    return Object(name, machine, sections, symbols)


def _slice(data: bytes, offset: int, size: int, where: str) -> bytes:
    if offset + size > len(data):
        raise LinkError(Fault.OUTSIDE_FILE, where)
    return data[offset : offset + size]


def _names(table: bytes, offsets: Sequence[int], where: str) -> list[str]:
    """The names at `offsets` of a string table."""
    try:
        text = table.decode("ascii")
    except UnicodeDecodeError:
        raise LinkError(Fault.BAD_NAME, where, "not ASCII") from None
    names = []
    for number, offset in enumerate(offsets):
        end = text.find("\0", offset)
        if end < 0:
            raise LinkError(Fault.BAD_NAME, f"{where} {number}", "outside its string table")
        names.append(text[offset:end])
    return names


def _read_headers(name: str, data: bytes) -> tuple[int, list[_Header], list[str]]:
    fields = form.FILE_HEADER.unpack(_slice(data, 0, form.FILE_HEADER.size, f"{name}: file header"))
    identity, kind, machine, version = fields[:4]
    table_offset, entry_size, count, names_index = fields[6], *fields[11:14]
    if (
        identity[:7] != form.MAGIC
        or identity[7] not in (0, 3)
        or (kind, version) != (form.ET_REL, 1)
    ):
        raise LinkError(Fault.NOT_AN_OBJECT, name)
    where = f"{name}: section header table"
    if entry_size != form.SECTION_HEADER.size or count >= form.SHN_LORESERVE:
        raise LinkError(Fault.MALFORMED, where)
    table = _slice(data, table_offset, count * entry_size, where)
    headers = [_Header(*row) for row in form.SECTION_HEADER.iter_unpack(table)]
    if names_index >= count or headers[names_index].kind != form.SHT_STRTAB:
        raise LinkError(Fault.MALFORMED, f"{name}: section name table")
    names_header = headers[names_index]
    texts = _slice(data, names_header.offset, names_header.size, f"{name}: section name table")
    names = _names(texts, [header.name for header in headers], f"{name}: section")
    return machine, headers, names


def _read_bodies(name: str, data: bytes, headers: list[_Header], names: list[str]) -> list[bytes]:
    bodies = []
    for title, header in zip(names, headers, strict=True):
        where = f"{name}: {title}"
        if header.align & (header.align - 1) or header.align > LARGEST_ALIGNMENT:
            raise LinkError(Fault.BAD_ALIGNMENT, where, str(header.align))
        if header.address:
            raise LinkError(Fault.MALFORMED, where, "a relocatable section has an address")
        empty = header.kind in (form.SHT_NULL, form.SHT_NOBITS)
        bodies.append(b"" if empty else _slice(data, header.offset, header.size, where))
    return bodies


def _read_symbols(
    name: str, headers: list[_Header], names: list[str], bodies: list[bytes]
) -> tuple[Symbol, ...]:
    tables = [index for index, header in enumerate(headers) if header.kind == form.SHT_SYMTAB]
    if not tables:
        return ()
    table = headers[tables[0]]
    strings = headers[table.link] if table.link < len(headers) else None
    if (
        len(tables) != 1
        or table.entry_size != form.SYMBOL.size
        or table.size % form.SYMBOL.size
        or strings is None
        or strings.kind != form.SHT_STRTAB
    ):
        raise LinkError(Fault.MALFORMED, f"{name}: {names[tables[0]]}")
    rows = list(form.SYMBOL.iter_unpack(bodies[tables[0]]))
    titles = _names(bodies[table.link], [row[0] for row in rows], f"{name}: symbol")
    symbols = []
    for index, (title, row) in enumerate(zip(titles, rows, strict=True)):
        _, information, other, section, value, size = row
        symbol = Symbol(title, value, size, information >> 4, information & 15, other & 3, section)
        _check_symbol(f"{name}: symbol {title or index}", symbol, headers)
        if (index < table.info) != (symbol.binding == form.STB_LOCAL):
            raise LinkError(
                Fault.MALFORMED, f"{name}: symbol table", "locals and globals are mixed"
            )
        symbols.append(symbol)
    return tuple(symbols)


def _check_symbol(where: str, symbol: Symbol, headers: list[_Header]) -> None:
    if symbol.binding == form.STB_WEAK:
        raise LinkError(Fault.WEAK_SYMBOL, where)
    if symbol.kind == form.STT_TLS:
        raise LinkError(Fault.THREAD_LOCAL, where)
    if symbol.kind == form.STT_GNU_IFUNC:
        raise LinkError(Fault.INDIRECT_FUNCTION, where)
    if symbol.binding not in (form.STB_LOCAL, form.STB_GLOBAL):
        raise LinkError(Fault.UNKNOWN_SYMBOL, where, f"binding {symbol.binding}")
    if symbol.kind not in _SYMBOL_KINDS:
        raise LinkError(Fault.UNKNOWN_SYMBOL, where, f"type {symbol.kind}")
    if symbol.section == form.SHN_COMMON:
        raise LinkError(Fault.COMMON_SYMBOL, where)
    if (symbol.section == form.SHN_ABS) != (symbol.kind == form.STT_FILE):
        raise LinkError(Fault.ABSOLUTE_SYMBOL, where)
    if symbol.section == form.SHN_ABS:
        return
    if symbol.section >= len(headers):
        raise LinkError(Fault.MALFORMED, where, "no such section")
    # For an undefined symbol that is the first header, of no size.
    if symbol.value + symbol.size > headers[symbol.section].size:
        raise LinkError(Fault.MALFORMED, where, "outside its section")


def _refuse_unsupported(where: str, title: str, header: _Header) -> None:
    flags = header.flags
    writable_code = form.SHF_ALLOC | form.SHF_WRITE | form.SHF_EXECINSTR
    if header.kind == form.SHT_REL:
        raise LinkError(Fault.IMPLICIT_ADDENDS, where)
    if header.kind == form.SHT_GROUP or flags & form.SHF_GROUP:
        raise LinkError(Fault.SECTION_GROUP, where)
    if flags & form.SHF_TLS:
        raise LinkError(Fault.THREAD_LOCAL, where)
    if flags & form.SHF_COMPRESSED:
        raise LinkError(Fault.COMPRESSED, where)
    if flags & writable_code == writable_code:
        raise LinkError(Fault.WRITABLE_CODE, where)
    # llvmlite's target machine writes .ctors where clang would write .init_array.
    legacy = title.split(".")[1:2] in (["ctors"], ["dtors"])
    if header.size and (header.kind in _CONSTRUCTOR_KINDS or legacy):
        raise LinkError(Fault.CONSTRUCTOR, where)
    if flags & form.SHF_X86_64_LARGE:
        raise LinkError(Fault.LARGE_CODE_MODEL, where)
    if title == ".note.GNU-stack" and flags & form.SHF_EXECINSTR:
        raise LinkError(Fault.EXECUTABLE_STACK, where)


def _read_relocations(
    name: str, headers: list[_Header], names: list[str], bodies: list[bytes], symbol_count: int
) -> dict[int, tuple[Relocation, ...]]:
    """The relocations of each section that has some, by section index."""
    found: dict[int, tuple[Relocation, ...]] = {}
    for index, header in enumerate(headers):
        if header.kind != form.SHT_RELA:
            continue
        where = f"{name}: {names[index]}"
        whole = header.entry_size == form.RELA.size and header.size % form.RELA.size == 0
        if not whole or header.info >= len(headers) or header.info in found:
            raise LinkError(Fault.MALFORMED, where)
        if header.link >= len(headers) or headers[header.link].kind != form.SHT_SYMTAB:
            raise LinkError(Fault.MALFORMED, where, "no symbol table")
        if headers[header.info].kind in (form.SHT_NULL, form.SHT_NOBITS):
            raise LinkError(Fault.MALFORMED, where, f"{names[header.info]} holds no bytes")
        rows: tuple[Relocation, ...] = tuple(form.RELA_PARTS.iter_unpack(bodies[index]))
        if any(row[2] >= symbol_count for row in rows):
            raise LinkError(Fault.MALFORMED, where, "a relocation names no symbol")
        found[header.info] = rows
    return found
