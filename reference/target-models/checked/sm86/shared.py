"""The shared arrays of a batch of blocks, with the shadow that finds reads of nothing and races.

For each granule (the kernel's smallest element) the shadow holds who wrote it last, and on demand who read it last. A
mark is `floor + 1 + thread`, where the floor rises by `STRIDE` at each barrier: marks above it are of this epoch.
All blocks of a batch that still run pass their barriers together, so they are in the same epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from checked.sm86.access import Access, column, first_row, rows, some, stamped
from checked.sm86.faults import FaultKind
from checked.sm86.lanes import Lanes, Violation
from checked.sm86.traffic import Traffic

Array = Any
STRIDE = 2048
SEVERAL = STRIDE - 1
"""The mark, above the floor, of a granule that several threads have read."""
_LONGEST = 256
"""Reads that are remembered as they came, before they are put into the shadow."""


class Shared:
    """`bytes` for each of `blocks`; `base` is the address that kernels see, and `granule` a power of two."""

    def __init__(
        self, blocks: int, bytes: int, base: int, granule: int, traffic: Traffic | None
    ) -> None:
        self.traffic = traffic
        self.bytes = bytes
        self.base = base
        self.pitch = -(-bytes // 16) * 16
        self.granule = granule
        self.data: Array = numpy.zeros(blocks * self.pitch, numpy.uint8)
        self.writers: Array = numpy.zeros(self.data.size // granule, numpy.int32)
        self.readers: Array | None = None
        self.floor = 0
        self._reads: list[tuple[Access, Array, Array, Array, list[int]]] = []
        self._rows: dict[tuple[str, int], Array] = {}

    def next_epoch(self) -> None:
        """A barrier was passed: accesses before it are ordered before those after it."""
        self._reads.clear()
        self.floor += STRIDE
        if self.floor > 2**31 - 2 * STRIDE:
            numpy.minimum(self.writers, 1, out=self.writers)
            self.readers = None
            self.floor = STRIDE

    def load(self, access: Access, address: Array, lanes: Lanes) -> Array:
        """The elements at addresses: one array, or an array of as many rows as the access has elements."""
        row, inner = self._row(access, address, lanes)
        written = self._marks(self.writers, access).take(row, 0)
        if some(missing := written == 0):
            lane = first_row(missing)
            self._refuse(
                FaultKind.UNINITIALISED_SHARED, "nobody wrote this", access, address, lanes, lane
            )
        recent = written > self.floor
        if some(recent):
            self._clash(
                "read after write",
                recent & (written != column(lanes.mark, written)),
                written,
                access,
                address,
                lanes,
            )
        self._reads.append((access, row, inner, lanes.mark, []))
        if len(self._reads) > _LONGEST:
            self._settle(None)
        found = self._elements(access).take(row, 0)
        return found if access.lanes == 1 else found.T.copy()

    def store(self, access: Access, address: Array, values: Sequence[Array], lanes: Lanes) -> None:
        row, inner = self._row(access, address, lanes)
        marks = self._marks(self.writers, access)
        mine = lanes.mark
        written = marks.take(row, 0)
        recent = written > self.floor
        if some(recent):
            self._clash(
                "write after write",
                recent & (written != column(mine, written)),
                written,
                access,
                address,
                lanes,
            )
        if self._reads:
            self._settle((access, inner))
        if self.readers is not None:
            read = self._marks(self.readers, access).take(row, 0)
            bad = (read > self.floor) & (read != column(mine, read))
            self._clash("write after read", bad, read, access, address, lanes)
        marks[row] = column(mine, written)
        after = marks.take(row, 0)
        lost = after != column(mine, after)
        self._clash("two threads write at once", lost, after, access, address, lanes)
        elements = self._elements(access)
        elements[row] = values[0] if access.lanes == 1 else numpy.stack(values, 1)

    def _row(self, access: Access, address: Array, lanes: Lanes) -> tuple[Array, Array]:
        """The row of each lane's access in the batch's bytes, and its offset in its block's.

        Refuses what reaches beyond the block's array or is not aligned.
        """
        inner = address + numpy.uint32((access.offset - self.base) & 0xFFFFFFFF)
        beyond = (
            inner > max(self.bytes - access.bytes, -1)
            if self.bytes >= access.bytes
            else inner == inner
        )
        if some(beyond):
            self._refuse(
                FaultKind.OUT_OF_BOUNDS,
                f"outside of the {self.bytes} shared bytes",
                access,
                address,
                lanes,
                first_row(beyond),
            )
        if access.bytes > 1:
            odd = inner & access.odd
            if numpy.count_nonzero(odd):
                lane = first_row(odd != 0)
                self._refuse(
                    FaultKind.MISALIGNED,
                    f"not a multiple of {access.bytes}",
                    access,
                    address,
                    lanes,
                    lane,
                )
        if self.traffic is not None:
            self.traffic.shared(access, inner, lanes)
        return (inner >> access.by) + lanes.pitched(self.pitch >> access.shift), inner

    def _marks(self, marks: Array, access: Access) -> Array:
        return stamped(marks, access.bytes // self.granule)

    def _elements(self, access: Access) -> Array:
        key = (access.kind, access.lanes)
        if key not in self._rows:
            self._rows[key] = rows(self.data, access.kind, access.lanes)
        return self._rows[key]

    def _settle(self, by: tuple[Access, Array] | None) -> None:
        """Puts remembered reads into the shadow: those that may meet a store, or all of them."""
        low, high = (0, self.bytes) if by is None else _span(*by)
        kept = []
        for read in self._reads:
            access, row, inner, mark, span = read
            if not span:
                span.extend(_span(access, inner))
            if span[1] <= low or high <= span[0]:
                kept.append(read)
                continue
            if self.readers is None:
                self.readers = numpy.zeros(self.writers.size, numpy.int32)
            marks = self._marks(self.readers, access)
            before = marks.take(row, 0)
            mine = column(mark, before)
            marks[row] = mine
            shared = (marks.take(row, 0) != mine) | ((before > self.floor) & (before != mine))
            if some(shared):
                flat = shared.nonzero()
                marks[(row[flat[0]], *flat[1:])] = self.floor + SEVERAL
        self._reads = kept

    def _clash(
        self, how: str, bad: Array, marks: Array, access: Access, address: Array, lanes: Lanes
    ) -> None:
        if not some(bad):
            return
        lane = first_row(bad)
        found = marks[lane] if marks.ndim == 1 else marks[lane][bad[lane]][0]
        other = int(found) - self.floor - 1
        whom = "several threads" if other == SEVERAL - 1 else f"thread {other}"
        self._refuse(
            FaultKind.SHARED_RACE,
            f"{how}, against {whom}, with no barrier between",
            access,
            address,
            lanes,
            lane,
        )

    def _refuse(
        self, kind: FaultKind, text: str, access: Access, address: Array, lanes: Lanes, lane: int
    ) -> None:
        where = (
            int(numpy.broadcast_to(address, (lanes.count,))[lane]) + access.offset
        ) & 0xFFFFFFFF
        raise Violation(kind, text, lanes, lane, access.line, where)


def _span(access: Access, inner: Array) -> tuple[int, int]:
    """The first byte of a block that an access reaches, and the first behind it."""
    return int(inner.min()), int(inner.max()) + access.bytes
