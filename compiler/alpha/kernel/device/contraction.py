"""The templates of contractions: for every output one fma chain over ascending k (specification, section 12.2).

Large ones are made tile by tile (`contraction_tiled`). In all others a thread runs the chain of its own output, or of
four neighbours along the last letter, where the operands let it load those at once and enough threads are left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from alpha.graph.ops.convolution import WINDOWS, windows_of
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.device.contraction_letters import Product, product
from alpha.kernel.device.contraction_tiled import tiled, tiling
from alpha.kernel.device.threads import COMPUTING, coordinates, each
from alpha.kernel.direct.site import Site, strides
from alpha.kernel.node import QUAD, Atom, Constant, Kernel, Scalar, ValueType

ENOUGH = 16_384
"""Threads that keep a card busy: with fewer, each has one output, so that more run side by side."""


def contraction(site: Site) -> Kernel:
    """`contract`."""
    steps = [strides(site.operand_shape(place)) for place in range(2)]
    types = [operand.type for operand in site.node.operands]
    return _template(site, product(site, site.text("left"), site.text("right"), types, steps))


def window_contraction(site: Site) -> Kernel:
    """`contractWindows`: from one window to the next, and from one place in a window to the next, is one step."""
    n, h, w, i = strides(site.operand_shape(0))
    types = [operand.type for operand in site.node.operands]
    types[0] = windows_of(types[0], site.integers("window"))
    steps = [(n, h, w, h, w, i), strides(site.operand_shape(1))]
    return _template(site, product(site, WINDOWS, site.text("right"), types, steps))


def _template(site: Site, of: Product) -> Kernel:
    chosen = tiling(of) if site.scalar is Scalar.F32 else None
    return _chains(site, of) if chosen is None else tiled(site, of, chosen)


def _chains(site: Site, of: Product) -> Kernel:
    builder = KernelBuilder()
    buffers = [builder.reads(site.buffer(place)) for place in range(2)]
    target = builder.writes(site.result)
    lanes = QUAD if _in_fours(of) and site.count >= QUAD * ENOUGH else 1
    last = of.result[-1:]
    zero = Constant(0.0, ValueType(site.scalar, lanes))

    def element(place: int, base: Atom) -> Atom:
        if of.operands[place].get(last):
            return builder.load(buffers[place], base, lanes)
        return builder.splat(builder.load(buffers[place], base), lanes)

    def chain(bases: Sequence[Atom], total: Atom, depth: int) -> Atom:
        """`bases` are the places in the operands that the loops so far have reached."""
        if depth == len(of.summed):
            a, b = (element(place, base) for place, base in enumerate(bases))
            return builder.apply("fma", a, b, total)
        letter = of.summed[depth]

        def turn(k: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            moved = [
                builder.affine([(base, 1), (k, steps.get(letter, 0))])
                for base, steps in zip(bases, of.operands, strict=True)
            ]
            return [chain(moved, carried[0], depth + 1)]

        (reached,) = builder.fold(0, of.extents[letter], [total], turn)
        return reached

    with each(builder, site.count // lanes, COMPUTING) as unit:
        extents = [of.extents[letter] for letter in of.result]
        if lanes == QUAD:
            extents[-1] //= QUAD
        found = dict(zip(of.result, coordinates(builder, unit, extents), strict=True))
        bases = [_base(builder, found, operand, last, lanes) for operand in of.operands]
        builder.store(target, builder.scaled(unit, lanes), chain(bases, zero, 0))
    return site.kernel(builder, of.work, parallel=False)


def _base(
    builder: KernelBuilder,
    found: Mapping[str, Atom],
    steps: Mapping[str, int],
    last: str,
    lanes: int,
) -> Atom:
    """Where the chain of an output, or of the first of four, begins in an operand."""
    return builder.affine(
        [
            (atom, steps.get(letter, 0) * (lanes if letter == last else 1))
            for letter, atom in found.items()
        ]
    )


def _in_fours(of: Product) -> bool:
    """Whether each operand has the same element for four neighbouring outputs, or four that lie in one 16 bytes."""
    last = of.result[-1:]
    if not last or of.extents[last] % QUAD:
        return False
    for steps in of.operands:
        others = [
            step for letter, step in steps.items() if letter != last and of.extents[letter] > 1
        ]
        if steps.get(last, 0) and (steps[last] != 1 or any(step % QUAD for step in others)):
            return False
    return True
