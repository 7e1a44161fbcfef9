"""A linked file as the re-reader sees it: its tables, read from the bytes alone and with numbers of its own."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import Final, NamedTuple

from alpha.base.host import HostTarget

LOAD, DYNAMIC, INTERPRETER, TLS = 1, 2, 3, 7
EH_FRAME, STACK, RELRO = 0x6474E550, 0x6474E551, 0x6474E552
EXECUTE, WRITE, READ = 1, 2, 4
RELATIVE: Final = {62: 8, 183: 1027}


class Segment(NamedTuple):
    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    size: int
    align: int


class Section(NamedTuple):
    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry: int


class Broken(Exception):
    """A law does not hold; says what was met."""


def need(condition: bool, message: str, place: int = 0) -> None:
    """`{}` in the message stands for `place`, in hexadecimal."""
    if not condition:
        raise Broken(message.replace("{}", f"{place:#x}"))


class Tables:
    """A linked file. No record: its tables are read once, by the first who needs them, and kept."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def unpack(self, shape: str, offset: int) -> tuple[int, ...]:
        try:
            return struct.unpack_from(shape, self.data, offset)
        except (struct.error, OverflowError):
            raise Broken(f"nothing to read at {offset:#x}") from None

    @cached_property
    def segments(self) -> list[Segment]:
        (table,) = self.unpack("<Q", 32)
        size, count = self.unpack("<HH", 54)
        need((table, size) == (64, 56), "program header table")
        return [Segment(*self.unpack("<IIQQQQQQ", table + 56 * k)) for k in range(count)]

    @cached_property
    def loads(self) -> list[Segment]:
        return [segment for segment in self.segments if segment.kind == LOAD]

    @cached_property
    def sections(self) -> list[Section]:
        (table,) = self.unpack("<Q", 40)
        size, count, names = self.unpack("<HHH", 58)
        need(size == 64 and 0 < names < count, "section header table")
        rows = [self.unpack("<IIQQQQIIQQ", table + 64 * k) for k in range(count)]
        need(rows[0] == (0,) * 10, "first section header")
        start, size = rows[names][4:6]
        return [Section(self.text(start, size, row[0]), *row[1:]) for row in rows]

    def text(self, table: int, size: int, offset: int) -> str:
        """The name at `offset` of the string table that stands at file offset `table`."""
        start, end = table + offset, table + size
        stop = self.data.find(b"\0", start, end)
        need(stop >= 0 and start < end, "name outside its table")
        return self.data[start:stop].decode("ascii", "replace")

    def section(self, name: str) -> Section | None:
        found = [section for section in self.sections if section.name == name]
        need(len(found) <= 1, f"two sections {name}")
        return found[0] if found else None

    def one(self, kind: int, name: str) -> Segment:
        found = [segment for segment in self.segments if segment.kind == kind]
        need(len(found) == 1, f"{len(found)} segments {name}")
        return found[0]

    def bytes_at(self, address: int, size: int) -> bytes:
        """The file's bytes that load at `address`."""
        for load in self.loads:
            if load.address <= address and address + size <= load.address + load.file_size:
                start = load.offset + address - load.address
                return self.data[start : start + size]
        raise Broken(f"no bytes of the file load at {address:#x}")

    def loaded(self, address: int, flags: int) -> bool:
        return any(
            load.address <= address < load.address + load.size and load.flags & 3 == flags
            for load in self.loads
        )


class Image(Tables):
    """A linked file that must be one for a host."""

    def __init__(self, data: bytes, host: HostTarget) -> None:
        super().__init__(data)
        self.host = host


def manifest_of(data: bytes) -> bytes | None:
    """The manifest that a file of Alpha's carries; None for any other file."""
    try:
        need(data[:7] == b"\x7fELF\x02\x01\x01", "identification")
        section = Tables(data).section(".alpha.manifest")
    except Broken:
        return None
    return None if section is None else data[section.offset + 32 : section.offset + section.size]
