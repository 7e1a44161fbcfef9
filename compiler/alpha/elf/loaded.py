"""How much memory an executable takes when it is loaded, read from its bytes."""

from __future__ import annotations

from alpha.base.host import HostTarget
from alpha.elf.image import LOAD, Image


def loaded_bytes(data: bytes, host: HostTarget) -> int:
    """Bytes of the pages of all loaded segments, with what begins as zero; pages of the host's largest size."""
    page = host.page
    total = 0
    for segment in Image(data, host).segments:
        if segment.kind == LOAD:
            first = segment.address // page
            total += (-(-(segment.address + segment.size) // page) - first) * page
    return total
