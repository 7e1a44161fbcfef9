"""What a file shows to a dynamic loader: the symbols it exports, their names, and the hash table that finds them.

Source: the GNU hash table as the loaders of glibc and musl read it (`DT_GNU_HASH`): a header of four words, one word of
a Bloom filter, a bucket a symbol, and a chain that holds the hashes in the order of the symbols.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Final

from alpha.base.record import record
from alpha.elf import form

_BLOOM_SHIFT: Final = 6


@record
class Export:
    """A symbol `symbol` of the objects, which a loader finds as `name`."""

    name: str
    symbol: str


@record
class Shared:
    """A shared object: the name it goes by (`DT_SONAME`) and all it exports; every other symbol is hidden."""

    soname: str
    exports: tuple[Export, ...]


def ordered(shared: Shared | None) -> tuple[Export, ...]:
    """The exports in the order of their symbols: a bucket's stand together."""
    if shared is None:
        return ()
    count = len(shared.exports)
    return tuple(
        sorted(shared.exports, key=lambda export: (hash_of(export.name) % count, export.name))
    )


def hash_of(name: str) -> int:
    """Bernstein's hash, 32 bits wide."""
    value = 5381
    for byte in name.encode("ascii"):
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


def hash_table(exports: Sequence[Export]) -> bytes:
    """The contents of `.gnu.hash` for exports in their order; symbol 0 is none of them."""
    if not exports:
        return struct.pack("<4IQI", 1, 1, 1, 0, 0, 0)
    hashes = [hash_of(export.name) for export in exports]
    count = len(hashes)
    bloom = 0
    for value in hashes:
        bloom |= 1 << value % 64 | 1 << (value >> _BLOOM_SHIFT) % 64
    where = [value % count for value in hashes]
    buckets = [where.index(bucket) + 1 if bucket in where else 0 for bucket in range(count)]
    last = [at + 1 == count or where[at + 1] != where[at] for at in range(count)]
    chain = [value & ~1 | end for value, end in zip(hashes, last, strict=True)]
    head = struct.pack("<4IQ", count, 1, 1, _BLOOM_SHIFT, bloom)
    return head + struct.pack(f"<{2 * count}I", *buckets, *chain)


def names(shared: Shared | None) -> bytes:
    """The contents of `.dynstr`: the file's own name, then those of the exports."""
    if shared is None:
        return b"\0"
    parts = [shared.soname, *(export.name for export in ordered(shared))]
    return b"\0" + b"".join(part.encode("ascii") + b"\0" for part in parts)


def symbol_table(shared: Shared | None, rows: Sequence[tuple[int, int, int, int]]) -> bytes:
    """The contents of `.dynsym`. `rows` has the kind, section, address and size of each export, in their order."""
    table = [bytes(form.SYMBOL.size)]
    name = 0 if shared is None else 1 + len(shared.soname) + 1
    for export, (kind, section, address, size) in zip(ordered(shared), rows, strict=True):
        information = form.STB_GLOBAL << 4 | kind
        table.append(form.SYMBOL.pack(name, information, 0, section, address, size))
        name += len(export.name) + 1
    return b"".join(table)
