"""The template of contractions: for every output one fma chain over ascending k (specification, section 12.2).

The last letter of the result runs across lanes. Four vectors of outputs are made in one pass over k: of four rows, so
that they share what is loaded of the operand that has the last letter, or of one row where nothing can be shared.
Columns that fill no vector take a pass of their own, with single lanes. Rows stay together in groups while the columns
are gone through, so that the part of the operand they share stays near.

The windows of an image are an operand like any other: two of its letters run along one axis of the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.graph.node import Node
from alpha.graph.ops.contraction import contracted, sizes
from alpha.graph.ops.convolution import WINDOWS, windows_of
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.direct.site import Site, nest, splits, strides
from alpha.kernel.node import LANES, Atom, Constant, Kernel, ValueType

TILE = 4
"""Vectors of outputs of one pass over k: enough that no multiplication waits for the one before in its chain."""
GROUP, PARTS = 8, 16
"""Tiles of rows in a group where rows are split among parts, at most, and groups that should be left to split."""


@record
class _Side:
    """An operand: its buffer and its stride along each letter (0 where it lacks the letter)."""

    buffer: int
    strides: dict[str, int]

    def stride(self, letter: str) -> int:
        return self.strides.get(letter, 0)


def arrangement(node: Node, place: int) -> tuple[int, ...] | None:
    """The order of axes that brings the result's last letter to the end of an operand of `contract`.

    None where it is there, or missing, or where each element is read for so few outputs that moving it costs more.
    """
    letters = str(node.attribute("right" if place else "left"))
    result = str(node.attribute("result"))
    last = result[-1:]
    if not last or last not in letters[:-1]:
        return None
    outputs = zip(result, node.type.shape, strict=True)
    if prod(size for letter, size in outputs if letter not in letters) < TILE:
        return None
    axis = letters.index(last)
    return (*(other for other in range(len(letters)) if other != axis), axis)


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
    tiling = _Tiling(builder, target, sides, result, extents, summed, strides(site.shape))
    tiling.run(splits(work) and bool(result))
    return site.kernel(builder, work, parallel=bool(result))


class _Tiling:
    """Code for all outputs, tile by tile. `row` is the letter of which several places share what is loaded, or ""."""

    def __init__(
        self,
        builder: KernelBuilder,
        target: int,
        sides: Sequence[_Side],
        result: str,
        extents: Mapping[str, int],
        summed: Sequence[str],
        steps: Sequence[int],
    ) -> None:
        self.builder = builder
        self.target = target
        self.sides = sides
        self.outer, self.last = result[:-1], result[-1:]
        self.extents = extents
        self.summed = summed
        self.steps = dict(zip(result, steps, strict=True))
        vectors = [side for side in sides if self.last and side.stride(self.last)]
        shared = [a for a in self.outer if any(not side.stride(a) for side in vectors)]
        self.row = shared[-1] if shared else ""
        self.rows = min(TILE, extents[self.row]) if self.row else 1
        self.columns = TILE // self.rows * LANES
        self.places: dict[str, Atom] = {}

    def run(self, parallel: bool) -> None:
        """The first letter of the result is split among parts."""
        others = [letter for letter in self.outer if letter != self.row]
        by_rows = parallel and self.row == self.outer[:1] != ""
        by_columns = parallel and not self.outer
        count = self.extents[self.row] if self.row else 1
        tiles = count // self.rows
        if by_rows:
            tiles = max(1, min(GROUP, tiles // PARTS))
        sizes = [self.extents[letter] for letter in others]
        with nest(self.builder, sizes, parallel and not by_rows) as indices:
            self.places = dict(zip(others, indices, strict=True))
            groups, rest = divmod(count, tiles * self.rows)
            with self.builder.loop(groups, parallel=by_rows) as group:
                start = self.builder.scaled(group, tiles * self.rows)
                self._columns(start, tiles * self.rows, by_columns)
            if rest:
                with self.builder.loop(1, parallel=by_rows) as group:
                    start = self.builder.affine([(group, 1)], groups * tiles * self.rows)
                    self._columns(start, rest, by_columns)

    def _columns(self, start: Atom, count: int, parallel: bool) -> None:
        """All columns of `count` rows from `start` on."""
        extent = self.extents[self.last] if self.last else 1
        passes, rest = divmod(extent, self.columns)
        vectors, singles = divmod(rest, LANES)
        if passes:
            with self.builder.loop(passes, parallel=parallel) as turn:
                first = self.builder.scaled(turn, self.columns)
                self._tiles(start, count, self.rows, first, self.columns)
        # With no outer letter what is left belongs to one part alone: a parallel loop of one turn.
        for place, width in ((extent - rest, vectors * LANES), (extent - singles, singles)):
            if width:
                with self.builder.loop(1, parallel=parallel) as turn:
                    first = self.builder.affine([(turn, 1)], place)
                    self._tiles(start, count, self.rows if width >= LANES else 1, first, width)

    def _tiles(self, start: Atom, count: int, rows: int, first: Atom, width: int) -> None:
        tiles, rest = divmod(count, rows)
        with self.builder.loop(tiles) as tile:
            self._tile(self.builder.affine([(start, 1), (tile, rows)]), rows, first, width)
        if rest:
            self._tile(self.builder.affine([(start, 1)], tiles * rows), rest, first, width)

    def _tile(self, start: Atom, rows: int, first: Atom, width: int) -> None:
        """`width` neighbouring outputs of each of some rows: either whole vectors or single lanes."""
        lanes = LANES if width >= LANES else 1
        offsets = range(0, width, lanes)
        places = {**self.places, self.row: start, self.last: first}
        bases = [self._base(places, side.strides) for side in self.sides]
        scalar = self.builder.buffers[self.sides[0].buffer].scalar
        zero = Constant(0.0, ValueType(scalar, lanes))
        totals = self._sum(bases, rows, offsets, [zero] * (rows * len(offsets)), 0)
        base = self._base(places, self.steps)
        following = iter(totals)
        for row in range(rows):
            for offset in offsets:
                at = row * self.steps.get(self.row, 0) + offset
                self.builder.store(
                    self.target, self.builder.affine([(base, 1)], at), next(following)
                )

    def _base(self, places: Mapping[str, Atom], steps: Mapping[str, int]) -> Atom:
        terms = [(atom, steps[letter]) for letter, atom in places.items() if steps.get(letter)]
        return self.builder.affine(terms)

    def _sum(
        self,
        bases: Sequence[Atom],
        rows: int,
        offsets: range,
        totals: Sequence[Atom],
        depth: int,
    ) -> list[Atom]:
        """The chains, row by row: `bases` are the places in the operands that the loops so far have reached."""
        if depth < len(self.summed):
            letter = self.summed[depth]

            def turn(k: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
                moved = [
                    self.builder.affine([(base, 1), (k, side.stride(letter))])
                    for base, side in zip(bases, self.sides, strict=True)
                ]
                return self._sum(moved, rows, offsets, carried, depth + 1)

            return self.builder.fold(0, self.extents[letter], totals, turn)
        lanes = totals[0].type.lanes
        columns = [
            self._elements(side, base, rows, offsets, lanes)
            for side, base in zip(self.sides, bases, strict=True)
        ]
        return [
            self.builder.apply("fma", a, b, total)
            for a, b, total in zip(*columns, totals, strict=True)
        ]

    def _elements(
        self, side: _Side, base: Atom, rows: int, offsets: range, lanes: int
    ) -> list[Atom]:
        """The operand's elements for each output, each loaded once."""
        found: dict[int, Atom] = {}
        atoms: list[Atom] = []
        stride = side.stride(self.last) if self.last else 0
        down = side.stride(self.row) if self.row else 0
        for row in range(rows):
            for offset in offsets:
                place = row * down + offset * stride
                if place not in found:
                    at = self.builder.affine([(base, 1)], place)
                    found[place] = self.builder.strided(side.buffer, at, stride, lanes)
                atoms.append(found[place])
        return atoms
