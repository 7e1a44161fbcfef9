"""Looking into what a linker under test has written."""

from __future__ import annotations

from alpha.elf.image import Image, Section
from targets.elf.hand_made import X86
from targets.elf.linker_under_test import Linker


def linked(elf: Linker, *objects: bytes, **options: object) -> Image:
    linked = elf.link(*objects, **options)  # type: ignore[arg-type]
    machine = int(options.get("machine", X86))  # type: ignore[call-overload]
    elf.verify(linked, machine)
    return Image(linked, elf.host(machine))


def section_of(image: Image, name: str) -> Section:
    section = image.section(name)
    assert section is not None, f"no section {name}"
    return section


def body_of(image: Image, name: str) -> bytes:
    section = section_of(image, name)
    return image.data[section.offset : section.offset + section.size]


def symbols_of(image: Image) -> dict[str, tuple[int, ...]]:
    """Name to (information, visibility, section, value, size)."""
    table, strings = section_of(image, ".symtab"), section_of(image, ".strtab")
    rows = [image.unpack("<IBBHQQ", table.offset + at) for at in range(24, table.size, 24)]
    return {image.text(strings.offset, strings.size, row[0]): row[1:] for row in rows}
