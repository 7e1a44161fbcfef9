"""The template of contractions: for every output one fma chain over ascending k (language page, section 12.2).

The last letter of the result runs across lanes, 64 outputs of it in one pass over k, so that four vectors share the
element of the other operand. What is left of the last letter takes a pass of its own, with single lanes at its end.

The windows of an image are an operand like any other: two of its letters run along one axis of the image.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.graph.ops.contraction import contracted, sizes
from alpha.graph.ops.convolution import WINDOWS, windows_of
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.direct.site import Site, nest, splits, strides
from alpha.kernel.node import LANES, Atom, Constant, Kernel, ValueType

PASS = 4 * LANES
"""Outputs of one pass over k."""


@record
class _Side:
    """An operand: its buffer and its stride along each letter (0 where it lacks the letter)."""

    buffer: int
    strides: dict[str, int]

    def terms(self, places: dict[str, Atom]) -> list[tuple[Atom, int]]:
        return [
            (atom, self.strides[letter])
            for letter, atom in places.items()
            if self.strides.get(letter)
        ]


def contraction(site: Site) -> Kernel:
    """`contract`."""
    left, right = site.text("left"), site.text("right")
    steps = [strides(site.operand_shape(place)) for place in range(2)]
    types = [operand.type for operand in site.node.operands]
    return _contraction(site, left, right, types, steps)


def window_contraction(site: Site) -> Kernel:
    """`contractWindows`: from one window to the next, and from one place in a window to the next, is one step."""
    n, h, w, i = strides(site.operand_shape(0))
    types = [operand.type for operand in site.node.operands]
    types[0] = windows_of(types[0], site.integers("window"))
    steps = [(n, h, w, h, w, i), strides(site.operand_shape(1))]
    return _contraction(site, WINDOWS, site.text("right"), types, steps)


def _contraction(
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
        _Side(builder.reads(site.buffer(place)), dict(zip(letters, steps[place], strict=True)))
        for place, letters in enumerate((left, right))
    ]
    target = builder.writes(site.result)
    extents = sizes(left, right, types)
    summed = contracted(left, right, result)
    work = site.count
    for letter in summed:
        work *= extents[letter]
    last = result[-1:]
    outer = result[:-1]
    parallel = splits(work) and bool(result)
    chain = _Chain(builder, sides, [(letter, extents[letter]) for letter in summed], last)
    with nest(builder, [extents[letter] for letter in outer], parallel) as indices:
        places = dict(zip(outer, indices, strict=True))
        row = list(zip(indices, strides(site.shape), strict=False))
        passes, rest = divmod(extents[last] if last else 1, PASS)
        if passes:
            with builder.loop(passes, parallel=parallel and not outer) as turn:
                start = builder.scaled(turn, PASS)
                for offset, value in chain.run(places, start, PASS):
                    builder.store(target, builder.affine([*row, (turn, PASS)], offset), value)
        if rest:
            # With no outer letter this pass belongs to one part alone: a parallel loop of one turn.
            with builder.loop(1, parallel=parallel and not outer) as turn:
                first = index(passes * PASS)
                for offset, value in chain.run(places, first, rest):
                    at = builder.affine([*row, (turn, PASS)], passes * PASS + offset)
                    builder.store(target, at, value)
    return site.kernel(builder, work, parallel=bool(result))


class _Chain:
    """Code for `count` neighbouring outputs along the last letter."""

    def __init__(
        self,
        builder: KernelBuilder,
        sides: Sequence[_Side],
        summed: Sequence[tuple[str, int]],
        last: str,
    ) -> None:
        self.builder = builder
        self.sides = sides
        self.summed = summed
        self.last = last

    def run(self, places: dict[str, Atom], start: Atom, count: int) -> list[tuple[int, Atom]]:
        """The results with their places behind `start`: vectors first, then single lanes."""
        blocks, rest = divmod(count, LANES)
        pieces = [(LANES * block, LANES) for block in range(blocks)]
        pieces += [(LANES * blocks + item, 1) for item in range(rest)]
        scalar = self.builder.buffers[self.sides[0].buffer].scalar
        zeros: list[Atom] = [Constant(0.0, ValueType(scalar, lanes)) for _, lanes in pieces]
        totals = self._sum(dict(places), start, pieces, zeros, 0)
        return [(offset, total) for (offset, _), total in zip(pieces, totals, strict=True)]

    def _sum(
        self,
        places: dict[str, Atom],
        start: Atom,
        pieces: Sequence[tuple[int, int]],
        totals: Sequence[Atom],
        depth: int,
    ) -> list[Atom]:
        if depth < len(self.summed):
            letter, extent = self.summed[depth]

            def turn(k: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
                return self._sum({**places, letter: k}, start, pieces, carried, depth + 1)

            return self.builder.fold(0, extent, totals, turn)
        columns = [self._elements(side, places, start, pieces) for side in self.sides]
        return [
            self.builder.apply("fma", a, b, total)
            for a, b, total in zip(*columns, totals, strict=True)
        ]

    def _elements(
        self, side: _Side, places: dict[str, Atom], start: Atom, pieces: Sequence[tuple[int, int]]
    ) -> list[Atom]:
        """The operand's elements for each piece; one load for all if it lacks the last letter."""
        stride = side.strides.get(self.last, 0)
        base = side.terms(places)
        if not stride:
            element = self.builder.load(side.buffer, self.builder.affine(base))
            wide = self.builder.splat(element, LANES) if any(n > 1 for _, n in pieces) else element
            return [wide if lanes > 1 else element for _, lanes in pieces]
        return [
            self.builder.strided(
                side.buffer,
                self.builder.affine([*base, (start, stride)], offset * stride),
                stride,
                lanes,
            )
            for offset, lanes in pieces
        ]
