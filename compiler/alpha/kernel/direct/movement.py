"""The templates of movement: transpose, reverse, repeat, slice, concat, pad, gather, addRows, pick, positions."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.kernel.builder import IOTA, KernelBuilder
from alpha.kernel.direct.copy import Axis, Origin, copy
from alpha.kernel.direct.site import Number, Site, nest, splits, strides
from alpha.kernel.node import LANES, Atom, Buffer, Constant, Kernel, Scalar, ValueType


def _simple(site: Site, steps: Sequence[int], first: int = 0) -> Kernel:
    """Every element of the result from the operand, with a stride along each axis of the result."""
    builder = KernelBuilder()
    source = site.buffer(0)
    origin = Origin(builder.reads(source), source.scalar, (), first)
    target = builder.writes(site.result)
    axes = [Axis(*item) for item in zip(site.shape, steps, strides(site.shape), strict=True)]
    copy(builder, origin, target, axes, parallel=splits(site.count))
    return site.kernel(builder, site.count)


def transpose(site: Site) -> Kernel:
    there = strides(site.operand_shape(0))
    return _simple(site, [there[axis] for axis in site.integers("order")])


def reverse(site: Site) -> Kernel:
    there = strides(site.operand_shape(0))
    turned = site.integers("axes")
    steps = [-step if axis in turned else step for axis, step in enumerate(there)]
    last = sum((site.shape[axis] - 1) * there[axis] for axis in turned)
    return _simple(site, steps, last)


def repeat(site: Site) -> Kernel:
    steps = list(strides(site.operand_shape(0)))
    steps.insert(site.integer("axis"), 0)
    return _simple(site, steps)


def slice_(site: Site) -> Kernel:
    there = strides(site.operand_shape(0))
    low = site.integers("low")
    return _simple(site, there, sum(a * b for a, b in zip(low, there, strict=True)))


def broadcast(site: Site) -> Kernel:
    """A broadcast (or a reshape of one, or a number) that something other than arithmetic needs written out."""
    operand = site.operands[0]
    builder = KernelBuilder()
    if isinstance(operand, Number):
        target = builder.writes(site.result)
        # A fill: the source of every element is the number.
        _fill(builder, target, site, operand)
        return site.kernel(builder, site.count)
    origin = Origin(builder.reads(operand.buffer), operand.buffer.scalar)
    target = builder.writes(site.result)
    inner = operand.buffer.count
    axes = [Axis(site.count // inner, 0, inner), Axis(inner, 1, 1)]
    copy(builder, origin, target, axes, parallel=splits(site.count))
    return site.kernel(builder, site.count)


def _fill(builder: KernelBuilder, target: int, site: Site, number: Number) -> None:
    blocks, rest = divmod(site.count, LANES)
    parallel = splits(site.count)
    if blocks:
        with builder.loop(blocks, parallel=parallel) as block:
            value = Constant(number.value, ValueType(number.scalar, LANES))
            builder.store(target, builder.scaled(block, LANES), value)
    if rest:
        with builder.loop(rest, parallel=parallel) as item:
            value = Constant(number.value, ValueType(number.scalar))
            builder.store(target, builder.affine([(item, 1)], blocks * LANES), value)


def _pieces(site: Site, axis: int, pieces: Sequence[tuple[Buffer | None, int]]) -> Kernel:
    """The result as pieces side by side along an axis; a piece without a buffer is zeros."""
    builder = KernelBuilder()
    numbers = [None if buffer is None else builder.reads(buffer) for buffer, _ in pieces]
    target = builder.writes(site.result)
    outer, inner = 1, 1
    for size in site.shape[:axis]:
        outer *= size
    for size in site.shape[axis + 1 :]:
        inner *= size
    width = site.shape[axis] * inner
    parallel = splits(site.count)
    with nest(builder, [outer] if outer > 1 else [], parallel) as indices:
        first = 0
        for number, (_, size) in zip(numbers, pieces, strict=True):
            length = size * inner
            origin = Origin(number, site.scalar, tuple((row, length) for row in indices))
            copy(
                builder,
                origin,
                target,
                [Axis(length, 1, 1)],
                base=[(row, width) for row in indices],
                constant=first,
                parallel=parallel and not indices,
            )
            first += length
    return site.kernel(builder, site.count)


def concat(site: Site) -> Kernel:
    return _pieces(site, site.integer("axis"), joined(site))


def joined(site: Site) -> list[tuple[Buffer | None, int]]:
    """The operands of `concat`, each with its size along the axis."""
    axis = site.integer("axis")
    places = range(len(site.operands))
    return [(site.buffer(place), site.operand_shape(place)[axis]) for place in places]


def pad(site: Site) -> Kernel:
    return _pieces(site, site.integer("axis"), padded(site))


def padded(site: Site) -> list[tuple[Buffer | None, int]]:
    """The operand of `pad` between what is zeros, each with its size along the axis."""
    pieces = [
        (None, site.integer("low")),
        (site.buffer(0), site.operand_shape(0)[site.integer("axis")]),
        (None, site.integer("high")),
    ]
    return [(buffer, size) for buffer, size in pieces if size]


def gather(site: Site) -> Kernel:
    builder = KernelBuilder()
    table = site.buffer(0)
    origin = builder.reads(table)
    ids = builder.reads(site.buffer(1))
    target = builder.writes(site.result)
    width = table.count // site.operand_shape(0)[0]
    rows = site.count // width
    parallel = splits(site.count)
    with builder.loop(rows, parallel=parallel) as row:
        found = builder.convert(builder.load(ids, row), Scalar.I64)
        copy(
            builder,
            Origin(origin, table.scalar, ((found, width),)),
            target,
            [Axis(width, 1, 1)],
            base=[(row, width)],
        )
    return site.kernel(builder, site.count)


def pick(site: Site) -> Kernel:
    builder = KernelBuilder()
    source = builder.reads(site.buffer(0))
    labels = builder.reads(site.buffer(1))
    target = builder.writes(site.result)
    size = site.operand_shape(0)[-1]
    work = 4 * site.count
    with builder.loop(site.count, parallel=splits(work)) as row:
        label = builder.convert(builder.load(labels, row), Scalar.I64)
        value = builder.load(source, builder.affine([(row, size), (label, 1)]))
        builder.store(target, row, value)
    return site.kernel(builder, work)


def add_rows(site: Site) -> Kernel:
    """From +0, one row after the other in ascending place of ids. One part does it all: rows may fall together."""
    builder = KernelBuilder()
    rows = builder.reads(site.buffer(0))
    ids = builder.reads(site.buffer(1))
    target = builder.writes(site.result)
    count = site.node.operands[1].type.count
    width = site.node.operands[0].type.count // count
    copy(builder, Origin(None, site.scalar), target, [Axis(site.count, 1, 1)])
    blocks, rest = divmod(width, LANES)
    with builder.loop(count) as row:
        found = builder.convert(builder.load(ids, row), Scalar.I64)

        def accumulate(column: Atom, constant: int, lanes: int) -> None:
            here = builder.affine([(found, width), (column, 1)], constant)
            there = builder.affine([(row, width), (column, 1)], constant)
            total = builder.load(target, here, lanes)
            builder.store(target, here, builder.add(total, builder.load(rows, there, lanes)))

        if blocks:
            with builder.loop(blocks) as block:
                accumulate(builder.scaled(block, LANES), 0, LANES)
        if rest:
            with builder.loop(rest) as item:
                accumulate(item, blocks * LANES, 1)
    return site.kernel(builder, count * width, parallel=False, accumulates=True)


def positions(site: Site) -> Kernel:
    builder = KernelBuilder()
    target = builder.writes(site.result)
    blocks, rest = divmod(site.count, LANES)
    parallel = splits(site.count)
    if blocks:
        with builder.loop(blocks, parallel=parallel) as block:
            first = builder.convert(builder.scaled(block, LANES), Scalar.I32)
            steps = Constant(IOTA, ValueType(Scalar.I32, LANES))
            value = builder.add(builder.splat(first, LANES), steps)
            builder.store(target, builder.scaled(block, LANES), value)
    if rest:
        with builder.loop(rest, parallel=parallel) as item:
            place = builder.affine([(item, 1)], blocks * LANES)
            builder.store(target, place, builder.convert(place, Scalar.I32))
    return site.kernel(builder, site.count)


def copy_kernel(symbol: str, source: Buffer, target: Buffer) -> Kernel:
    """A whole buffer to another of the same size."""
    builder = KernelBuilder()
    origin = Origin(builder.reads(source), source.scalar)
    number = builder.writes(target)
    parallel = splits(source.count)
    copy(builder, origin, number, [Axis(source.count, 1, 1)], parallel=parallel)
    return builder.kernel(symbol, "copy", source.count, parallel, None)
