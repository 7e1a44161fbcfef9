"""The independent re-reader: what an executable must be, checked on its bytes alone.

It shares no code and no numbers with the linker, so a mistake there cannot excuse itself here. The laws:

 1. header      64-bit little-endian, position-independent, for the host's machine; tables inside the file
 2. segments    loaded ranges inside the file, on pages of memory of their own, as far into a page as in the file,
                in order; R, RX or RW, never writable and executable; one RX; the file's own headers at address 0
 3. marks       no interpreter, no thread-local block; a stack that is not executable; at most one RELRO range of whole
                pages that is the beginning of an RW segment; in it what is relocated and then read alone
 4. entry       in the file's bytes of the RX segment
 5. dynamic     inside RELRO or R; nothing needed, no text relocation; its relocation table is `.rela.dyn`
 6. relocations all R_*_RELATIVE, in order of place, apart; eight zero bytes of an RW segment; the address they will
                hold is in a segment
 7. sections    inside the file, apart; loaded ones inside one segment that agrees on writing and executing
 8. symbols     defined, and inside their section
 9. frames      one index row a frame, sorted, each a range of code that the frame itself states; ranges apart
10. identity    the build-id note is the SHA-256 of the file without the two digests, cut to 20 bytes
11. digest      `.alpha.manifest` begins with the SHA-256 of the file with those 32 bytes zero
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from alpha.base.host import HostTarget
from alpha.elf.errors import Fault, LinkError
from alpha.elf.image import (
    DYNAMIC,
    EH_FRAME,
    EXECUTE,
    INTERPRETER,
    LOAD,
    READ,
    RELATIVE,
    RELRO,
    STACK,
    TLS,
    WRITE,
    Broken,
    Image,
    Section,
    Segment,
    need,
)

Laws: TypeAlias = tuple[tuple[str, Callable[[Image], None]], ...]


def verify(image: bytes, host: HostTarget) -> None:
    """Check every law on an executable. Raises `LinkError` with the first one that does not hold."""
    check(Image(image, host), LAWS)


def check(read: Image, laws: Laws) -> None:
    """Raises `LinkError` with the first law that does not hold."""
    for name, law in laws:
        try:
            law(read)
        except Broken as broken:
            raise LinkError(Fault.BROKEN_IMAGE, name, str(broken)) from None


def _header(image: Image) -> None:
    need(image.data[:9] == b"\x7fELF\x02\x01\x01\x00\x00", "identification")
    kind, machine, version = image.unpack("<HHI", 16)
    need((kind, machine, version) == (3, image.host.machine, 1), "type, machine or version")
    (size,) = image.unpack("<H", 52)
    need(size == 64, "size of the header")
    need(len(image.segments) > 0 and len(image.sections) > 1, "empty tables")


def _segments(image: Image) -> None:
    page, end = image.host.page, 0
    need(bool(image.loads) and image.loads[0][2:4] == (0, 0), "the headers are not at address 0")
    for load in image.loads:
        need(
            load.offset + load.file_size <= len(image.data),
            f"{load.address:#x} ends outside the file",
        )
        need(load.file_size <= load.size, f"{load.address:#x} is larger in the file")
        need(load.align == page, f"alignment {load.align:#x}")
        need(
            (load.address - load.offset) % page == 0,
            f"{load.address:#x} is elsewhere in its page than in the file",
        )
        need(load.address - load.address % page >= end, f"{load.address:#x} shares a page")
        need(load.flags in (4, 5, 6), f"flags {load.flags}")
        end = load.address + load.size + -(load.address + load.size) % page
    need(end <= 1 << 31, "larger than 2 GiB")
    need(sum(load.flags == 5 for load in image.loads) == 1, "not one segment of code")


def _marks(image: Image) -> None:
    kinds = [segment.kind for segment in image.segments]
    need(INTERPRETER not in kinds and TLS not in kinds, "an interpreter or thread-local block")
    need(image.one(STACK, "GNU_STACK").flags == 6, "the stack's permissions")
    sealed = [section for name in (".data.rel.ro", ".got") if (section := image.section(name))]
    if RELRO not in kinds:
        need(not sealed, "no RELRO for what is relocated")
        return
    relro = image.one(RELRO, "GNU_RELRO")
    for section in sealed:
        inside = relro.address <= section.address and section.address + section.size <= (
            relro.address + relro.size
        )
        need(inside, f"{section.name} is outside RELRO")
    page = image.host.page
    need(
        relro.size > 0 and relro.address % page == 0 and relro.size % page == 0,
        "RELRO is not whole pages",
    )
    holders = [
        load
        for load in image.loads
        if load.flags == 6 and (load.address, load.offset) == (relro.address, relro.offset)
    ]
    need(
        len(holders) == 1 and relro.size <= holders[0].size,
        "RELRO is not the beginning of a segment",
    )


def _entry(image: Image) -> None:
    (entry,) = image.unpack("<Q", 24)
    image.bytes_at(entry, 1)
    need(image.loaded(entry, EXECUTE), f"{entry:#x} is not code")


def _dynamic(image: Image) -> None:
    tags = loaders_view(image)
    need(tags.get(0x6FFFFFFB) == 0x08000001, "not marked as PIE")


def loaders_view(image: Image) -> dict[int, int]:
    """The tags of `.dynamic`, which are those of a file that needs nothing and is relocated by one table."""
    segment = image.one(DYNAMIC, "DYNAMIC")
    inside = any(
        each.address <= segment.address
        and segment.address + segment.size <= each.address + each.size
        for each in image.segments
        if each.kind == RELRO or (each.kind == LOAD and each.flags == READ)
    )
    need(inside, "outside RELRO and R")
    need(segment.size % 16 == 0, "size")
    tags = dict(struct.iter_unpack("<QQ", image.bytes_at(segment.address, segment.size)))
    # NEEDED, INIT, FINI, TEXTREL, INIT_ARRAY, FINI_ARRAY
    need(not tags.keys() & {1, 12, 13, 22, 25, 26}, "a tag that needs a loader")
    need(0 in tags, "no end")
    table = image.section(".rela.dyn")
    stated = (tags.get(7), tags.get(8), tags.get(9))
    need(
        stated == ((table.address, table.size, 24) if table else (None,) * 3),
        "not the relocation table",
    )
    return tags


def _relocations(image: Image) -> None:
    table = image.section(".rela.dyn")
    if table is None:
        return
    need(table.size % 24 == 0, "size of the table")
    end = 0
    for place, info, value in struct.iter_unpack("<QQq", image.bytes_at(table.address, table.size)):
        need(info == RELATIVE[image.host.machine], "{} is of another type", place)
        need(place >= end, "{} is out of order", place)
        need(image.loaded(place, WRITE), "{} is not writable", place)
        need(image.bytes_at(place, 8) == bytes(8), "{} is not zero in the file", place)
        # One past the end is where an empty or one-past pointer may stand.
        inside = any(load.address <= value <= load.address + load.size for load in image.loads)
        need(inside, "{} will point nowhere", place)
        end = place + 8


def _sections(image: Image) -> None:
    (table,) = image.unpack("<Q", 40)
    taken = [
        (0, 64 + 56 * len(image.segments), "the file's headers"),
        (table, table + 64 * len(image.sections), "the section headers"),
    ]
    for section in image.sections[1:]:
        if section.kind != 8:
            need(
                section.offset + section.size <= len(image.data),
                f"{section.name} ends outside the file",
            )
            taken.append((section.offset, section.offset + section.size, section.name))
        if not section.flags & 2:
            need(section.address == 0, f"{section.name} has an address")
            continue
        need(section.address % max(section.align, 1) == 0, f"{section.name} is not aligned")
        need(
            any(_holds(load, section) for load in image.loads),
            f"{section.name} is in no segment like it",
        )
    taken.sort()
    for before, after in pairwise(taken):
        need(before[1] <= after[0], f"{before[2]} and {after[2]} overlap")


def _holds(load: Segment, section: Section) -> bool:
    at = section.address - load.address
    size = load.size if section.kind == 8 else load.file_size
    same = bool(load.flags & WRITE) == bool(section.flags & 1) and bool(load.flags & 1) == bool(
        section.flags & 4
    )
    return same and at >= 0 and at + section.size <= size and section.offset - load.offset == at


def _symbols(image: Image) -> None:
    table = image.section(".symtab")
    if table is None:
        return
    strings = image.section(".strtab")
    if table.size % 24 or strings is None or table.link != image.sections.index(strings):
        raise Broken("not whole symbols with names")
    body = image.data[table.offset : table.offset + table.size]
    names = image.data[strings.offset : strings.offset + strings.size]
    rows = struct.iter_unpack("<IBBHQQ", body)
    for k, (name, information, _, index, value, size) in enumerate(rows):
        if names.find(b"\0", name) < 0:
            raise Broken(f"symbol {k} has no name")
        if k and not 0 < index < len(image.sections):
            raise Broken(f"symbol {k} is not defined")
        if (information >> 4 == 0) != (k < table.info):
            raise Broken(f"symbol {k}: locals are not first")
        section = image.sections[index]
        if value < section.address or value + size > section.address + section.size:
            raise Broken(f"symbol {k} is outside {section.name}")


def _frames(image: Image) -> None:
    frames, index = image.section(".eh_frame"), image.section(".eh_frame_hdr")
    if frames is None or index is None:
        need(frames is index, "one of .eh_frame and .eh_frame_hdr")
        return
    segment = image.one(EH_FRAME, "GNU_EH_FRAME")
    need(
        (segment.address, segment.size) == (index.address, index.size),
        "the index is not the marked one",
    )
    head = image.unpack("<BBBBiI", index.offset)
    need(head[:4] == (1, 0x1B, 0x03, 0x3B), "encodings of the index")
    need(index.address + 4 + head[4] == frames.address, "the index names other frames")
    need(index.size == 12 + 8 * head[5], "size of the index")
    stated = sorted(_frame_ranges(image, frames))
    rows = [image.unpack("<ii", index.offset + 12 + 8 * k) for k in range(head[5])]
    listed = [(index.address + code, index.address + frame) for code, frame in rows]
    need(
        listed == [(start, frame) for start, _, frame in stated],
        "the index is not the sorted list of frames",
    )
    end = 0
    for start, length, frame in stated:
        need(start >= end, "the frame at {} overlaps another", frame)
        need(length > 0 and image.loaded(start, EXECUTE), "the frame at {} is of no code", frame)
        need(
            image.loaded(start + length - 1, EXECUTE),
            "the frame at {} is of too much code",
            frame,
        )
        end = start + length


def _frame_ranges(image: Image, frames: Section) -> Iterator[tuple[int, int, int]]:
    """Start and length of the code of each frame, and the frame's own address."""
    at, end = frames.offset, frames.offset + frames.size
    common = set()
    while True:
        (length,) = image.unpack("<I", at)
        if length == 0:
            need(at + 4 == end, "an end before the end")
            return
        need(at + 4 + length < end, "a record at {} ends outside", at)
        (parent,) = image.unpack("<I", at + 4)
        if parent == 0:
            common.add(at)
        else:
            need(at + 4 - parent in common, "a frame at {} has no common record", at)
            distance, size = image.unpack("<iI", at + 8)
            address = frames.address + at - frames.offset
            yield address + 8 + distance, size, address
        at += 4 + length


