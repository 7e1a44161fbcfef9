"""The template of elementwise operations: blocks of 16 elements, then the rest one by one.

An operand that was broadcast is not written out: element i of the operand is element `i mod count` of its buffer.
Where all counts are multiples of 16 the blocks run over the whole result; otherwise over rows as long as the smallest
count, so that 16 elements of a block lie side by side in every operand.
"""

from __future__ import annotations

from collections.abc import Callable

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.direct.arithmetic import ELEMENTS, WEIGHTS
from alpha.kernel.direct.site import Held, Number, Site, splits
from alpha.kernel.node import LANES, Atom, Constant, Kernel, ValueType

Place = Callable[[int], Atom]
"""Where the element (or the first of 16) stands in a buffer of so many elements."""


def elementwise(site: Site) -> Kernel:
    builder = KernelBuilder()
    element = ELEMENTS[site.node.operation]
    numbers: dict[int, int] = {}
    for place, operand in enumerate(site.operands):
        if isinstance(operand, Held):
            numbers[place] = builder.reads(operand.buffer)
    result = builder.writes(site.result)
    # The exponent of `powStep` is one number whatever the shape, so it is loaded once like any single element.
    single = {
        place: builder.load(number, index(0))
        for place, number in numbers.items()
        if builder.buffers[number].count == 1 and site.count > 1
    }

    def run(place_of: Place, lanes: int) -> None:
        atoms: list[Atom] = []
        for place, operand in enumerate(site.operands):
            if isinstance(operand, Number):
                atoms.append(Constant(operand.value, ValueType(operand.scalar, lanes)))
            elif place in single:
                atoms.append(builder.splat(single[place], lanes))
            else:
                number = numbers[place]
                atoms.append(builder.load(number, place_of(builder.buffers[number].count), lanes))
        builder.store(result, place_of(site.count), element(builder, site.node, atoms))

    work = site.count * WEIGHTS.get(site.node.operation, 1)
    counts = {builder.buffers[number].count for number in numbers.values()} - {1}
    inner = min(counts, default=site.count)
    if inner == site.count or all(count % LANES == 0 for count in counts):
        _blocks(builder, site.count, run, splits(work))
    else:
        _rows(builder, site.count, inner, run, splits(work))
    return site.kernel(builder, work, aligned=aligned(site, builder))


def _blocks(
    builder: KernelBuilder, count: int, run: Callable[[Place, int], None], parallel: bool
) -> None:
    blocks, rest = divmod(count, LANES)
    if blocks:
        with builder.loop(blocks, parallel=parallel) as block:

            def place(size: int) -> Atom:
                if size == count:
                    return builder.scaled(block, LANES)
                turn = builder.apply("remainder", block, index(size // LANES))
                return builder.scaled(turn, LANES)

            run(place, LANES)
    if rest:
        with builder.loop(rest, parallel=parallel) as item:
            run(lambda size: builder.affine([(item, 1)], blocks * LANES), 1)


def _rows(
    builder: KernelBuilder,
    count: int,
    inner: int,
    run: Callable[[Place, int], None],
    parallel: bool,
) -> None:
    blocks, rest = divmod(inner, LANES)
    with builder.loop(count // inner, parallel=parallel) as row:

        def starts(size: int) -> Atom:
            turn = row if size == count else builder.apply("remainder", row, index(size // inner))
            return builder.scaled(turn, inner)

        if blocks:
            with builder.loop(blocks) as block:
                run(lambda size: builder.affine([(starts(size), 1), (block, LANES)]), LANES)
        if rest:
            with builder.loop(rest) as item:
                run(lambda size: builder.affine([(starts(size), 1), (item, 1)], blocks * LANES), 1)


def aligned(site: Site, builder: KernelBuilder) -> list[int]:
    """The buffers in whose place the result may be written: element by element, in elements of one size."""
    return [
        number
        for number, buffer in enumerate(builder.buffers)
        if number not in builder.written
        and buffer.count == site.count
        and buffer.scalar.size == site.result.scalar.size
    ]
