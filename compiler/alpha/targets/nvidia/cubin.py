"""Reads what an assembler wrote: the machine code of entries, and what a launch of each must give it.

1. A cubin is a 64-bit little-endian ELF executable for NVIDIA's machines, of the architecture that was asked for.
2. Every section lies in the file, and its name is on a closed list: no global variables, no local memory, no banks of
   constants but 0 (the arguments) and 2 (numbers that the assembler put there).
3. The only relocations are those of `.debug_frame`, which nothing loads.
4. An entry has one section of code in whole instructions, which is all of its one global function; one of attributes;
   one of constants, which ends with the arguments; and at most one of shared memory.
5. The registers of an entry are said twice, and alike. No function has a frame or a stack.
6. An entry takes addresses alone, 8 bytes each, in their order and without gaps.
7. Attributes are on a closed list.

Source: cubins of ptxas 12.9.86 and 13.0.88, read side by side with what `ptxas -v` says; the names of attributes
are those that `cuobjdump -elf` prints.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import NamedTuple

from alpha.base.record import field, record
from alpha.elf import form
from alpha.targets.nvidia.errors import CubinFault

ET_EXEC, EM_CUDA = 2, 190
ARCHITECTURE_AT = {(0x33, 7): 0, (0x41, 8): 8}
"""At which bit of the file's flags the architecture stands, for each pair of system and version of its numbers."""
INSTRUCTION = 16
"""Bytes of an instruction since Volta."""
ADDRESS = 8
UNLOADED = (
    "",
    ".shstrtab",
    ".strtab",
    ".symtab",
    ".debug_frame",
    ".rel.debug_frame",
    ".note.nv.tkinfo",
    ".note.nv.cuinfo",
    ".nv.info",
    ".nv.callgraph",
    ".nv.rel.action",
)
OF_ENTRIES = (".text", ".nv.info", ".nv.constant0", ".nv.constant2", ".nv.shared")


class Attribute(IntEnum):
    """What `.nv.info` says of a function, `.nv.info.<entry>` of an entry."""

    PARAM_CBANK = 0x0A
    REQNTID = 0x10
    FRAME_SIZE = 0x11
    MIN_STACK_SIZE = 0x12
    KPARAM_INFO = 0x17
    CBANK_PARAM_SIZE = 0x19
    MAXREG_COUNT = 0x1B
    EXIT_INSTR_OFFSETS = 0x1C
    CRS_STACK_SIZE = 0x1E
    MAX_STACK_SIZE = 0x23
    COOP_GROUP_INSTR_OFFSETS = 0x28
    COOP_GROUP_MASK_REGIDS = 0x29
    REGCOUNT = 0x2F
    INT_WARP_WIDE_INSTR_OFFSETS = 0x31
    SW2861232_WAR = 0x35
    SW_WAR = 0x36
    CUDA_API_VERSION = 0x37
    NUM_BARRIERS = 0x4C
    MERCURY_ISA_VERSION = 0x5F


@record
class Code:
    """The code of one entry.

    A thread has `registers`, a block `threads`, `shared` bytes and `barriers`. Bank 0 of constants has `constants`
    bytes, and the `parameters` addresses that the entry takes stand from byte `first` on. `numbers` is bank 2.
    """

    name: str
    text: bytes
    registers: int
    threads: int
    shared: int
    barriers: int
    parameters: int
    first: int
    constants: int
    numbers: bytes


@record
class Cubin:
    """`architecture` is 86 for sm_86."""

    architecture: int
    entries: tuple[Code, ...]


class _Section(NamedTuple):
    name: str
    kind: int
    flags: int
    size: int
    link: int
    info: int
    align: int
    data: bytes


class _Symbol(NamedTuple):
    name: str
    binding: int
    kind: int
    section: int
    value: int
    size: int


def read_cubin(data: bytes, architecture: int) -> Cubin:
    """The cubin in `data`. Raises `CubinFault` for everything that is not one, or is for another architecture."""
    sections = _sections(data, architecture)
    symbols = _symbols(sections)
    by_name = {section.name: section for section in sections}
    if len(by_name) != len(sections):
        raise CubinFault("", "two sections have one name")
    names = [section.name[6:] for section in sections if section.name.startswith(".text.")]
    allowed = {f"{kind}.{name}" for kind in OF_ENTRIES for name in names}
    for section in sections:
        _check_section(section, sections, allowed)
    registers = _registers(by_name.get(".nv.info"), symbols)
    return Cubin(
        architecture, tuple(_code(name, by_name, sections, symbols, registers) for name in names)
    )


