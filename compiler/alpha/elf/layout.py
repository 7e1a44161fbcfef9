"""Output sections to addresses and file offsets.

Every segment has pages of its own in memory, and in the file it begins where the one before it ended, as in the layout
that other linkers choose: a page of the file where two segments meet is mapped for both. The part that is sealed has
pages of its own in the file too. The page is the largest that the file must load under.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from alpha.base.record import record
from alpha.elf import form
from alpha.elf.collect import DIGEST_SIZE, MANIFEST_SECTION, Collection, Output, Segment
from alpha.elf.errors import Fault, LinkError
from alpha.elf.form import align_up
from alpha.elf.notes import PROPERTY_SECTION
from alpha.elf.resolve import LEFT_OUT, Place, Target

LARGEST_IMAGE = 1 << 31
_PERMISSIONS = {
    Segment.R: form.PF_R,
    Segment.RX: form.PF_R | form.PF_X,
    Segment.RELRO: form.PF_R | form.PF_W,
    Segment.RW: form.PF_R | form.PF_W,
}


@record
class ProgramHeader:
    kind: int
    permissions: int
    offset: int
    address: int
    file_size: int
    memory_size: int
    align: int


@record
class Layout:
    """Where everything is. `addresses` of debugging sections are 0; `offsets` covers every output section."""

    addresses: dict[str, int]
    offsets: dict[str, int]
    headers: tuple[ProgramHeader, ...]
    reserved: dict[str, int]
    file_end: int

    def address(self, collection: Collection, target: Target) -> int:
        """The address of a target; for a place in a debugging section, the offset in that section."""
        if not isinstance(target, Place):
            return self.reserved[target.name]
        name, at = collection.homes[target.section]
        return self.addresses[name] + at + target.offset


def place(collection: Collection, page: int) -> Layout:
    """Give every output section its place. Raises `LinkError` where the file would not fit the code model."""
    outputs = collection.outputs
    segments = [s for s in (Segment.R, Segment.RX, Segment.RELRO, Segment.RW) if _of(outputs, s)]
    notes = [output for output in outputs if output.kind == form.SHT_NOTE]
    names = {output.name for output in outputs}
    extra = len(notes) + (".eh_frame_hdr" in names) + (PROPERTY_SECTION in names)
    # Beside these: .dynamic and the stack's permissions.
    header_count = len(segments) + extra + 2 + (Segment.RELRO in segments)
    addresses: dict[str, int] = {}
    offsets: dict[str, int] = {}
    loads: list[ProgramHeader] = []
    address = offset = 0
    for before, segment in pairwise((Segment.FILE, *segments)):
        begin = align_up(offset, page) if Segment.RELRO in (segment, before) else offset
        start = align_up(address, page) + begin % page
        address, offset = start, begin
        if segment is Segment.R:
            address = offset = form.FILE_HEADER.size + header_count * form.PROGRAM_HEADER.size
        for output in _of(outputs, segment):
            if output.align > page:
                raise LinkError(
                    Fault.BAD_ALIGNMENT, output.name, f"{output.align} exceeds the page"
                )
            address = align_up(address, output.align)
            addresses[output.name] = address
            offsets[output.name] = begin + address - start
            address += output.size
            if output.kind != form.SHT_NOBITS:
                offset = begin + address - start
        if segment is Segment.RELRO:
            # Sealing covers whole pages, so nothing else may begin on the last one.
            address = align_up(address, page)
        permissions = _PERMISSIONS[segment]
        size, memory = offset - begin, address - start
        loads.append(ProgramHeader(form.PT_LOAD, permissions, begin, start, size, memory, page))
        if address > LARGEST_IMAGE:
            raise LinkError(Fault.TOO_LARGE, "the program")
    for output in _of(outputs, Segment.FILE):
        offset = align_up(offset, output.align)
        addresses[output.name], offsets[output.name] = 0, offset
        offset += output.size
    relro = loads[segments.index(Segment.RELRO)] if Segment.RELRO in segments else None
    headers = tuple(loads) + _described(outputs, addresses, offsets, relro)
    return Layout(addresses, offsets, headers, _reserved(outputs, addresses, relro), offset)


def _of(outputs: Sequence[Output], segment: Segment) -> list[Output]:
    return [output for output in outputs if output.segment is segment]


def _described(
    outputs: Sequence[Output],
    addresses: dict[str, int],
    offsets: dict[str, int],
    relro: ProgramHeader | None,
) -> tuple[ProgramHeader, ...]:
    """The program headers that load nothing but say what is where."""

    def of(kind: int, output: Output) -> ProgramHeader:
        permissions = _PERMISSIONS[output.segment]
        offset, address = offsets[output.name], addresses[output.name]
        return ProgramHeader(
            kind, permissions, offset, address, output.size, output.size, output.align
        )

    by_name = {output.name: output for output in outputs}
    found = []
    if ".eh_frame_hdr" in by_name:
        found.append(of(form.PT_GNU_EH_FRAME, by_name[".eh_frame_hdr"]))
    if PROPERTY_SECTION in by_name:
        found.append(of(form.PT_GNU_PROPERTY, by_name[PROPERTY_SECTION]))
    found.extend(of(form.PT_NOTE, output) for output in outputs if output.kind == form.SHT_NOTE)
    found.append(of(form.PT_DYNAMIC, by_name[".dynamic"]))
    if relro is not None:
        where = (relro.offset, relro.address, relro.file_size, relro.memory_size)
        found.append(ProgramHeader(form.PT_GNU_RELRO, form.PF_R, *where, 1))
    found.append(ProgramHeader(form.PT_GNU_STACK, form.PF_R | form.PF_W, 0, 0, 0, 0, 16))
    return tuple(found)


def _reserved(
    outputs: Sequence[Output], addresses: dict[str, int], relro: ProgramHeader | None
) -> dict[str, int]:
    sizes = {output.name: output.size for output in outputs}
    rela = addresses.get(".rela.dyn", 0)
    manifest = addresses[MANIFEST_SECTION]
    return {
        LEFT_OUT.name: 0,
        "__ehdr_start": 0,
        "__rela_start": rela,
        "__rela_end": rela + sizes.get(".rela.dyn", 0),
        "__relro_start": relro.address if relro else 0,
        "__relro_end": relro.address + relro.memory_size if relro else 0,
        "__alpha_digest": manifest,
        "__alpha_manifest_start": manifest + DIGEST_SIZE,
        "__alpha_manifest_end": manifest + sizes[MANIFEST_SECTION],
    }