def _identity(image: Image) -> None:
    note, manifest = image.section(".note.gnu.build-id"), image.section(".alpha.manifest")
    if note is None or manifest is None:
        raise Broken("no note or no manifest")
    need(
        image.data[note.offset : note.offset + 16] == struct.pack("<III4s", 4, 20, 3, b"GNU\0"),
        "note",
    )
    stated = image.data[note.offset + 16 : note.offset + 36]
    holes = [(note.offset + 16, 20), (manifest.offset, 32)]
    need(_sha256_without(image.data, holes)[:20] == stated, "not the digest of the file")


def _digest(image: Image) -> None:
    manifest = image.section(".alpha.manifest")
    if manifest is None or manifest.size < 32 or manifest.flags != 2:
        raise Broken("no read-only section .alpha.manifest")
    stated = image.data[manifest.offset : manifest.offset + 32]
    need(
        _sha256_without(image.data, [(manifest.offset, 32)]) == stated, "not the digest of the file"
    )


def _sha256_without(data: bytes, holes: list[tuple[int, int]]) -> bytes:
    """The SHA-256 of `data` with every hole (offset, size) read as zeros."""
    digest, view, end = hashlib.sha256(), memoryview(data), 0
    for offset, size in sorted(holes):
        digest.update(view[end:offset])
        digest.update(bytes(size))
        end = offset + size
    digest.update(view[end:])
    return digest.digest()


LAWS: Final[Laws] = (
    ("header", _header),
    ("segments", _segments),
    ("marks", _marks),
    ("entry", _entry),
    ("dynamic", _dynamic),
    ("relocations", _relocations),
    ("sections", _sections),
    ("symbols", _symbols),
    ("frames", _frames),
    ("identity", _identity),
    ("digest", _digest),
)
