"""Names to places: what every symbol of every object means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

from alpha.base.record import record
from alpha.elf import form
from alpha.elf.errors import Fault, LinkError
from alpha.elf.read import Object, Section, Symbol

# What only the linker knows; the runtime declares these as hidden symbols.
RESERVED: Final = (
    "__ehdr_start",  # address of the file header, so also of the first loaded byte
    "__rela_start",  # the run-time relocations, all of them R_*_RELATIVE
    "__rela_end",
    "__relro_start",  # whole pages, to be made read-only once the relocations are applied; 0 for none, as the end
    "__relro_end",
    "__alpha_digest",  # 32 bytes
    "__alpha_manifest_start",
    "__alpha_manifest_end",
)


class Place(NamedTuple):
    """So many bytes into an input section. A plain tuple: every symbol is one."""

    section: Section
    offset: int


@record
class ReservedName:
    """An address that layout will know."""

    name: str


Target: TypeAlias = Place | ReservedName
LEFT_OUT: Final = ReservedName("left out")
"""What stands in a section that the caller leaves out. Loaded code that names it is never run: it gets address 0."""


@record
class Resolution:
    """`targets[owner][index]` is the meaning of a symbol: None where it names no place, as a file name does.

    Sections named in `left_out` are in no file. `entry` is where the program begins; a shared object has none.
    `exports` are the places it shows, each with the symbol that names it.
    """

    objects: tuple[Object, ...]
    targets: dict[str, tuple[Target | None, ...]]
    entry: Place | None
    exports: tuple[tuple[Place, Symbol], ...] = ()
    left_out: frozenset[str] = frozenset()


def resolve(
    objects: Sequence[Object],
    entry: str | None,
    exports: Sequence[str] = (),
    left_out: frozenset[str] = frozenset(),
) -> Resolution:
    """Bind every symbol. Raises `LinkError` for a name without a definition, with two, or reserved to the linker."""
    definitions = _definitions(objects)
    start = None if entry is None else definitions.get(entry)
    if entry is not None and (start is None or not start.section.flags & form.SHF_EXECINSTR):
        raise LinkError(Fault.NO_ENTRY, entry)
    targets = {
        each.name: tuple(_target(each, symbol, definitions, left_out) for symbol in each.symbols)
        for each in objects
    }
    shown = tuple(_export(objects, definitions, name) for name in exports)
    return Resolution(tuple(objects), targets, start, shown, left_out)


def _export(
    objects: Sequence[Object], definitions: dict[str, Place], name: str
) -> tuple[Place, Symbol]:
    """A place to export, and the symbol that says what stands there."""
    place = definitions.get(name)
    if place is None or not place.section.allocated:
        raise LinkError(Fault.UNDEFINED_SYMBOL, name, "it is to be exported")
    owner = next(each for each in objects if each.name == place.section.owner)
    symbol = next(
        each
        for each in owner.symbols
        if each.name == name and each.binding != form.STB_LOCAL and each.section != form.SHN_UNDEF
    )
    return place, symbol


def _definitions(objects: Sequence[Object]) -> dict[str, Place]:
    found: dict[str, Place] = {}
    for each in objects:
        for symbol in each.symbols:
            if symbol.binding == form.STB_LOCAL or symbol.section == form.SHN_UNDEF:
                continue
            if symbol.name in RESERVED:
                raise LinkError(Fault.RESERVED_SYMBOL, f"{each.name}: {symbol.name}")
            if symbol.name in found:
                other = found[symbol.name].section.owner
                raise LinkError(
                    Fault.DUPLICATE_SYMBOL, f"{each.name}: {symbol.name}", f"also in {other}"
                )
            found[symbol.name] = Place(each.sections[symbol.section], symbol.value)
    return found


def _target(
    owner: Object, symbol: Symbol, definitions: dict[str, Place], left_out: frozenset[str]
) -> Target | None:
    if symbol.section == form.SHN_ABS:
        return None
    if symbol.section != form.SHN_UNDEF:
        if owner.sections[symbol.section].name in left_out:
            return LEFT_OUT
        return Place(owner.sections[symbol.section], symbol.value)
    if symbol.binding == form.STB_LOCAL:
        return None
    if symbol.name in definitions:
        return definitions[symbol.name]
    if symbol.name in RESERVED:
        return ReservedName(symbol.name)
    raise LinkError(Fault.UNDEFINED_SYMBOL, f"{owner.name}: {symbol.name}")
