"""The linker: objects of our own making to one self-contained position-independent executable, or a shared object.

The file needs no interpreter and no library. It loads anywhere: the runtime applies the relocations between
`__rela_start` and `__rela_end` and then makes the pages from `__relro_start` to `__relro_end` read-only.
A shared object leaves both to its loader, needs nothing of it besides, and shows it the exports alone.
Section `.alpha.manifest` holds the SHA-256 of the whole file with those 32 bytes zero, then the manifest.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.host import HostTarget
from alpha.base.record import record
from alpha.elf.blobs import OWNER as BLOBS
from alpha.elf.blobs import Blob, blobs_object
from alpha.elf.collect import collect
from alpha.elf.errors import Fault, LinkError
from alpha.elf.exports import Export, Shared, ordered
from alpha.elf.fill import fill
from alpha.elf.form import R_RELATIVE
from alpha.elf.layout import place
from alpha.elf.read import Object, read_object
from alpha.elf.resolve import resolve
from alpha.elf.write import write

__all__ = ["Blob", "Export", "LinkOptions", "Shared", "link"]


@record
class LinkOptions:
    """What to link for and what to add. `debug`: keep symbols and debugging information.

    Input sections with a name in `left_out` are dropped: what is loaded must never run into them.
    With `shared` the result is a shared object, which has no entry.
    """

    host: HostTarget
    manifest: bytes
    blobs: tuple[Blob, ...] = ()
    debug: bool = True
    entry: str = "_start"
    left_out: frozenset[str] = frozenset()
    shared: Shared | None = None


def link(objects: Sequence[tuple[str, bytes]], options: LinkOptions) -> bytes:
    """The executable or shared object made of relocatable objects (name for messages, bytes), in this order.

    The bytes depend on the arguments alone. Raises `LinkError`, by name, for whatever is not supported.
    """
    machine, page = options.host.machine, options.host.page
    inputs = _inputs(objects, options)
    shared = options.shared
    resolution = resolve(
        inputs,
        None if shared else options.entry,
        [export.symbol for export in ordered(shared)],
        options.left_out,
    )
    collection = collect(machine, resolution, options.manifest, options.debug, shared)
    layout = place(collection, page)
    contents = fill(machine, resolution, collection, layout)
    return write(machine, resolution, collection, layout, contents, options.debug)


def _inputs(objects: Sequence[tuple[str, bytes]], options: LinkOptions) -> tuple[Object, ...]:
    machine = options.host.machine
    if machine not in R_RELATIVE:
        raise LinkError(Fault.OTHER_MACHINE, options.host.name)
    if not objects:
        raise LinkError(Fault.NO_OBJECTS, options.host.name)
    names = [name for name, _ in objects]
    for name in names:
        if names.count(name) > 1 or name == BLOBS:
            raise LinkError(Fault.SAME_NAME, name)
    read = [read_object(name, data) for name, data in objects]
    for each in read:
        if each.machine != machine:
            raise LinkError(Fault.OTHER_MACHINE, each.name, f"not for {options.host.name}")
    if options.blobs:
        read.append(blobs_object(machine, options.blobs))
    return tuple(read)
