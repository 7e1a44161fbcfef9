"""The templates of elementwise operations and of copies.

A thread makes four neighbours where one of its buffers lets it move 16 bytes at once, and moves smaller elements one by
one; else it makes one element. An operand that was broadcast is not written out: element i of the operand is element
`i mod count` of its buffer.
"""

from __future__ import annotations

from collections.abc import Iterable

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.threads import COMPUTING, MOVING, WORD, each
from alpha.kernel.direct.arithmetic import ELEMENTS, WEIGHTS
from alpha.kernel.direct.elementwise import aligned
from alpha.kernel.direct.site import Held, Number, Site
from alpha.kernel.node import QUAD, Atom, Buffer, Constant, Kernel, ValueType


def elementwise(site: Site) -> Kernel:
    builder = KernelBuilder()
    numbers: dict[int, int] = {}
    for place, operand in enumerate(site.operands):
        if isinstance(operand, Held):
            numbers[place] = builder.reads(operand.buffer)
    result = builder.writes(site.result)
    several = [buffer for buffer in builder.buffers if buffer.count > 1]
    lanes = width(several)
    with each(builder, site.count // lanes, COMPUTING) as unit:

        def place_of(size: int) -> Atom:
            turn = unit
            if size != site.count:
                turn = builder.apply("remainder", unit, index(size // lanes))
            return builder.scaled(turn, lanes)

        atoms: list[Atom] = []
        for place, operand in enumerate(site.operands):
            if isinstance(operand, Number):
                atoms.append(Constant(operand.value, ValueType(operand.scalar, lanes)))
                continue
            number = numbers[place]
            size = builder.buffers[number].count
            if size == 1:
                atoms.append(builder.splat(builder.load(number, index(0)), lanes))
            else:
                atoms.append(_load(builder, number, place_of(size), lanes))
        value = ELEMENTS[site.node.operation](builder, site.node, atoms)
        _store(builder, result, place_of(site.count), value)
    work = site.count * WEIGHTS.get(site.node.operation, 1)
    return site.kernel(builder, work, parallel=False, aligned=aligned(site, builder))


def copy_kernel(symbol: str, source: Buffer, target: Buffer) -> Kernel:
    """A whole buffer to another of the same size."""
    builder = KernelBuilder()
    origin, number = builder.reads(source), builder.writes(target)
    lanes = width((source, target))
    with each(builder, source.count // lanes, MOVING) as unit:
        place = builder.scaled(unit, lanes)
        builder.store(number, place, builder.load(origin, place, lanes))
    return builder.kernel(symbol, "copy", source.count, False, None)


def width(buffers: Iterable[Buffer]) -> int:
    """How many neighbours a thread makes of elements that lie in such buffers."""
    found = list(buffers)
    fours = all(item.count % QUAD == 0 and item.scalar.size <= WORD for item in found)
    return QUAD if fours and any(item.scalar.size == WORD for item in found) else 1


def _load(builder: KernelBuilder, number: int, place: Atom, lanes: int) -> Atom:
    if lanes == 1 or builder.buffers[number].scalar.size == WORD:
        return builder.load(number, place, lanes)
    places = [builder.add(place, index(lane)) for lane in range(lanes)]
    return builder.pack([builder.load(number, there) for there in places])


def _store(builder: KernelBuilder, number: int, place: Atom, value: Atom) -> None:
    lanes = value.type.lanes
    if lanes == 1 or value.type.scalar.size == WORD:
        builder.store(number, place, value)
        return
    for lane in range(lanes):
        one = builder.extract(value, lane)
        builder.store(number, builder.add(place, index(lane)), one)
