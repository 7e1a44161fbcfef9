"""Large read-only data that the linker places itself: through LLVM it would cost seconds and memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from alpha.base.record import record
from alpha.elf import form
from alpha.elf.errors import Fault, LinkError
from alpha.elf.read import Object, Section, Symbol

SECTION: Final = ".alpha.data"
OWNER: Final = "blobs"


@record
class Blob:
    """Bytes that the hidden symbol `symbol` will name, at a multiple of `align` (a power of two)."""

    symbol: str
    data: bytes
    align: int = 64


def blobs_object(machine: int, blobs: Sequence[Blob]) -> Object:
    """An object with one section a blob, as if a compiler had written it."""
    sections = [Section(OWNER, 0, "", form.SHT_NULL, 0, b"", 0, 1, 0)]
    symbols = []
    for index, blob in enumerate(blobs, 1):
        where = f"{OWNER}: {blob.symbol}"
        if blob.align < 1 or blob.align & (blob.align - 1):
            raise LinkError(Fault.BAD_ALIGNMENT, where, str(blob.align))
        # A place needs a byte to stand on, even where the blob has none.
        data = blob.data or b"\0"
        sections.append(
            Section(
                OWNER,
                index,
                SECTION,
                form.SHT_PROGBITS,
                form.SHF_ALLOC,
                data,
                len(data),
                blob.align,
                0,
            )
        )
        symbols.append(
            Symbol(
                blob.symbol,
                0,
                len(blob.data),
                form.STB_GLOBAL,
                form.STT_OBJECT,
                form.STV_HIDDEN,
                index,
            )
        )
    return Object(OWNER, machine, tuple(sections), tuple(symbols))
