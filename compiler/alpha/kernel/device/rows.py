"""`sum`, `max` and `min` of rows: 16 threads fold an output whose last axis is reduced, two outputs a warp.

Thread j of the 16 is accumulator j of the specification, section 12.3: what it reads is 16 elements from one to the
next, so that the 16 read neighbours at once. The tree is four exchanges with the threads 8, 4, 2 and 1 further on;
those of the upper half fold too, in the other order, and nobody reads it.
"""

from __future__ import annotations

from math import prod

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.axes import Axis, merged, place_along
from alpha.kernel.device.threads import COMPUTING, THREADS
from alpha.kernel.direct.reduction import COMBINATIONS, Dim, dims_of
from alpha.kernel.direct.site import Site
from alpha.kernel.node import LANES, WARP, Atom, Kernel, Scalar

SHORTEST = 2 * LANES
"""Elements of an output from which 16 threads fold it: with fewer, most of what they do is to exchange."""
AT_ONCE = 8
"""Elements that a thread asks for before it folds the first of them."""
EXCHANGED = frozenset({Scalar.F32, Scalar.I32, Scalar.U32})


def in_rows(site: Site) -> bool:
    """Whether 16 threads should fold an output, not one."""
    dims = dims_of(site.operand_shape(0), site.integers("axes"))
    size = prod(dim.size for dim in dims if dim.reduced)
    return site.scalar in EXCHANGED and size >= SHORTEST and dims[-1].reduced


def row_reduction(site: Site) -> Kernel:
    dims = dims_of(site.operand_shape(0), site.integers("axes"))
    builder = KernelBuilder()
    source, result = builder.reads(site.buffer(0)), builder.writes(site.result)
    operator = COMBINATIONS[site.node.operation].operator
    threads = min(THREADS, -(-site.count * LANES // WARP) * WARP)
    rows = threads // LANES
    block, thread = builder.launch(-(-site.count // rows), threads, COMPUTING)
    lane = builder.apply("remainder", thread, index(LANES))
    slot = builder.apply("quotient", thread, index(LANES))
    row = builder.affine([(block, rows), (slot, 1)])
    nearest = row
    if site.count % rows:
        # All threads come to the exchanges; those without a row fold the last one again.
        nearest = builder.apply("minimum", row, index(site.count - 1))
    base = place_along(builder, _axes(dims, reduced=False), nearest)
    reduced = _axes(dims, reduced=True)
    size = prod(axis.extent for axis in reduced)

    def element(turn: Atom, further: int = 0, last: bool = False) -> Atom:
        """Element number `lane` of 16: those of so many turns further; the last ones may be fewer."""
        place = builder.affine([(turn, LANES), (lane, 1)], LANES * further)
        if last:
            place = builder.apply("minimum", place, index(size - 1))
        return builder.load(source, builder.add(base, place_along(builder, reduced, place)))

    def several(turn: Atom, total: Atom, count: int) -> Atom:
        for value in [element(turn, further) for further in range(count)]:
            total = builder.apply(operator, total, value)
        return total

    whole, rest = divmod(size, LANES)
    total = element(index(0))
    stop = 1 + (whole - 1) // AT_ONCE * AT_ONCE
    (total,) = builder.fold(
        1, stop, [total], lambda turn, carried: [several(turn, carried[0], AT_ONCE)], AT_ONCE
    )
    total = several(index(stop), total, whole - stop)
    if rest:
        more = builder.apply(operator, total, element(index(whole), last=True))
        inside = builder.apply("less", lane, index(rest))
        total = builder.apply("select", inside, more, total)
    for mask in (8, 4, 2, 1):
        total = builder.apply(operator, total, builder.shuffle(total, mask))
    with (
        builder.when(builder.apply("equal", lane, index(0))),
        builder.below(row, site.count, -(-site.count // rows) * rows - 1),
    ):
        builder.store(result, row, total)
    return site.kernel(builder, site.node.operands[0].type.count, parallel=False)


def _axes(dims: list[Dim], reduced: bool) -> tuple[Axis, ...]:
    return merged([Axis(dim.size, dim.stride) for dim in dims if dim.reduced is reduced])
