"""The templates of contractions: a thread runs the one fma chain of its own output, over ascending k."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.graph.ops.contraction import contracted, sizes
from alpha.graph.ops.convolution import WINDOWS, windows_of
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.device.threads import COMPUTING, coordinates, each
from alpha.kernel.direct.contraction import Side
from alpha.kernel.direct.site import Site, strides
from alpha.kernel.node import Atom, Constant, Kernel, ValueType


def contraction(site: Site) -> Kernel:
    """`contract`."""
    left, right = site.text("left"), site.text("right")
    steps = [strides(site.operand_shape(place)) for place in range(2)]
    types = [operand.type for operand in site.node.operands]
    return _chains(site, left, right, types, steps)


def window_contraction(site: Site) -> Kernel:
    """`contractWindows`: from one window to the next, and from one place in a window to the next, is one step."""
    n, h, w, i = strides(site.operand_shape(0))
    types = [operand.type for operand in site.node.operands]
    types[0] = windows_of(types[0], site.integers("window"))
    steps = [(n, h, w, h, w, i), strides(site.operand_shape(1))]
    return _chains(site, WINDOWS, site.text("right"), types, steps)


def _chains(
    site: Site,
    left: str,
    right: str,
    types: Sequence[TensorType],
    steps: Sequence[tuple[int, ...]],
) -> Kernel:
    """`steps` are the elements from one place of each operand's letters to the next."""
    result = site.text("result")
    builder = KernelBuilder()
    sides = [
        Side(builder.reads(site.buffer(place)), dict(zip(letters, steps[place], strict=True)))
        for place, letters in enumerate((left, right))
    ]
    target = builder.writes(site.result)
    extents = sizes(left, right, types)
    summed = contracted(left, right, result)
    zero = Constant(0.0, ValueType(site.scalar))

    def chain(bases: Sequence[Atom], total: Atom, depth: int) -> Atom:
        """`bases` are the places in the operands that the loops so far have reached."""
        if depth == len(summed):
            pairs = zip(sides, bases, strict=True)
            a, b = (builder.load(side.buffer, base) for side, base in pairs)
            return builder.apply("fma", a, b, total)
        letter = summed[depth]

        def turn(k: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            moved = [
                builder.affine([(base, 1), (k, side.stride(letter))])
                for base, side in zip(bases, sides, strict=True)
            ]
            return [chain(moved, carried[0], depth + 1)]

        (last,) = builder.fold(0, extents[letter], [total], turn)
        return last

    with each(builder, site.count, COMPUTING) as place:
        places = dict(zip(result, coordinates(builder, place, site.shape), strict=True))
        bases = [
            builder.affine([(atom, side.stride(letter)) for letter, atom in places.items()])
            for side in sides
        ]
        builder.store(target, place, chain(bases, zero, 0))
    work = site.count
    for letter in summed:
        work *= extents[letter]
    return site.kernel(builder, work, parallel=False)
