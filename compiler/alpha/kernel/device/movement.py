"""The templates of movement: every element of the result finds its own in the operand.

A thread moves four neighbours at once where they are four neighbours in the operand too, or one element four times.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.axes import Axis, merged
from alpha.kernel.device.threads import MOVING, WORD, coordinates, each
from alpha.kernel.direct.copy import zero
from alpha.kernel.direct.movement import joined, padded
from alpha.kernel.direct.site import Number, Site, strides
from alpha.kernel.node import QUAD, Atom, Buffer, Constant, Kernel, Scalar, ValueType


def _simple(site: Site, steps: Sequence[int], first: int = 0) -> Kernel:
    """Every element of the result from the operand, with a stride along each axis of the result."""
    builder = KernelBuilder()
    source, target = builder.reads(site.buffer(0)), builder.writes(site.result)
    axes = merged([Axis(*item) for item in zip(site.shape, steps, strict=True)])
    *outer, last = axes or (Axis(1, 0),)
    lanes = together(site.scalar, [last.extent])
    if last.stride:
        # What is read may be a row that moves: the next one begins so many elements further on.
        starts = [first, site.buffer(0).count, *(axis.stride for axis in outer)]
        lanes = together(site.scalar, [last.extent, *starts]) if last.stride == 1 else 1
    with each(builder, site.count // lanes, MOVING) as unit:
        found = coordinates(builder, unit, [*(axis.extent for axis in outer), last.extent // lanes])
        there = [*(axis.stride for axis in outer), last.stride * lanes]
        place = builder.affine(list(zip(found, there, strict=True)), first)
        value = builder.load(source, place, lanes if last.stride else 1)
        builder.store(target, builder.scaled(unit, lanes), builder.splat(value, lanes))
    return site.kernel(builder, site.count, parallel=False)


def together(scalar: Scalar, counts: Sequence[int]) -> int:
    """How many elements are moved at once where each of these counts is one of whole moves."""
    return QUAD if scalar.size == WORD and not any(count % QUAD for count in counts) else 1


def transpose(site: Site) -> Kernel:
    there = strides(site.operand_shape(0))
    return _simple(site, [there[axis] for axis in site.integers("order")])


def reverse(site: Site) -> Kernel:
    there = strides(site.operand_shape(0))
    turned = site.integers("axes")
    steps = [-step if axis in turned else step for axis, step in enumerate(there)]
    return _simple(site, steps, sum((site.shape[axis] - 1) * there[axis] for axis in turned))


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
        lanes = together(site.scalar, [site.count])
        with each(builder, site.count // lanes, MOVING) as unit:
            value: Atom = Constant(operand.value, ValueType(operand.scalar, lanes))
            builder.store(target, builder.scaled(unit, lanes), value)
        return site.kernel(builder, site.count, parallel=False)
    source, target = builder.reads(operand.buffer), builder.writes(site.result)
    size = operand.buffer.count
    lanes = together(site.scalar, [site.count, size] if size > 1 else [site.count])
    with each(builder, site.count // lanes, MOVING) as unit:
        if size == 1:
            value = builder.splat(builder.load(source, index(0)), lanes)
        else:
            turn = builder.apply("remainder", unit, index(size // lanes))
            value = builder.load(source, builder.scaled(turn, lanes), lanes)
        builder.store(target, builder.scaled(unit, lanes), value)
    return site.kernel(builder, site.count, parallel=False)


def _pieces(site: Site, axis: int, pieces: Sequence[tuple[Buffer | None, int]]) -> Kernel:
    """The result as pieces side by side along an axis; a piece without a buffer is zeros."""
    builder = KernelBuilder()
    numbers = [None if buffer is None else builder.reads(buffer) for buffer, _ in pieces]
    target = builder.writes(site.result)
    inner = prod(site.shape[axis + 1 :])
    rows = prod(site.shape[:axis])
    lanes = together(site.scalar, [size * inner for _, size in pieces])
    with each(builder, site.count // lanes, MOVING) as unit:
        row, within = coordinates(builder, unit, [rows, site.shape[axis] * inner // lanes])
        if rows == 1:
            within = unit
        first = 0
        for number, (_, size) in zip(numbers, pieces, strict=True):
            length = size * inner // lanes
            after = builder.apply("greaterEqual", within, index(first))
            before = builder.apply("less", within, index(first + length))
            with builder.when(builder.apply("and", after, before)):
                value: Atom = zero(site.scalar, lanes)
                if number is not None:
                    steps = [(row, length * lanes), (within, lanes)]
                    there = builder.affine(steps, -first * lanes)
                    value = builder.load(number, there, lanes)
                builder.store(target, builder.scaled(unit, lanes), value)
            first += length
    return site.kernel(builder, site.count, parallel=False)


def concat(site: Site) -> Kernel:
    return _pieces(site, site.integer("axis"), joined(site))


def pad(site: Site) -> Kernel:
    return _pieces(site, site.integer("axis"), padded(site))


def gather(site: Site) -> Kernel:
    builder = KernelBuilder()
    table = site.buffer(0)
    source, ids = builder.reads(table), builder.reads(site.buffer(1))
    target = builder.writes(site.result)
    width = table.count // site.operand_shape(0)[0]
    lanes = together(site.scalar, [width])
    with each(builder, site.count // lanes, MOVING) as unit:
        row, column = coordinates(builder, unit, [site.count // width, width // lanes])
        found = builder.convert(builder.load(ids, row), Scalar.I64)
        there = builder.affine([(found, width), (column, lanes)])
        builder.store(target, builder.scaled(unit, lanes), builder.load(source, there, lanes))
    return site.kernel(builder, site.count, parallel=False)


def pick(site: Site) -> Kernel:
    builder = KernelBuilder()
    source, labels = builder.reads(site.buffer(0)), builder.reads(site.buffer(1))
    target = builder.writes(site.result)
    size = site.operand_shape(0)[-1]
    with each(builder, site.count, MOVING) as place:
        label = builder.convert(builder.load(labels, place), Scalar.I64)
        value = builder.load(source, builder.affine([(place, size), (label, 1)]))
        builder.store(target, place, value)
    return site.kernel(builder, 4 * site.count, parallel=False)


def add_rows(site: Site) -> Kernel:
    """From +0, one row after the other in ascending place of ids: a thread goes through all of them for its element."""
    builder = KernelBuilder()
    rows, ids = builder.reads(site.buffer(0)), builder.reads(site.buffer(1))
    target = builder.writes(site.result)
    count = site.node.operands[1].type.count
    width = site.node.operands[0].type.count // count
    with each(builder, site.count, MOVING) as place:
        own, column = coordinates(builder, place, [site.count // width, width])
        own = builder.convert(own, builder.buffers[ids].scalar)

        def turn(row: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            (total,) = carried
            mine = builder.apply("equal", builder.load(ids, row), own)
            more = builder.load(rows, builder.affine([(row, width), (column, 1)]))
            return [builder.apply("select", mine, builder.add(total, more), total)]

        (total,) = builder.fold(0, count, [zero(site.scalar, 1)], turn)
        builder.store(target, place, total)
    return site.kernel(builder, 3 * count * site.count, parallel=False)


def positions(site: Site) -> Kernel:
    builder = KernelBuilder()
    target = builder.writes(site.result)
    with each(builder, site.count, MOVING) as place:
        builder.store(target, place, builder.convert(place, Scalar.I32))
    return site.kernel(builder, site.count, parallel=False)