def _piece(data: bytes, offset: int, size: int, where: str) -> bytes:
    if offset + size > len(data):
        raise CubinFault(where, "lies outside the file")
    return data[offset : offset + size]


def _text(table: bytes, offset: int, where: str) -> str:
    end = table.find(b"\0", offset)
    if not 0 <= offset <= end:
        raise CubinFault(where, "has a name outside its table")
    try:
        return table[offset:end].decode("ascii")
    except UnicodeDecodeError:
        raise CubinFault(where, "has a name that is not ASCII") from None


def _sections(data: bytes, architecture: int) -> list[_Section]:
    header = form.FILE_HEADER.unpack(_piece(data, 0, form.FILE_HEADER.size, "the file header"))
    identity, kind, machine, _, _, _, table_at, flags = header[:8]
    size, count, names_at = header[11:14]
    at = ARCHITECTURE_AT.get((identity[7], identity[8]))
    if identity[:7] != form.MAGIC or (kind, machine) != (ET_EXEC, EM_CUDA) or at is None:
        raise CubinFault("", "is no cubin")
    if flags >> at & 0xFF != architecture:
        raise CubinFault("", f"is for sm_{flags >> at & 0xFF}, not for sm_{architecture}")
    if size != form.SECTION_HEADER.size or not names_at < count < form.SHN_LORESERVE:
        raise CubinFault("the table of sections", "is malformed")
    table = _piece(data, table_at, count * size, "the table of sections")
    rows = list(form.SECTION_HEADER.iter_unpack(table))
    names = _piece(data, rows[names_at][4], rows[names_at][5], "the names of sections")
    found = []
    for number, row in enumerate(rows):
        name, kind, flags, address, offset, length, link, info, align, _ = row
        title = _text(names, name, f"section {number}")
        empty = kind in (form.SHT_NULL, form.SHT_NOBITS)
        if address or align & (align - 1):
            raise CubinFault(title, "has an address, or an alignment that is no power of two")
        body = b"" if empty else _piece(data, offset, length, title)
        found.append(_Section(title, kind, flags, length, link, info, align, body))
    return found


def _symbols(sections: list[_Section]) -> list[_Symbol]:
    tables = [section for section in sections if section.kind == form.SHT_SYMTAB]
    if len(tables) != 1 or tables[0].size % form.SYMBOL.size or tables[0].link >= len(sections):
        raise CubinFault("the table of symbols", "is malformed")
    texts = sections[tables[0].link].data
    found = []
    for number, row in enumerate(form.SYMBOL.iter_unpack(tables[0].data)):
        name, kind, _, section, value, size = row
        title = _text(texts, name, f"symbol {number}")
        if section >= len(sections) or value + size > sections[section].size:
            raise CubinFault(f"symbol {title}", "lies outside its section")
        if number and section == form.SHN_UNDEF:
            raise CubinFault(f"symbol {title}", "is not defined")
        found.append(_Symbol(title, kind >> 4, kind & 15, section, value, size))
    return found


def _check_section(section: _Section, sections: list[_Section], allowed: set[str]) -> None:
    name = section.name
    if section.kind in (form.SHT_REL, form.SHT_RELA) and (
        section.info >= len(sections) or sections[section.info].name != ".debug_frame"
    ):
        raise CubinFault(name, "holds relocations")
    if name in UNLOADED:
        if section.flags & form.SHF_ALLOC:
            raise CubinFault(name, "is loaded")
        return
    if name not in allowed:
        raise CubinFault(name, "is a section of a kind that is not supported")


def _attributes(section: _Section) -> Iterator[tuple[Attribute, bytes]]:
    """The attributes in a section. Their forms are: nothing, one byte, two bytes, or a length and so many bytes."""
    data, at = section.data, 0
    while at < len(data):
        if at + 4 > len(data) or data[at] not in (1, 2, 3, 4):
            raise CubinFault(section.name, "has a malformed attribute")
        kind, number = data[at], data[at + 1]
        size = int.from_bytes(data[at + 2 : at + 4], "little") if kind == 4 else 0
        if at + 4 + size > len(data):
            raise CubinFault(section.name, "has an attribute that does not end in it")
        if number not in Attribute.__members__.values():
            raise CubinFault(section.name, f"has the attribute {number:#x}, which is not supported")
        short = data[at + 2 : at + 1 + kind] if kind != 4 else b""
        yield Attribute(number), short or data[at + 4 : at + 4 + size]
        at += 4 + size


def _unpacked(layout: str, data: bytes, where: str) -> tuple[int, ...]:
    if len(data) != struct.calcsize(layout):
        raise CubinFault(where, "has an attribute of another length")
    return struct.unpack(layout, data)


