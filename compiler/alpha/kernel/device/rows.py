"""`sum`, `max` and `min` of rows: 16 threads fold an output whose last axis is reduced, two outputs a warp.

Thread j of the 16 is accumulator j of the specification, section 12.3: what it reads is 16 elements from one to the
next, so that the 16 read neighbours at once. The tree is four exchanges with the threads 8, 4, 2 and 1 further on;
those of the upper half fold too, in the other order, and nobody reads it.

A long row has a block of its own, since only 16 accumulators can be at work on it: all threads bring the next chunk
while the last one, in a shared array, is folded by each 16 of them alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from alpha.base.record import record
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.axes import Axes, Axis, merged, place_along
from alpha.kernel.device.threads import COMPUTING, FOLDING, THREADS
from alpha.kernel.direct.reduction import COMBINATIONS, Dim, dims_of
from alpha.kernel.direct.site import Site
from alpha.kernel.node import LANES, WARP, Atom, Kernel, Scalar

SHORTEST = 2 * LANES
"""Elements of an output from which 16 threads fold it: with fewer, most of what they do is to exchange."""
AT_ONCE = 8
"""Elements that a thread asks for before it folds the first of them."""
BRINGING, BROUGHT = 128, 16
"""Threads of the block of a long row, and the elements that each brings of a chunk."""
CHUNK = BRINGING * BROUGHT
LONG = 4 * CHUNK
"""Elements of an output that has a block of its own."""
FOLDED = 32
"""Elements that a thread takes of the shared array before it folds the first of them."""
EXCHANGED = frozenset({Scalar.F32, Scalar.I32, Scalar.U32})


def in_rows(site: Site) -> bool:
    """Whether several threads should fold an output, not one."""
    dims = dims_of(site.operand_shape(0), site.integers("axes"))
    size = prod(dim.size for dim in dims if dim.reduced)
    return site.scalar in EXCHANGED and size >= SHORTEST and dims[-1].reduced


def row_reduction(site: Site) -> Kernel:
    dims = dims_of(site.operand_shape(0), site.integers("axes"))
    kept, reduced = (_axes(dims, reduced) for reduced in (False, True))
    size = prod(axis.extent for axis in reduced)
    long = size >= LONG
    builder = KernelBuilder()
    source, result = builder.reads(site.buffer(0)), builder.writes(site.result)
    threads = BRINGING if long else min(THREADS, -(-site.count * LANES // WARP) * WARP)
    rows = 1 if long else threads // LANES
    blocks = -(-site.count // rows)
    block, thread = builder.launch(blocks, threads, FOLDING if long else COMPUTING)
    lane = builder.apply("remainder", thread, index(LANES))
    number = builder.apply("quotient", thread, index(LANES))
    row = block if long else builder.affine([(block, rows), (number, 1)])
    nearest = row
    if site.count % rows:
        # All threads come to the exchanges; those without a row fold the last one again.
        nearest = builder.apply("minimum", row, index(site.count - 1))
    base = place_along(builder, kept, nearest)
    operator = COMBINATIONS[site.node.operation].operator
    fold = _Row(builder, source, operator, base, reduced, size, lane)
    total, done = fold.element(index(0)), LANES
    if long:
        total, done = fold.chunks(total, done, thread, site.scalar)
    total = fold.exchanged(fold.rest(total, done))
    first = thread if long else lane
    with (
        builder.when(builder.apply("equal", first, index(0))),
        builder.below(row, site.count, blocks * rows - 1),
    ):
        builder.store(result, row, total)
    return site.kernel(builder, site.node.operands[0].type.count, parallel=False)


def _axes(dims: Sequence[Dim], reduced: bool) -> Axes:
    return merged([Axis(dim.size, dim.stride) for dim in dims if dim.reduced is reduced])


@record(eq=False)
class _Row:
    """Code that folds `size` elements along `axes` from `base` on; the thread is accumulator `lane`."""

    builder: KernelBuilder
    source: int
    operator: str
    base: Atom
    axes: Axes
    size: int
    lane: Atom

    def combined(self, total: Atom, values: Sequence[Atom]) -> Atom:
        for value in values:
            total = self.builder.apply(self.operator, total, value)
        return total

    def element(self, first: Atom, further: int = 0) -> Atom:
        """The lane's element of the 16 from element `first + further` on."""
        return self._load(self.builder.affine([(first, 1), (self.lane, 1)], further))

    def rest(self, total: Atom, done: int) -> Atom:
        """All elements from number `done` on; the last of them may be fewer than lanes."""
        builder = self.builder
        whole = self.size - self.size % LANES
        by = AT_ONCE * LANES
        stop = done + (whole - done) // by * by

        def turn(first: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            return [
                self.combined(carried[0], [self.element(first, i) for i in range(0, by, LANES)])
            ]

        (total,) = builder.fold(done, stop, [total], turn, by)
        total = self.combined(total, [self.element(index(i)) for i in range(stop, whole, LANES)])
        if whole == self.size:
            return total
        place = builder.affine([(self.lane, 1)], whole)
        more = self._load(builder.apply("minimum", place, index(self.size - 1)))
        inside = builder.apply("less", self.lane, index(self.size - whole))
        return builder.apply("select", inside, self.combined(total, [more]), total)

    def chunks(self, total: Atom, done: int, thread: Atom, scalar: Scalar) -> tuple[Atom, int]:
        """All whole chunks from element `done` on, and how many elements are done then."""
        builder = self.builder
        count = (self.size - done) // CHUNK
        array = builder.shares("elements", scalar, 2 * CHUNK)

        def bring(chunk: Atom) -> list[Atom]:
            terms = [(chunk, CHUNK), (thread, 1)]
            return [self._load(builder.affine(terms, done + i)) for i in range(0, CHUNK, BRINGING)]

        def turn(chunk: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            half = builder.scaled(builder.apply("remainder", chunk, index(2)), CHUNK)
            for number, value in enumerate(carried[1:]):
                there = builder.affine([(half, 1), (thread, 1)], number * BRINGING)
                builder.shared_store(array, there, value)
            builder.barrier()
            # Behind the last chunk it is brought once more, so that all turns are alike.
            after = builder.affine([(chunk, 1)], 1)
            brought = bring(builder.apply("minimum", after, index(count - 1)))
            start = builder.add(half, self.lane)

            def part(first: Atom, inner: Sequence[Atom]) -> Sequence[Atom]:
                places = [
                    builder.affine([(start, 1), (first, 1)], i)
                    for i in range(0, FOLDED * LANES, LANES)
                ]
                return [self.combined(inner[0], [builder.shared_load(array, at) for at in places])]

            (reached,) = builder.fold(0, CHUNK, carried[:1], part, FOLDED * LANES)
            return [reached, *brought]

        total, *_ = builder.fold(0, count, [total, *bring(index(0))], turn)
        return total, done + count * CHUNK

    def exchanged(self, total: Atom) -> Atom:
        """The tree over the 16 accumulators, in the thread of the first."""
        for mask in (8, 4, 2, 1):
            total = self.combined(total, [self.builder.shuffle(total, mask)])
        return total

    def _load(self, number: Atom) -> Atom:
        there = place_along(self.builder, self.axes, number)
        return self.builder.load(self.source, self.builder.add(self.base, there))
