"""Addresses to bytes: every relocation applied, every table that depends on addresses made."""

from __future__ import annotations

from typing import Final, TypeAlias

from alpha.base.record import record
from alpha.elf import exports, form, frames
from alpha.elf.collect import Collection, Homes, Output, Segment, loaded_target
from alpha.elf.errors import Fault, LinkError
from alpha.elf.layout import Layout
from alpha.elf.read import Section
from alpha.elf.reloc import ABSOLUTE, NONE, TABLE, apply, row_of
from alpha.elf.resolve import LEFT_OUT, Place, Resolution, Target

# Between functions: a trap (int3; udf #0), never a slide into the next one.
_PADDING: Final = {form.EM_X86_64: b"\xcc", form.EM_AARCH64: b"\0"}


# By symbol index: the address of the symbol, or of its slot; None where there is none.
_Addresses: TypeAlias = list[int | None]


@record
class _Owner:
    """What the relocations of one object refer to; `loaded` leaves out what is in debugging sections."""

    targets: tuple[Target | None, ...]
    loaded: _Addresses
    every: _Addresses
    slots: _Addresses


def fill(
    machine: int, resolution: Resolution, collection: Collection, layout: Layout
) -> dict[str, tuple[bytes, ...]]:
    """The bytes of every output section that has some in the file, in parts that follow each other.

    Raises `LinkError` for a relocation that cannot be applied.
    """
    owners = {
        name: _owner(targets, collection, layout) for name, targets in resolution.targets.items()
    }
    contents: dict[str, tuple[bytes, ...]] = {}
    for output in collection.outputs:
        if output.content is not None:
            contents[output.name] = (output.content,)
        elif output.pieces and output.kind != form.SHT_NOBITS:
            contents[output.name] = _join(machine, output, collection.homes, layout, owners)
    relocations = _runtime_relocations(machine, collection, layout)
    if relocations:
        contents[".rela.dyn"] = (relocations,)
    if collection.slots:
        contents[".got"] = (bytes(8 * len(collection.slots)),)
    contents[".dynsym"] = (_exported(resolution, collection, layout),)
    contents[".dynamic"] = (_dynamic(layout, relocations, collection.shared),)
    if ".eh_frame" in contents:
        records = b"".join(contents[".eh_frame"])[: -len(frames.TERMINATOR)]
        where = layout.addresses[".eh_frame"], layout.addresses[".eh_frame_hdr"]
        contents[".eh_frame_hdr"] = (frames.frame_index(records, *where),)
    return contents


def _owner(targets: tuple[Target | None, ...], collection: Collection, layout: Layout) -> _Owner:
    homes, slots = collection.homes, collection.slots
    got = layout.addresses.get(".got", 0)
    loaded: _Addresses = []
    every: _Addresses = []
    for target in targets:
        if target is None or (isinstance(target, Place) and target.section not in homes):
            loaded.append(None)
            every.append(None)
            continue
        address = layout.address(collection, target)
        every.append(address)
        debugging = isinstance(target, Place) and not target.section.allocated
        loaded.append(None if debugging else address)
    return _Owner(
        targets,
        loaded,
        every,
        [got + 8 * slots[t] if t in slots else None for t in targets]
        if slots
        else [None] * len(targets),
    )


def _join(
    machine: int, output: Output, homes: Homes, layout: Layout, owners: dict[str, _Owner]
) -> tuple[bytes, ...]:
    padding = _PADDING[machine] if output.segment is Segment.RX else b"\0"
    parts: list[bytes] = []
    end = 0
    for at, section in output.pieces:
        parts.append(padding * (at - end))
        place = layout.addresses[output.name] + at
        parts.append(_relocate(machine, section, place, homes, owners[section.owner]))
        end = at + section.size
    parts.append(bytes(output.size - end))
    return tuple(parts)