def _registers(section: _Section | None, symbols: list[_Symbol]) -> dict[str, int]:
    """The registers of each function. Refuses one that has a frame or a stack."""
    found: dict[str, int] = {}
    for attribute, data in _attributes(section) if section is not None else ():
        symbol, amount = _unpacked("<II", data, ".nv.info")
        if symbol >= len(symbols):
            raise CubinFault(".nv.info", "names no symbol")
        name = symbols[symbol].name
        if attribute is Attribute.REGCOUNT:
            found[name] = amount
        elif amount:
            raise CubinFault(name, f"takes {amount} bytes of stack")
    return found


def _code(
    name: str,
    by_name: Mapping[str, _Section],
    sections: list[_Section],
    symbols: list[_Symbol],
    registers: Mapping[str, int],
) -> Code:
    text = by_name[f".text.{name}"]
    attributes = by_name.get(f".nv.info.{name}")
    constants = by_name.get(f".nv.constant0.{name}")
    if attributes is None or constants is None:
        raise CubinFault(name, "has no attributes, or no constants")
    executable = form.SHF_ALLOC | form.SHF_EXECINSTR
    if (text.kind, text.flags & 7) != (form.SHT_PROGBITS, executable):
        raise CubinFault(text.name, "is no section of code")
    if not text.size or text.size % INSTRUCTION:
        raise CubinFault(text.name, "does not hold whole instructions")
    function = (name, form.STB_GLOBAL, form.STT_FUNC, sections.index(text), 0, text.size)
    if symbols.count(_Symbol(*function)) != 1:
        raise CubinFault(name, "is not the one function that its code is")
    if registers.get(name) != text.info >> 24 or not 1 <= registers[name] <= 255:
        raise CubinFault(name, "has a number of registers that is not said alike")
    shared = by_name.get(f".nv.shared.{name}")
    if shared is not None and shared.kind != form.SHT_NOBITS:
        raise CubinFault(shared.name, "holds bytes")
    numbers = by_name.get(f".nv.constant2.{name}")
    said = _said(attributes, len(text.data))
    first, size = said.arguments
    if first + size != constants.size or size != ADDRESS * len(said.places):
        raise CubinFault(name, "has constants that do not end with its parameters")
    if sorted(said.places) != [
        (place, place * ADDRESS, ADDRESS) for place in range(len(said.places))
    ]:
        raise CubinFault(name, "takes something else than addresses")
    return Code(
        name,
        text.data,
        registers[name],
        said.threads,
        0 if shared is None else shared.size,
        # Older assemblers say it in the flags of the section.
        max(said.barriers, text.flags >> 20 & 0x7F),
        len(said.places),
        first,
        constants.size,
        b"" if numbers is None else numbers.data,
    )


@record(frozen=False)
class _Said:
    """What the attributes of an entry say: `places` are number, offset and bytes of each parameter."""

    threads: int = 0
    barriers: int = 0
    arguments: tuple[int, int] = (0, 0)
    places: list[tuple[int, int, int]] = field(default_factory=list)


def _said(section: _Section, code: int) -> _Said:
    said = _Said()
    for attribute, data in _attributes(section):
        match attribute:
            case Attribute.PARAM_CBANK:
                _, first, size = _unpacked("<IHH", data, section.name)
                said.arguments = first, size
            case Attribute.KPARAM_INFO:
                _, place, offset, shape = _unpacked("<IHHI", data, section.name)
                said.places.append((place, offset, shape >> 18))
            case Attribute.REQNTID:
                x, y, z = _unpacked("<III", data, section.name)
                if (y, z) != (1, 1):
                    raise CubinFault(section.name, "has blocks of more than one dimension")
                said.threads = x
            case Attribute.NUM_BARRIERS:
                (said.barriers,) = _unpacked("<B", data, section.name)
            case Attribute.CRS_STACK_SIZE if any(data):
                raise CubinFault(section.name, "takes a stack of calls")
            case Attribute.EXIT_INSTR_OFFSETS if len(data) % 4 == 0:
                if any(at >= code for (at,) in struct.iter_unpack("<I", data)):
                    raise CubinFault(section.name, "has an exit outside its code")
            case Attribute.EXIT_INSTR_OFFSETS:
                raise CubinFault(section.name, "has an attribute of another length")
            case Attribute.FRAME_SIZE | Attribute.MIN_STACK_SIZE | Attribute.REGCOUNT:
                raise CubinFault(section.name, "says of an entry what is said of functions")
            case _:
                pass
    return said
