"""Input sections to output sections: what the file will hold, in which order, before anything has an address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, TypeAlias

from alpha.base.record import record, replace
from alpha.elf import blobs, exports, form, frames, notes
from alpha.elf.errors import Fault, LinkError
from alpha.elf.form import align_up
from alpha.elf.read import Object, Section
from alpha.elf.reloc import ABSOLUTE, TABLE, Row
from alpha.elf.resolve import Place, Resolution, Target


class Segment(Enum):
    """What a section is part of once loaded. No segment is both writable and executable."""

    R = "read-only"
    RX = "code"
    RELRO = "written while the file relocates itself, read-only from then on"
    RW = "writable"
    FILE = "not loaded: debugging information"


DIGEST_SIZE: Final = 32
MANIFEST_SECTION: Final = ".alpha.manifest"
# The order of the loaded sections. Debugging sections follow them in order of appearance.
ORDER: Final = {
    notes.PROPERTY_SECTION: Segment.R,
    notes.BUILD_ID_SECTION: Segment.R,
    MANIFEST_SECTION: Segment.R,
    ".dynsym": Segment.R,
    ".gnu.hash": Segment.R,
    ".dynstr": Segment.R,
    ".rela.dyn": Segment.R,
    ".rodata": Segment.R,
    blobs.SECTION: Segment.R,
    ".eh_frame_hdr": Segment.R,
    ".eh_frame": Segment.R,
    ".text": Segment.RX,
    ".data.rel.ro": Segment.RELRO,
    ".dynamic": Segment.RELRO,  # of a program: R, for no loader writes to it
    ".got": Segment.RELRO,
    ".data": Segment.RW,
    ".bss": Segment.RW,
}
# Tags that .dynamic always has, those that come with .rela.dyn, and the one of a shared object.
DYNAMIC_TAGS: Final = 8
RELA_TAGS: Final = 4
SHARED_TAGS: Final = 1

_DISCARDED_KINDS: Final = (
    form.SHT_NULL,
    form.SHT_SYMTAB,
    form.SHT_STRTAB,
    form.SHT_RELA,
    form.SHT_LLVM_ADDRSIG,
    form.SHT_AARCH64_ATTRIBUTES,
)
_DISCARDED_NAMES: Final = (".comment", ".note.GNU-stack", notes.PROPERTY_SECTION)


@record
class Output:
    """A section of the file: input sections at offsets (`pieces`), or bytes the linker makes (`content`).

    `content` is None for linker-made bytes that depend on addresses; `size` is final for all.
    """

    name: str
    segment: Segment
    kind: int
    align: int
    size: int
    pieces: tuple[tuple[int, Section], ...] = ()
    content: bytes | None = None
    flags: int = 0  # beyond those that follow from the segment
    entry_size: int = 0


@record
class RuntimeRelocation:
    """Eight bytes that the program fills when it starts: the load address plus the address of target + addend."""

    section: Section
    offset: int
    target: Target
    addend: int


# Where each input section went: the output section's name, and the offset in it.
Homes: TypeAlias = dict[Section, tuple[str, int]]


@record
class Collection:
    """All output sections in file order, where each input section went, and what must happen at run time."""

    outputs: tuple[Output, ...]
    homes: Homes
    slots: dict[Target, int]  # of the global offset table
    runtime: tuple[RuntimeRelocation, ...]
    shared: exports.Shared | None


def collect(
    machine: int,
    resolution: Resolution,
    manifest: bytes,
    debug: bool,
    shared: exports.Shared | None = None,
) -> Collection:
    """Sort the input sections. Raises `LinkError` for a section or relocation that cannot be in such a file."""
    gathered = _gather(resolution.objects, debug, resolution.left_out)
    joined = [_join(name, sections) for name, sections in gathered.items()]
    homes = {section: (output.name, at) for output in joined for at, section in output.pieces}
    slots, runtime = _scan(machine, resolution, joined, homes)
    made = [
        *_make(machine, resolution.objects, gathered, manifest, len(slots) + len(runtime), shared),
        *_slots(len(slots)),
    ]
    rank = {name: index for index, name in enumerate(ORDER)}
    kinds = {segment: index for index, segment in enumerate(Segment)}
    outputs = sorted(
        (*made, *joined), key=lambda each: (kinds[each.segment], rank.get(each.name, len(rank)))
    )
    return Collection(tuple(outputs), homes, slots, runtime, shared)


def _gather(
    objects: Sequence[Object], debug: bool, left_out: frozenset[str]
) -> dict[str, list[Section]]:
    gathered: dict[str, list[Section]] = {}
    for each in objects:
        for section in each.sections:
            if section.name in left_out:
                continue
            name = _output_name(section)
            if name is not None and (debug or section.allocated):
                gathered.setdefault(name, []).append(section)
    return gathered


def _output_name(section: Section) -> str | None:
    """The output section that an input section becomes part of, or None where it is not kept."""
    if section.kind in _DISCARDED_KINDS or section.name in _DISCARDED_NAMES:
        return None
    if section.allocated and not section.size:
        return None
    progbits = section.kind == form.SHT_PROGBITS
    if not section.allocated and progbits and section.name.startswith(".debug_"):
        return section.name
    if section.allocated:
        if section.name == ".eh_frame" and (progbits or section.kind == form.SHT_X86_64_UNWIND):
            return ".eh_frame"
        if section.flags & form.SHF_WRITE:
            if progbits and (section.name + ".").startswith(".data.rel.ro."):
                return ".data.rel.ro"
            if progbits or section.kind == form.SHT_NOBITS:
                return ".data" if progbits else ".bss"
        elif progbits and section.flags & form.SHF_EXECINSTR:
            return ".text"
        elif progbits:
            return blobs.SECTION if section.name == blobs.SECTION else ".rodata"
    raise LinkError(
        Fault.UNKNOWN_SECTION, section.where, f"type {section.kind:#x}, flags {section.flags:#x}"
    )


def _join(name: str, sections: Sequence[Section]) -> Output:
    pieces = []
    size = 0
    for section in sections:
        if name == ".eh_frame" and section.size % section.align:
            raise LinkError(Fault.BAD_FRAME, section.where, "padding would end the table")
        at = align_up(size, section.align)
        pieces.append((at, section))
        size = at + section.size
    if name == ".eh_frame":
        size += len(frames.TERMINATOR)
    segment = ORDER.get(name, Segment.FILE)
    shapes = {
        (section.flags & (form.SHF_MERGE | form.SHF_STRINGS), section.entry_size)
        for section in sections
    }
    flags, entry_size = shapes.pop() if segment is Segment.FILE and len(shapes) == 1 else (0, 0)
    return Output(
        name,
        segment,
        form.SHT_NOBITS if name == ".bss" else form.SHT_PROGBITS,
        max(section.align for section in sections),
        size,
        tuple(pieces),
        None,
        flags,
        entry_size,
    )


def _scan(
    machine: int,
    resolution: Resolution,
    outputs: Sequence[Output],
    homes: Homes,
) -> tuple[dict[Target, int], tuple[RuntimeRelocation, ...]]:
    """What the loaded sections' relocations need beyond their own bytes: slots, and addresses at run time."""
    slots: dict[Target, int] = {}
    runtime = []
    needy = {
        kind: row for kind, row in TABLE[machine].items() if row.got or row.formula is ABSOLUTE
    }
    for output in outputs:
        if output.segment is Segment.FILE:
            continue
        for _, section in output.pieces:
            targets = resolution.targets[section.owner]
            for offset, kind, symbol, addend in section.relocations:
                if kind not in needy:
                    continue
                try:
                    row, target = needy[kind], loaded_target(targets[symbol], homes)
                    if row.got:
                        slots.setdefault(target, len(slots))
                    else:
                        _check_absolute(row, output.segment)
                        runtime.append(RuntimeRelocation(section, offset, target, addend))
                except LinkError as error:
                    raise error.at(f"{section.where}+{offset:#x}") from None
    return slots, tuple(runtime)


