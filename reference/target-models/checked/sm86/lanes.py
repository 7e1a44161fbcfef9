"""The threads that execute a block of instructions together, and what belongs to each."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy

from checked.sm86.faults import FaultKind

Array = Any


class Lanes:
    """All threads of a batch of blocks, one lane each: `at` is None.

    `block` numbers the blocks in the launch, `slot` in the batch.
    `mark` is the thread's mark in the shadow of shared memory.
    """

    at: Array = None

    def __init__(self, blocks: Array, threads: int) -> None:
        self.threads = threads
        self.count = threads * blocks.size
        self.thread: Array = numpy.tile(numpy.arange(threads, dtype=numpy.uint32), blocks.size)
        self.block: Array = numpy.repeat(blocks.astype(numpy.uint32), threads)
        self.slot: Array = numpy.repeat(numpy.arange(blocks.size, dtype=numpy.int64), threads)
        self._pitched: dict[int, Array] = {}
        self.mark: Array = (self.thread + 1).astype(numpy.int32)

    @cached_property
    def stamp(self) -> Array:
        """1 + the number of the thread in the launch."""
        return (self.block.astype(numpy.int64) * self.threads + self.thread + 1).astype(numpy.int32)

    def pitched(self, pitch: int) -> Array:
        """Where each lane's block begins, if a block has `pitch` rows."""
        found = self._pitched.get(pitch)
        if found is None:
            found = self._pitched[pitch] = self.slot * pitch
        return found

    def pick(self, values: Array) -> Array:
        """Those of values of the whole batch that belong to these lanes."""
        return values

    def part(self, at: Array) -> Part:
        """Some of these lanes, by their positions among them."""
        return Part(self, at)

    def place(self, lane: int) -> tuple[int, int]:
        """The block and the thread of a lane."""
        return int(self.block[lane]), int(self.thread[lane])

    @property
    def warps(self) -> int:
        """The warps with a lane in here."""
        return int(self.count) // 32


class Part(Lanes):
    """Some lanes of a batch, whose positions in the batch are `at`, in ascending order."""

    def __init__(self, whole: Lanes, at: Array) -> None:
        self.whole = whole
        self.at = at
        self.count = at.size
        self.threads = whole.threads
        self._pitched = {}

    @cached_property
    def thread(self) -> Array:
        return self.whole.thread.take(self.at)

    @cached_property
    def block(self) -> Array:
        return self.whole.block.take(self.at)

    @cached_property
    def slot(self) -> Array:
        return self.whole.slot.take(self.at)

    @cached_property
    def mark(self) -> Array:
        return self.whole.mark.take(self.at)

    @cached_property
    def stamp(self) -> Array:
        return self.whole.stamp.take(self.at)

    def pick(self, values: Array) -> Array:
        return values.take(self.at)

    def part(self, at: Array) -> Part:
        assert self.at is not None
        return Part(self.whole, self.at.take(at))

    @property
    def warps(self) -> int:
        warps = self.at >> 5
        return int(numpy.count_nonzero(warps[1:] != warps[:-1])) + 1


class Violation(Exception):
    """A fault without its kernel's name: `lane` is the first offender among the lanes at work."""

    def __init__(
        self,
        kind: FaultKind,
        text: str,
        lanes: Lanes,
        lane: int,
        line: int,
        address: int | None = None,
    ) -> None:
        self.kind = kind
        self.text = text
        self.place = lanes.place(lane)
        self.line = line
        self.address = address
        super().__init__(text)