def _relocate(machine: int, section: Section, base: int, homes: Homes, owner: _Owner) -> bytes:
    """The bytes of an input section that stands at `base`."""
    before = section.data
    if not section.relocations:
        return before
    body = bytearray(before)
    rows, size, loaded = TABLE[machine], len(before), section.allocated
    slots, symbols = owner.slots, owner.loaded if loaded else owner.every
    for offset, kind, symbol, addend in section.relocations:
        try:
            row = rows.get(kind) or row_of(machine, kind)
            end = offset + row.width
            if end > size:
                raise LinkError(Fault.RELOCATION_OUTSIDE_SECTION, row.name)
            value = slots[symbol] if row.got else symbols[symbol]
            if loaded and row.formula is ABSOLUTE:
                body[offset:end] = bytes(row.width)  # filled at run time
            elif not loaded and owner.targets[symbol] is LEFT_OUT:
                body[offset:end] = _nowhere(section, row.width)
            elif value is not None:
                body[offset:end] = apply(row, before[offset:end], base + offset, value + addend)
            elif row.formula is not NONE:
                loaded_target(owner.targets[symbol], homes)
                raise LinkError(Fault.RELOCATION_WITHOUT_TARGET, row.name)
        except LinkError as error:
            raise error.at(f"{section.where}+{offset:#x}") from None
    return bytes(body)


def _nowhere(section: Section, width: int) -> bytes:
    """What debuggers know as the address of what was left out: none of a function, an empty range, a line at 0."""
    # A range from 0 to 0 would end its list.
    words = {".debug_info": b"\xff" * width, ".debug_ranges": (1).to_bytes(width, "little")}
    return words.get(section.name, bytes(width))


def _runtime_relocations(machine: int, collection: Collection, layout: Layout) -> bytes:
    rows = []
    for each in collection.runtime:
        name, at = collection.homes[each.section]
        place = layout.addresses[name] + at + each.offset
        rows.append((place, layout.address(collection, each.target) + each.addend))
    for target, slot in collection.slots.items():
        place = layout.addresses[".got"] + 8 * slot
        rows.append((place, layout.address(collection, target)))
    kind = form.R_RELATIVE[machine]
    return b"".join(form.RELA.pack(place, kind, value) for place, value in sorted(rows))


def _exported(resolution: Resolution, collection: Collection, layout: Layout) -> bytes:
    """What a loader may find by name: nothing in an executable."""
    index = {output.name: number for number, output in enumerate(collection.outputs, 1)}
    rows = []
    for place, symbol in resolution.exports:
        home, _ = collection.homes[place.section]
        rows.append((symbol.kind, index[home], layout.address(collection, place), symbol.size))
    return exports.symbol_table(collection.shared, rows)


def _dynamic(layout: Layout, relocations: bytes, shared: exports.Shared | None) -> bytes:
    """What tools and debuggers expect of a position-independent file. A program needs none of it, and a shared object
    all of it.
    """
    at = layout.addresses
    tags: list[tuple[int, int]] = [
        (form.DT_GNU_HASH, at[".gnu.hash"]),
        (form.DT_STRTAB, at[".dynstr"]),
        (form.DT_SYMTAB, at[".dynsym"]),
        (form.DT_STRSZ, len(exports.names(shared))),
        (form.DT_SYMENT, form.SYMBOL.size),
    ]
    if relocations:
        tags += [
            (form.DT_RELA, at[".rela.dyn"]),
            (form.DT_RELASZ, len(relocations)),
            (form.DT_RELAENT, form.RELA.size),
            (form.DT_RELACOUNT, len(relocations) // form.RELA.size),
        ]
    tags += [
        (form.DT_FLAGS, form.DF_BIND_NOW),
        (form.DT_FLAGS_1, form.DF_1_NOW if shared else form.DF_1_NOW | form.DF_1_PIE),
        *([(form.DT_SONAME, 1)] if shared else []),
        (form.DT_NULL, 0),
    ]
    return b"".join(form.DYNAMIC_TAG.pack(*tag) for tag in tags)
