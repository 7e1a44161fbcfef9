"""What accesses cost the memories: wavefronts of shared memory, sectors of global memory.

Shared memory has 32 banks of 4 bytes. A warp's access of up to 4, of 8 and of 16 bytes a thread goes in phases of 32,
16 and 8 threads; a phase takes as many wavefronts as the busiest bank has different words. Global memory moves sectors
of 32 bytes: a warp's access takes as many as it touches.
"""

from __future__ import annotations

from typing import Any

import numpy

from checked.sm86.access import Access
from checked.sm86.lanes import Lanes

Array = Any
BANKS = 32
SECTOR = 32
WARP = 32


class Traffic:
    """The sums of a launch."""

    def __init__(self) -> None:
        self.wavefronts = 0
        self.sectors = 0

    def shared(self, access: Access, inner: Array, lanes: Lanes) -> None:
        """An access at offsets in the blocks' arrays."""
        together = WARP * 4 // max(access.bytes, 4)
        phase = _numbers(lanes) // together
        # Accesses are aligned, so their second and later words collide exactly as their first ones do.
        words = inner.astype(numpy.int64) >> 2
        different = numpy.unique(phase << 32 | words)
        _, place = numpy.unique(different >> 32, return_inverse=True)
        busy = numpy.bincount(place * BANKS + (different & (BANKS - 1)), minlength=BANKS)
        busy = numpy.pad(busy, (0, -busy.size % BANKS)).reshape(-1, BANKS)
        self.wavefronts += int(busy.max(axis=1).sum())

    def memory(self, address: Array, lanes: Lanes) -> None:
        """An access at addresses, each within one sector as it is aligned."""
        warp = _numbers(lanes) // WARP
        # Any 2**32 neighbouring sectors are told apart; no launch touches more.
        sector = (address // numpy.uint64(SECTOR)).view(numpy.int64) & 0xFFFFFFFF
        self.sectors += int(numpy.unique(warp << 32 | sector).size)


def _numbers(lanes: Lanes) -> Array:
    """The positions of lanes in the batch: 32 after another are a warp."""
    return numpy.arange(lanes.count) if lanes.at is None else lanes.at
