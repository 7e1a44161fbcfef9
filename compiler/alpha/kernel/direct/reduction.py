"""The template of `sum`, `max` and `min` along axes, in the exact order of the specification, section 12.3.

The 16 lanes of a sum are its own strided accumulators, not outputs. If the last axis is reduced they are the lanes of
one vector (`_row`); otherwise 16 neighbouring outputs are the lanes of a vector and each has 16 accumulators
(`_column`), so a column of a matrix sums in the same order as a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.record import record
from alpha.kernel.builder import IOTA, KernelBuilder, index
from alpha.kernel.direct.site import Site, nest, splits, strides
from alpha.kernel.node import LANES, Atom, Constant, Kernel, Scalar, ValueType


@record
class Combination:
    """The operator between two elements, and the same as a tree over 16 lanes."""

    operator: str
    tree: str


COMBINATIONS = {
    "sum": Combination("add", "treeAdd"),
    "max": Combination("maximum", "treeMaximum"),
    "min": Combination("minimum", "treeMinimum"),
}


@record
class Dim:
    """One or more neighbouring axes of the operand, all reduced or all kept."""

    size: int
    stride: int
    reduced: bool


def dims_of(shape: Sequence[int], axes: Sequence[int]) -> list[Dim]:
    """The axes, without those of size 1, neighbours of one kind merged."""
    found: list[Dim] = []
    for axis, (size, stride) in enumerate(zip(shape, strides(shape), strict=True)):
        if size == 1:
            continue
        reduced = axis in axes
        if found and found[-1].reduced == reduced:
            found[-1] = Dim(found[-1].size * size, stride, reduced)
        else:
            found.append(Dim(size, stride, reduced))
    return found


def reduction(site: Site) -> Kernel:
    builder = KernelBuilder()
    source = builder.reads(site.buffer(0))
    result = builder.writes(site.result)
    dims = dims_of(site.operand_shape(0), site.integers("axes"))
    kept = [dim for dim in dims if not dim.reduced]
    reduced = [dim for dim in dims if dim.reduced]
    fold = Fold(builder, source, reduced, COMBINATIONS[site.node.operation])
    work = site.node.operands[0].type.count
    places = strides([dim.size for dim in kept])
    by_column = bool(dims) and not dims[-1].reduced
    outer = kept[:-1] if by_column else kept
    parallel = splits(work)
    with nest(builder, [dim.size for dim in outer], parallel) as indices:
        base = [(atom, dim.stride) for atom, dim in zip(indices, outer, strict=True)]
        target = list(zip(indices, places, strict=False))
        if by_column:
            blocks, rest = divmod(kept[-1].size, LANES)
            inner = parallel and not outer
            if blocks:
                with builder.loop(blocks, parallel=inner) as block:
                    value = fold.column(builder.affine([*base, (block, LANES)]), LANES)
                    builder.store(result, builder.affine([*target, (block, LANES)]), value)
            if rest:
                with builder.loop(rest, parallel=inner) as item:
                    start = [*base, (item, 1)]
                    value = fold.column(builder.affine(start, blocks * LANES), 1)
                    builder.store(
                        result, builder.affine([*target, (item, 1)], blocks * LANES), value
                    )
        else:
            builder.store(result, builder.affine(target), fold.row(builder.affine(base)))
    return site.kernel(builder, work, parallel=bool(kept))


class Fold:
    """Code that folds all reduced elements of one output, or of 16 neighbours."""

    def __init__(
        self,
        builder: KernelBuilder,
        source: int,
        reduced: Sequence[Dim],
        combination: Combination,
    ) -> None:
        self.builder = builder
        self.source = source
        self.reduced = reduced
        self.combination = combination
        self.count = 1
        for dim in reduced:
            self.count *= dim.size

    def row(self, base: Atom) -> Atom:
        """One output; lane j of a vector is accumulator j."""
        whole = self.count - self.count % LANES
        if not whole:
            return self.tree([self._element(base, index(i)) for i in range(self.count)])

        def turn(i: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            return [self._combine(carried[0], self._sixteen(base, i))]

        first = self._sixteen(base, index(0))
        (lanes,) = self.builder.fold(LANES, whole, [first], turn, LANES)
        if whole == self.count:
            one = ValueType(lanes.type.scalar)
            return self.builder.apply(self.combination.tree, lanes, to=one)
        accumulators = [self.builder.extract(lanes, lane) for lane in range(LANES)]
        return self.tree(self._rest(accumulators, whole, lambda i: self._element(base, index(i))))

    def column(self, base: Atom, lanes: int) -> Atom:
        """`lanes` neighbouring outputs; each of the 16 accumulators is a value with so many lanes."""

        def element(i: Atom) -> Atom:
            return self.builder.load(self.source, self._place(base, i), lanes)

        accumulators = [element(index(i)) for i in range(min(self.count, LANES))]
        whole = self.count - self.count % LANES
        if whole > LANES:

            def turn(i: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
                return [
                    self._combine(atom, element(self.builder.add(i, index(j))))
                    for j, atom in enumerate(carried)
                ]

            accumulators = self.builder.fold(LANES, whole, accumulators, turn, LANES)
        if self.count > LANES:
            accumulators = self._rest(accumulators, whole, lambda i: element(index(i)))
        return self.tree(accumulators)

    def tree(self, accumulators: Sequence[Atom]) -> Atom:
        """For h = 8, 4, 2, 1: a_j = a_j + a_{j+h} for j < h where that exists."""
        lanes = list(accumulators)
        for half in (8, 4, 2, 1):
            for j in range(half):
                if j + half < len(lanes):
                    lanes[j] = self._combine(lanes[j], lanes[j + half])
            lanes = lanes[:half] if len(lanes) > half else lanes
        return lanes[0]

    def _rest(
        self, accumulators: Sequence[Atom], whole: int, element: Callable[[int], Atom]
    ) -> list[Atom]:
        lanes = list(accumulators)
        for i in range(whole, self.count):
            lanes[i - whole] = self._combine(lanes[i - whole], element(i))
        return lanes

    def _combine(self, a: Atom, b: Atom) -> Atom:
        return self.builder.apply(self.combination.operator, a, b)

    def _place(self, base: Atom, i: Atom) -> Atom:
        """Where reduced element number `i`, row-major over the reduced axes, stands; any number of lanes."""
        place = base
        if len(self.reduced) == 1:
            return self.builder.add(place, self._times(i, self.reduced[0].stride))
        left = self.count
        for dim in self.reduced:
            after = left // dim.size
            quotient = self._by("quotient", i, after)
            turn = quotient if left == self.count else self._by("remainder", quotient, dim.size)
            place = self.builder.add(place, self._times(turn, dim.stride))
            left = after
        return place

    def _by(self, operator: str, i: Atom, number: int) -> Atom:
        return self.builder.apply(operator, i, Constant(number, i.type))

    def _times(self, i: Atom, stride: int) -> Atom:
        return self.builder.apply("mul", i, Constant(stride, i.type))

    def _element(self, base: Atom, i: Atom) -> Atom:
        return self.builder.load(self.source, self._place(base, i))

    def _sixteen(self, base: Atom, i: Atom) -> Atom:
        """Elements i ... i + 15."""
        if len(self.reduced) == 1:
            place = self._place(base, i)
            return self.builder.strided(self.source, place, self.reduced[0].stride, LANES)
        steps = Constant(IOTA, ValueType(Scalar.I64, LANES))
        places = self.builder.add(self.builder.splat(i, LANES), steps)
        wide = self.builder.splat(base, LANES)
        return self.builder.load(self.source, self._place(wide, places), LANES)
