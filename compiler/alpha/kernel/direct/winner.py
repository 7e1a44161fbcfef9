"""The template of `argmax` and `argmin`: a scan along the axis that keeps the first winner.

Floats are compared by integer keys in which -0 is below +0 and a NaN is beyond every number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.direct.site import Site, nest, splits
from alpha.kernel.node import LANES, Atom, Constant, Kernel, Scalar, ValueType

KEYS = {Scalar.F32: Scalar.I32, Scalar.F64: Scalar.I64}


def winner(site: Site) -> Kernel:
    builder = KernelBuilder()
    source = builder.reads(site.buffer(0))
    result = builder.writes(site.result)
    shape = site.operand_shape(0)
    axis = site.integer("axis")
    outer, inner = 1, 1
    for size in shape[:axis]:
        outer *= size
    for size in shape[axis + 1 :]:
        inner *= size
    size = shape[axis]
    largest = site.node.operation == "argmax"
    work = 4 * outer * size * inner

    def scan(column: Atom, row: Atom, lanes: int) -> None:
        def key(place: Atom) -> Atom:
            at = builder.affine([(row, size * inner), (place, inner), (column, 1)])
            return ordered(builder, builder.load(source, at, lanes), largest)

        where = first_winner(builder, key, size, largest)
        builder.store(result, builder.affine([(row, inner), (column, 1)]), where)

    blocks, rest = divmod(inner, LANES)
    parallel = splits(work)
    with nest(builder, [outer] if outer > 1 else [], parallel) as indices:
        row = indices[0] if indices else index(0)
        inside = parallel and not indices
        if blocks:
            with builder.loop(blocks, parallel=inside) as block:
                scan(builder.scaled(block, LANES), row, LANES)
        if rest:
            with builder.loop(rest, parallel=inside) as item:
                scan(builder.affine([(item, 1)], blocks * LANES), row, 1)
    return site.kernel(builder, work)


def first_winner(
    builder: KernelBuilder, key: Callable[[Atom], Atom], size: int, largest: bool
) -> Atom:
    """The first place below `size` of the largest or smallest key, as an i32 in each lane."""

    def turn(place: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
        best, where = carried
        found = key(place)
        better = builder.apply("greater" if largest else "less", found, best)
        here = builder.splat(builder.convert(place, Scalar.I32), found.type.lanes)
        return (
            builder.apply("select", better, found, best),
            builder.apply("select", better, here, where),
        )

    first = key(index(0))
    zero = Constant(0, ValueType(Scalar.I32, first.type.lanes))
    _, where = builder.fold(1, size, [first, zero], turn)
    return where


def ordered(builder: KernelBuilder, x: Atom, largest: bool) -> Atom:
    """Integers in the order of `max` (NaN on top) or of `min` (NaN at the bottom)."""
    scalar = KEYS.get(x.type.scalar)
    if scalar is None:
        return x
    top = (1 << (8 * scalar.size - 1)) - 1

    def whole(value: int) -> Constant:
        return Constant(value, ValueType(scalar, x.type.lanes))

    bits = builder.bits(x, scalar)
    negative = builder.apply("less", bits, whole(0))
    key = builder.apply("select", negative, builder.apply("xor", bits, whole(top)), bits)
    extreme = whole(top if largest else -top - 1)
    return builder.apply("select", builder.apply("isNan", x), extreme, key)
