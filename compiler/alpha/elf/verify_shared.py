"""The independent re-reader of shared objects: the laws of `verify.py`, but for what a loader does to one.

 4. entry     none: a shared object is no program
 5. dynamic   as there, with the name the file goes by, and not marked as PIE
12. exports   every symbol a loader sees is defined, global, of default visibility, a function in code or an object
              in read-only bytes, inside its section, and begins with the prefix; the GNU hash table finds each
"""

from __future__ import annotations

from typing import Final

from alpha.base.host import HostTarget
from alpha.elf.image import EXECUTE, Image, Section, need
from alpha.elf.verify import LAWS, Laws, check, loaders_view

GLOBAL, OBJECT, FUNCTION = 1, 1, 2


def verify_shared(image: bytes, host: HostTarget, prefix: str) -> None:
    """Check every law on a shared object. Raises `LinkError` with the first one that does not hold."""
    laws: Laws = tuple((name, _INSTEAD.get(name, law)) for name, law in LAWS)
    check(Image(image, host), (*laws, ("exports", lambda read: _exports(read, prefix))))


def _entry(image: Image) -> None:
    need(image.unpack("<Q", 24) == (0,), "a shared object begins nowhere")


def _dynamic(image: Image) -> None:
    tags = loaders_view(image)
    need(tags.get(0x6FFFFFFB) == 1, "marked as something else than bound at once")
    names = _table(image, ".dynstr", 3)
    need(0 < tags.get(14, 0) < names.size, "no name to go by")
    need(image.text(names.offset, names.size, tags[14]) != "", "an empty name")
    for tag, name, kind in (
        (5, ".dynstr", 3),
        (6, ".dynsym", 11),
        (0x6FFFFEF5, ".gnu.hash", 0x6FFFFFF6),
    ):
        need(tags.get(tag) == _table(image, name, kind).address, f"not the table {name}")


def _exports(image: Image, prefix: str) -> None:
    symbols, names = _table(image, ".dynsym", 11), _table(image, ".dynstr", 3)
    need(symbols.size % 24 == 0 and symbols.info == 1, "not whole symbols behind one that is local")
    found: list[str] = []
    for k in range(symbols.size // 24):
        row = image.unpack("<IBBHQQ", symbols.offset + 24 * k)
        if k == 0:
            need(row == (0,) * 6, "the first symbol")
            continue
        name = image.text(names.offset, names.size, row[0])
        need(name.startswith(prefix), f"{name} does not begin with {prefix}")
        _exported(image, name, row)
        found.append(name)
    need(len(found) == len(set(found)) > 0, "no name, or one twice")
    table = _table(image, ".gnu.hash", 0x6FFFFFF6)
    for k, name in enumerate(found, 1):
        need(_look_up(image, table, name) == k, f"the hash table does not find {name}")
    need(_look_up(image, table, prefix) == 0, "the hash table finds what is not there")


def _exported(image: Image, name: str, row: tuple[int, ...]) -> None:
    _, information, other, index, value, size = row
    need(information >> 4 == GLOBAL and other == 0, f"{name} is not global and visible")
    need(0 < index < len(image.sections), f"{name} is not defined")
    section = image.sections[index]
    inside = section.address <= value and value + size <= section.address + section.size
    need(inside and size > 0, f"{name} is outside {section.name}")
    flags = {FUNCTION: EXECUTE, OBJECT: 0}.get(information & 15)
    need(flags is not None and image.loaded(value, flags), f"{name} is not what it says")


def _look_up(image: Image, table: Section, name: str) -> int:
    """The symbol that a loader finds under a name, or 0."""
    wanted = 5381
    for byte in name.encode():
        wanted = (wanted * 33 + byte) % (1 << 32)
    buckets, first, words, shift = image.unpack("<4I", table.offset)
    need(buckets > 0 and words > 0 and first > 0, "an empty hash table")
    (word,) = image.unpack("<Q", table.offset + 16 + 8 * (wanted // 64 % words))
    if not word >> wanted % 64 & 1 or not word >> (wanted >> shift) % 64 & 1:
        return 0
    start = table.offset + 16 + 8 * words
    (symbol,) = image.unpack("<I", start + 4 * (wanted % buckets))
    need(symbol == 0 or symbol >= first, "a bucket names no symbol")
    while symbol:
        place = start + 4 * (buckets + symbol - first)
        need(place + 4 <= table.offset + table.size, "a chain without an end")
        (stated,) = image.unpack("<I", place)
        if stated | 1 == wanted | 1 and _named(image, symbol) == name:
            return symbol
        symbol = 0 if stated & 1 else symbol + 1
    return 0


def _named(image: Image, symbol: int) -> str:
    symbols, names = _table(image, ".dynsym", 11), _table(image, ".dynstr", 3)
    (name,) = image.unpack("<I", symbols.offset + 24 * symbol)
    return image.text(names.offset, names.size, name)


def _table(image: Image, name: str, kind: int) -> Section:
    section = image.section(name)
    if section is None or section.kind != kind or section.flags != 2:
        need(False, f"no read-only section {name}")
    assert section is not None
    return section


_INSTEAD: Final = {"entry": _entry, "dynamic": _dynamic}
