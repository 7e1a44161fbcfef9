"""Exact places in the arena: lasting buffers one after the other, the workspace by live ranges.

Programs never run at the same time, so each has the whole workspace. Buffers that share bytes never live at once, which
`verify` checks from scratch.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from alpha.plan.liveness import Range
from alpha.plan.plan import Buffer

ALIGNMENT = 64
"""Every buffer starts at a multiple of this many bytes: a cache line, and the widest vector."""


class ArenaFault(Exception):
    """Two buffers that live at once share bytes: a bug in Alpha, never the user's."""


def rounded(size: int) -> int:
    """The bytes that a buffer takes away from others."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def placed(ranges: Sequence[Range], base: int) -> dict[str, int]:
    """An offset for each buffer, from `base` on.

    Largest first; each goes into the smallest hole that fits between those which live at the same time, or behind them.
    """
    order = sorted(ranges, key=lambda item: (-item.type.bytes, item.first, item.name))
    offsets: dict[str, int] = {}
    done: list[tuple[Range, int, int]] = []
    for item in order:
        size = rounded(item.type.bytes)
        taken: list[tuple[int, int]] = []
        for other, start, end in done:
            if other.first <= item.last and item.first <= other.last:
                insort(taken, (start, end))
        offset = _best_hole(taken, size, base)
        offsets[item.name] = offset
        done.append((item, offset, offset + size))
    return offsets


def _best_hole(taken: Iterable[tuple[int, int]], size: int, base: int) -> int:
    best: int | None = None
    smallest = 0
    at = base
    for start, end in taken:
        room = start - at
        if room >= size and (best is None or room < smallest):
            best, smallest = at, room
        at = max(at, end)
    return at if best is None else best


def verify(buffers: Sequence[Buffer], arena: int) -> None:
    """Raises ArenaFault unless offsets are aligned, all bytes lie in the arena, and no two live buffers share any."""
    for buffer in buffers:
        if buffer.offset % ALIGNMENT or buffer.offset < 0:
            raise ArenaFault(f"`{buffer.name}` lies at {buffer.offset}")
        if buffer.offset + buffer.bytes > arena:
            raise ArenaFault(f"`{buffer.name}` leaves the arena of {arena} bytes")
    lasting = [buffer for buffer in buffers if not buffer.program]
    _disjoint(lasting)
    for program in dict.fromkeys(buffer.program for buffer in buffers if buffer.program):
        own = [buffer for buffer in buffers if buffer.program == program]
        for launch in sorted({buffer.first for buffer in own}):
            live = [item for item in own if item.first <= launch <= item.last]
            _disjoint([*lasting, *live])


def _disjoint(buffers: Sequence[Buffer]) -> None:
    end, before = 0, ""
    for buffer in sorted(buffers, key=lambda item: (item.offset, item.bytes)):
        if buffer.offset < end:
            raise ArenaFault(f"`{buffer.name}` and `{before}` share bytes while both are live")
        end, before = buffer.offset + buffer.bytes, buffer.name
