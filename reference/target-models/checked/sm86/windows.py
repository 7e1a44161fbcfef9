"""Global memory as one launch sees it: who may touch what, and who did.

No byte may be touched by two threads of a launch if one of them writes it: nothing orders threads of different blocks,
and kernels carry nothing between threads through global memory. The shadow of a written window holds for each granule
(the kernel's smallest element) which thread wrote it, and which one read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from checked.sm86.access import Access, column, first_row, rows, some, stamped, wide
from checked.sm86.faults import FaultKind
from checked.sm86.lanes import Lanes, Violation
from checked.sm86.memory import Memory, Window
from checked.sm86.traffic import Traffic

Array = Any
SEVERAL = -1
"""The reader of a granule that several threads have read."""
_EDGE = 16


class View:
    """A window with its bytes. `base` is its address rounded down to 16, where rows of every size begin."""

    def __init__(self, window: Window, memory: Memory, granule: int) -> None:
        self.window = window
        self.base = window.address - window.address % _EDGE
        self.skew = window.address - self.base
        self.end = self.skew + window.bytes
        first = self.base - memory.origin
        self.data: Array = memory.data[first : first + self.end]
        self.shadow: Array = memory.shadow[first : first + self.end]
        self.readable = not window.written or window.partial
        self.overlapped: list[View] = []
        self.granule = granule
        while self.skew % self.granule or window.bytes % self.granule:
            self.granule //= 2
        self._whole: bool | None = None
        self._rows: dict[tuple[str, int], Array] = {}
        self.writers: Array = None
        self.readers: Array | None = None
        if window.written:
            self.writers = numpy.zeros(self.end // self.granule, numpy.int32)

    @property
    def whole(self) -> bool:
        """Whether every byte has a value. It is looked up once: a byte that has a value keeps one."""
        if self._whole is None:
            known = self.shadow[self.skew :]
            self._whole = bool(numpy.count_nonzero(known) == known.size)
        return self._whole

    def elements(self, access: Access) -> Array:
        key = (access.kind, access.lanes)
        if key not in self._rows:
            self._rows[key] = rows(self.data, access.kind, access.lanes)
        return self._rows[key]

    def covers(self, inner: Array, access: Access) -> Array:
        """For each offset from the base, whether the access lies in the window."""
        if self.window.bytes < access.bytes:
            return numpy.zeros(inner.shape, bool)
        fits = inner <= numpy.uint64(self.end - access.bytes)
        return fits & (inner >= numpy.uint64(self.skew)) if self.skew else fits

    def marks(self, marks: Array, access: Access) -> Array:
        return stamped(marks, access.bytes // self.granule)


class Global:
    """The windows of a launch."""

    def __init__(
        self, memory: Memory, windows: Sequence[Window], granule: int, traffic: Traffic | None
    ) -> None:
        self.traffic = traffic
        self.views = [View(window, memory, granule) for window in windows]
        self.readable = [view for view in self.views if view.readable]
        self.writable = [view for view in self.views if view.window.written]
        for view in self.readable:
            view.overlapped = [other for other in self.writable if _overlap(view, other)]
            for other in view.overlapped:
                other.readers = numpy.zeros(other.writers.size, numpy.int32)
        for view in self.writable:
            if any(_overlap(view, other) for other in self.writable if other is not view):
                raise ValueError(
                    f"window {view.window.name} and another written window share bytes"
                )
        self._hints: dict[int, View] = {}

    def load(self, access: Access, address: Array, lanes: Lanes) -> Array:
        """The elements at addresses: one array, or an array of as many rows as the access has elements."""
        found: Array = None
        for view, inner, part in self._views(access, address, lanes, self.readable):
            row = self._row(view, access, inner, part)
            if access.space == "nc" and view.overlapped:
                text = f"a non-coherent load of window {view.window.name}, whose bytes the launch may write"
                _refuse(FaultKind.FORBIDDEN, text, access, view, inner, part, 0)
            if not view.whole:
                known = wide(view.shadow, access.bytes).take(row, 0)
                unknown = known != numpy.iinfo(known.dtype).max
                if some(unknown):
                    _refuse(
                        FaultKind.UNINITIALISED_GLOBAL,
                        f"window {view.window.name} has no value here",
                        access,
                        view,
                        inner,
                        part,
                        first_row(unknown),
                    )
            for other in view.overlapped:
                self._note(other, view, access, inner, part)
            values = view.elements(access).take(row, 0)
            if part is lanes:
                return values if access.lanes == 1 else values.T.copy()
            if found is None:
                found = numpy.zeros((lanes.count, *values.shape[1:]), values.dtype)
            found[_positions(part, lanes)] = values
        return found if access.lanes == 1 else found.T.copy()

    def store(self, access: Access, address: Array, values: Sequence[Array], lanes: Lanes) -> None:
        data = values[0] if access.lanes == 1 else numpy.stack(values, 1)
        for view, inner, part in self._views(access, address, lanes, self.writable):
            row = self._row(view, access, inner, part)
            self._mark(view, access, row, inner, part)
            mine = data if part is lanes else data[_positions(part, lanes)]
            view.elements(access)[row] = mine
            known = wide(view.shadow, access.bytes)
            known[row] = numpy.iinfo(known.dtype).max

    def finish(self) -> tuple[Window, int] | None:
        """After the launch: a written window with a byte that nobody wrote, and that byte's address."""
        for view in self.writable:
            first = view.skew // view.granule
            missing = view.writers[first:] == 0
            if not view.window.partial and numpy.count_nonzero(missing):
                at = int(numpy.flatnonzero(missing)[0]) * view.granule
                return view.window, view.window.address + at
        return None

    def _views(
        self, access: Access, address: Array, lanes: Lanes, views: list[View]
    ) -> list[tuple[View, Array, Lanes]]:
        """The lanes by the window that they touch, with their offsets from its base."""
        if self.traffic is not None:
            self.traffic.memory(address + numpy.uint64(access.offset & (2**64 - 1)), lanes)
        hint = self._hints.get(access.number)
        if hint is not None or views:
            view = hint or views[0]
            inner = address + numpy.uint64((access.offset - view.base) & (2**64 - 1))
            if numpy.count_nonzero(view.covers(inner, access)) == lanes.count:
                self._hints[access.number] = view
                return [(view, inner, lanes)]
        return self._split(access, address, lanes, views)

    def _split(
        self, access: Access, address: Array, lanes: Lanes, views: list[View]
    ) -> list[tuple[View, Array, Lanes]]:
        found: list[tuple[View, Array, Lanes]] = []
        left = numpy.ones(lanes.count, bool)
        for view in views:
            inner = address + numpy.uint64((access.offset - view.base) & (2**64 - 1))
            here = left & view.covers(inner, access)
            if (count := numpy.count_nonzero(here)) == lanes.count:
                self._hints[access.number] = view
                return [(view, inner, lanes)]
            if count:
                at = numpy.flatnonzero(here)
                found.append((view, inner.take(at), lanes.part(at)))
                left &= ~here
        if some(left):
            lane = first_row(left)
            where = (int(address[lane]) + access.offset) & (2**64 - 1)
            self._outside(access, where, lanes, lane)
        return found

    def _outside(self, access: Access, where: int, lanes: Lanes, lane: int) -> None:
        for view in self.views:
            window = view.window
            if window.address <= where and where + access.bytes <= window.address + window.bytes:
                how = (
                    "a store to a window that is only read"
                    if access.store
                    else "a load of a window that is only written"
                )
                raise Violation(
                    FaultKind.FORBIDDEN, f"{how}: {window.name}", lanes, lane, access.line, where
                )
        raise Violation(
            FaultKind.OUT_OF_BOUNDS,
            "outside of every window of the launch",
            lanes,
            lane,
            access.line,
            where,
        )

    def _row(self, view: View, access: Access, inner: Array, lanes: Lanes) -> Array:
        if access.bytes > 1:
            odd = inner & access.odd
            if numpy.count_nonzero(odd):
                _refuse(
                    FaultKind.MISALIGNED,
                    f"not a multiple of {access.bytes}",
                    access,
                    view,
                    inner,
                    lanes,
                    first_row(odd != 0),
                )
        return (inner >> access.by).view(numpy.int64)

    def _mark(self, view: View, access: Access, row: Array, inner: Array, lanes: Lanes) -> None:
        """Notes who writes, and refuses bytes that another thread has touched."""
        marks = view.marks(view.writers, access)
        before = marks.take(row, 0)
        mine = column(lanes.stamp, before)
        if numpy.count_nonzero(before):
            bad = (before != 0) & (before != mine)
            _clash("two threads write", bad, before, access, view, inner, lanes)
        marks[row] = mine
        after = marks.take(row, 0)
        lost = after != mine
        if some(lost):
            _clash("two threads write", lost, after, access, view, inner, lanes)
        if view.readers is not None:
            read = view.marks(view.readers, access).take(row, 0)
            bad = (read != 0) & (read != mine)
            _clash("a thread writes what was read", bad, read, access, view, inner, lanes)

    def _note(self, view: View, through: View, access: Access, inner: Array, lanes: Lanes) -> None:
        """Notes who reads bytes of a written window, granule by granule where the windows only share some."""
        assert view.readers is not None
        start = inner.astype(numpy.int64) + (through.base - view.base)
        for step in range(0, access.bytes, view.granule):
            at = (start + step) // view.granule
            here = numpy.flatnonzero((at >= view.skew // view.granule) & (at < view.writers.size))
            if not here.size:
                continue
            at = at.take(here)
            mine = lanes.stamp.take(here)
            wrote = view.writers.take(at)
            bad = (wrote != 0) & (wrote != mine)
            if some(bad):
                _clash(
                    "a thread reads what was written",
                    bad,
                    wrote,
                    access,
                    through,
                    inner.take(here),
                    lanes.part(here),
                )
            before = view.readers.take(at)
            view.readers[at] = mine
            several = (view.readers.take(at) != mine) | ((before != 0) & (before != mine))
            view.readers[at[several]] = SEVERAL


def _positions(part: Lanes, lanes: Lanes) -> Array:
    return part.at if lanes.at is None else numpy.searchsorted(lanes.at, part.at)


def _overlap(one: View, other: View) -> bool:
    a, b = one.window, other.window
    return a.address < b.address + b.bytes and b.address < a.address + a.bytes


def _clash(
    how: str, bad: Array, marks: Array, access: Access, view: View, inner: Array, lanes: Lanes
) -> None:
    if not some(bad):
        return
    lane = first_row(bad)
    found = int(marks[lane] if marks.ndim == 1 else marks[lane][bad[lane]][0])
    whom = "several threads"
    if found != SEVERAL:
        block, thread = divmod(found - 1, lanes.threads)
        whom = f"thread {thread} of block {block}"
    _refuse(
        FaultKind.GLOBAL_RACE,
        f"{how}, against {whom}, in window {view.window.name}",
        access,
        view,
        inner,
        lanes,
        lane,
    )


def _refuse(
    kind: FaultKind, text: str, access: Access, view: View, inner: Array, lanes: Lanes, lane: int
) -> None:
    raise Violation(kind, text, lanes, lane, access.line, view.base + int(inner[lane]))