def loaded_target(target: Target | None, homes: Homes) -> Target:
    """The target of a relocation in a loaded section. Raises `LinkError` unless it is loaded itself."""
    if target is None:
        raise LinkError(Fault.RELOCATION_WITHOUT_TARGET, "relocation")
    if isinstance(target, Place) and not (target.section.allocated and target.section in homes):
        raise LinkError(Fault.DISCARDED_TARGET, "relocation", target.section.where)
    return target


def _check_absolute(row: Row, segment: Segment) -> None:
    if row.width < 8:
        raise LinkError(Fault.NOT_POSITION_INDEPENDENT, row.name)
    if segment not in (Segment.RELRO, Segment.RW):
        raise LinkError(Fault.READ_ONLY_ADDRESS, row.name)


def _make(
    machine: int,
    objects: Sequence[Object],
    gathered: dict[str, list[Section]],
    manifest: bytes,
    relocations: int,
    shared: exports.Shared | None,
) -> Iterator[Output]:
    """The sections that no object holds."""
    fixed, later = _fixed, _later
    features = notes.property_note(machine, objects)
    if features:
        yield fixed(notes.PROPERTY_SECTION, form.SHT_NOTE, 8, features)
    yield fixed(
        notes.BUILD_ID_SECTION, form.SHT_NOTE, 4, notes.build_id_note(bytes(notes.BUILD_ID_SIZE))
    )
    yield fixed(MANIFEST_SECTION, form.SHT_PROGBITS, 16, bytes(DIGEST_SIZE) + manifest)
    shown = exports.ordered(shared)
    size = (1 + len(shown)) * form.SYMBOL.size
    yield later(".dynsym", form.SHT_DYNSYM, 8, size, form.SYMBOL.size)
    yield fixed(".gnu.hash", form.SHT_GNU_HASH, 8, exports.hash_table(shown))
    yield fixed(".dynstr", form.SHT_STRTAB, 1, exports.names(shared))
    tags = DYNAMIC_TAGS + (SHARED_TAGS if shared else 0)
    if relocations:
        yield later(".rela.dyn", form.SHT_RELA, 8, relocations * form.RELA.size, form.RELA.size)
        tags += RELA_TAGS
    size = tags * form.DYNAMIC_TAG.size
    yield replace(
        later(".dynamic", form.SHT_DYNAMIC, 8, size, form.DYNAMIC_TAG.size),
        segment=Segment.RELRO if shared else Segment.R,
    )
    if ".eh_frame" in gathered:
        count = sum(
            frames.frame_count(section.data, section.where) for section in gathered[".eh_frame"]
        )
        yield later(".eh_frame_hdr", form.SHT_PROGBITS, 4, frames.index_size(count))


def _slots(count: int) -> Iterator[Output]:
    if count:
        yield _later(".got", form.SHT_PROGBITS, 8, 8 * count)


def _fixed(name: str, kind: int, align: int, content: bytes, entry_size: int = 0) -> Output:
    return Output(name, ORDER[name], kind, align, len(content), (), content, 0, entry_size)


def _later(name: str, kind: int, align: int, size: int, entry_size: int = 0) -> Output:
    return Output(name, ORDER[name], kind, align, size, (), None, 0, entry_size)
