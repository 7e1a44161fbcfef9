"""Exact places in the arena: lasting buffers one after the other, the workspace by live ranges.

Programs never run at the same time, so each has the whole workspace. Buffers that share bytes never live at once, which
`plan.verify` checks from scratch.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from alpha.plan.liveness import Range

ALIGNMENT = 64
"""Every buffer starts at a multiple of this many bytes: a cache line, and the widest vector."""


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
