"""The templates of `sum`, `max`, `min`, `argmax` and `argmin`: a thread folds all elements of its own output.

From 32 elements on, rows are folded by 16 threads each, and very long ones by a block (`rows`).
"""

from __future__ import annotations

from math import prod

from alpha.kernel.builder import KernelBuilder
from alpha.kernel.device.rows import in_rows, row_reduction
from alpha.kernel.device.threads import COMPUTING, FOLDING, FOLDING_WIDE, WORD, coordinates, each
from alpha.kernel.direct.reduction import COMBINATIONS, Fold, dims_of
from alpha.kernel.direct.site import Site
from alpha.kernel.direct.winner import first_winner, ordered
from alpha.kernel.node import Atom, Kernel


def reduction(site: Site) -> Kernel:
    """The 16 accumulators of an output are values of its thread, or of 16 threads for a row of `rows`."""
    if in_rows(site):
        return row_reduction(site)
    builder = KernelBuilder()
    source, result = builder.reads(site.buffer(0)), builder.writes(site.result)
    dims = dims_of(site.operand_shape(0), site.integers("axes"))
    kept = [dim for dim in dims if not dim.reduced]
    reduced = [dim for dim in dims if dim.reduced]
    fold = Fold(builder, source, reduced, COMBINATIONS[site.node.operation])
    wide = site.scalar.size > WORD
    with each(builder, site.count, FOLDING_WIDE if wide else FOLDING) as place:
        found = coordinates(builder, place, [dim.size for dim in kept])
        base = builder.affine([(atom, dim.stride) for atom, dim in zip(found, kept, strict=True)])
        builder.store(result, place, fold.column(base, 1))
    return site.kernel(builder, site.node.operands[0].type.count, parallel=False)


def winner(site: Site) -> Kernel:
    builder = KernelBuilder()
    source, result = builder.reads(site.buffer(0)), builder.writes(site.result)
    shape, axis = site.operand_shape(0), site.integer("axis")
    size, inner = shape[axis], prod(shape[axis + 1 :])
    largest = site.node.operation == "argmax"
    with each(builder, site.count, COMPUTING) as place:
        row, column = coordinates(builder, place, [prod(shape[:axis]), inner])

        def key(turn: Atom) -> Atom:
            at = builder.affine([(row, size * inner), (turn, inner), (column, 1)])
            return ordered(builder, builder.load(source, at), largest)

        builder.store(result, place, first_winner(builder, key, size, largest))
    return site.kernel(builder, 4 * site.count * size, parallel=False)
