"""Contractions tile by tile: a block makes a tile of the result, a thread some outputs of it, from shared panels.

    panels 0 of both operands -> half 0 of their shared arrays;  barrier
    for every whole panel:
        the next panels -> registers;  the 8 steps of this one;  registers -> the other half;  barrier
    for every step that is left: that step
    outputs that lie in the result -> memory

Each output stays one fma chain from +0 over ascending k: nothing is multiplied that is not in the sum, so steps
end where k does, and what a thread makes beyond the edge of the result goes nowhere.

The warps of a block lie `down` by `beside` in the tile, the lanes of a warp 4 by 8. A lane has groups of four rows, the
groups of all lanes side by side, and the same for columns; so what a warp reads of a step is 64 and 128 neighbouring
bytes, without a conflict of banks (the warp tiling of CUTLASS: github.com/NVIDIA/cutlass, "efficient GEMM in CUDA").
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.axes import in_fours, place_along
from alpha.kernel.device.contraction_letters import Product
from alpha.kernel.device.contraction_panels import DEPTH, Operand, Panel
from alpha.kernel.direct.site import Site
from alpha.kernel.node import QUAD, WARP, Atom, Constant, Kernel, Scalar, ValueType

HIGH, WIDE = 4, 8
"""Lanes of a warp one below the other, and side by side."""
ENOUGH = 64
"""Blocks that keep most of a card's multiprocessors busy (an RTX 3090 has 82)."""
SHALLOWEST = 2 * DEPTH
"""Steps of k that are worth bringing panels for."""
EMPTIEST = 4
"""How many times a tile may be as wide as the result: what is wide is read once for a tile, not for each row."""


@record
class Tile:
    """`down` by `beside` warps, of which each lane has `groups` of four rows and of four columns."""

    down: int
    beside: int
    groups: tuple[int, int]
    registers: int

    @property
    def size(self) -> int:
        """Rows of the tile, and columns: panels are brought by twice as many threads."""
        return self.down * HIGH * QUAD * self.groups[0]

    @property
    def threads(self) -> int:
        return self.down * self.beside * WARP

    @property
    def loads(self) -> float:
        """Loads from shared arrays for 16 outputs of a step."""
        return sum(self.groups) / (self.groups[0] * self.groups[1])


TILES = (
    Tile(4, 2, (2, 2), 128),  # 128 x 128
    Tile(2, 2, (2, 1), 96),  # 64 x 64
    Tile(2, 1, (1, 1), 72),  # 32 x 32
)


@record
class Tiling:
    """`rows` are the letters of operand number `side` and the result; `columns` those of the other one and the result.

    The result's last letter is in `columns`, `batch` is in all three.
    """

    tile: Tile
    side: int
    batch: str
    rows: str
    columns: str


def tiling(of: Product) -> Tiling | None:
    """How to make a contraction in tiles; None where it is too small, narrow or shallow for the smallest one."""
    last = of.result[-1:]
    batch = "".join(a for a in of.result if a in of.left and a in of.right)
    if not last or last in batch or of.count(of.summed) < SHALLOWEST:
        return None
    side = 0 if last in of.right else 1
    columns = "".join(a for a in of.result if a not in (of.left, of.right)[side])
    rows = "".join(a for a in of.result if a not in batch + columns)
    height, width = of.count(rows), of.count(columns)
    narrow = min(height, width)

    def blocks(tile: Tile) -> int:
        return of.count(batch) * -(-height // tile.size) * -(-width // tile.size)

    filling = [tile for tile in TILES if EMPTIEST * narrow >= tile.size and blocks(tile) >= ENOUGH]
    if not filling and narrow >= TILES[-1].size:
        filling = [TILES[-1]]
    if not filling:
        return None
    best = min(filling, key=lambda tile: blocks(tile) * tile.size**2 * tile.loads)
    return Tiling(best, side, batch, rows, columns)


def tiled(site: Site, of: Product, how: Tiling) -> Kernel:
    builder = KernelBuilder()
    buffers = [builder.reads(site.buffer(place)) for place in range(2)]
    target = builder.writes(site.result)
    operands: list[Operand] = []
    for place, letters in ((how.side, how.rows), (1 - how.side, how.columns)):
        steps = of.operands[place]
        operands.append(
            Operand(
                buffers[place],
                of.axes(how.batch, steps),
                of.axes(letters, steps),
                of.axes(of.summed, steps),
                of.count(letters),
                of.count(of.summed),
            )
        )
    _Block(builder, of, how, operands, target).write()
    return site.kernel(builder, of.work, parallel=False)


class _Block:
    """The code of a block. `lane` numbers are those of four rows and of four columns in the tile of the warp."""

    def __init__(
        self,
        builder: KernelBuilder,
        of: Product,
        how: Tiling,
        operands: Sequence[Operand],
        target: int,
    ) -> None:
        tile = how.tile
        self.builder, self.of, self.how, self.target = builder, of, how, target
        self.tile = tile
        self.steps = operands[0].steps
        tiles = [-(-operand.rows // tile.size) for operand in operands]
        batches = of.count(how.batch)
        block, thread = builder.launch(tiles[0] * tiles[1] * batches, tile.threads, tile.registers)
        places = _split(builder, block, tiles[1])
        self.batch, row = _split(builder, places[0], tiles[0])
        self.blocks = (row, places[1])
        self.panels = [
            Panel(builder, operand, name, tile.size, self.batch, at, thread)
            for operand, name, at in zip(operands, ("rows", "columns"), self.blocks, strict=True)
        ]
        warp, lane = _split(builder, thread, WARP)
        high, wide = _split(builder, lane, WIDE)
        below, right = _split(builder, warp, tile.beside)
        self.firsts = (
            builder.affine([(below, HIGH * QUAD * tile.groups[0]), (high, QUAD)]),
            builder.affine([(right, WIDE * QUAD * tile.groups[1]), (wide, QUAD)]),
        )

    def write(self) -> None:
        groups = self.tile.groups
        zero = Constant(0.0, ValueType(Scalar.F32, QUAD))
        totals: list[Atom] = [zero] * (groups[0] * QUAD * groups[1])
        whole, rest = divmod(self.steps, DEPTH)
        for panel in self.panels:
            panel.put(index(0), panel.fetch(index(0)))
        self.builder.barrier()

        def turn(number: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            following = self.builder.affine([(number, 1)], 1)
            there = following
            if not rest:
                # Behind the last panel it is brought once more, so that all turns are alike.
                there = self.builder.apply("minimum", following, index(whole - 1))
            brought = [panel.fetch(there) for panel in self.panels]
            starts = self._starts(number)
            made = list(carried)
            for step in range(DEPTH):
                made = self._step(starts, step, made)
            for panel, values in zip(self.panels, brought, strict=True):
                panel.put(self._half(panel, following), values)
            self.builder.barrier()
            return made

        def single(step: Atom, carried: Sequence[Atom]) -> Sequence[Atom]:
            starts = [
                self.builder.affine([(start, 1), (step, panel.pitch)])
                for start, panel in zip(self._starts(index(whole)), self.panels, strict=True)
            ]
            return self._step(starts, 0, carried)

        totals = self.builder.fold(0, whole, totals, turn)
        self._store(self.builder.fold(0, rest, totals, single))

    def _half(self, panel: Panel, number: Atom) -> Atom:
        return self.builder.scaled(self.builder.apply("remainder", number, index(2)), panel.half)

    def _starts(self, number: Atom) -> list[Atom]:
        """Where the thread's first rows and columns lie in the halves that panel number `number` is in."""
        return [
            self.builder.add(self._half(panel, number), first)
            for panel, first in zip(self.panels, self.firsts, strict=True)
        ]

    def _step(self, starts: Sequence[Atom], step: int, totals: Sequence[Atom]) -> list[Atom]:
        """The chains one product further."""
        rows, columns = (
            [panel.take(start, step, by * group) for group in range(groups)]
            for panel, start, by, groups in zip(
                self.panels, starts, (HIGH * QUAD, WIDE * QUAD), self.tile.groups, strict=True
            )
        )
        made: list[Atom] = []
        for row in rows:
            for lane in range(QUAD):
                one = self.builder.splat(self.builder.extract(row, lane), QUAD)
                for column in columns:
                    made.append(self.builder.apply("fma", one, column, totals[len(made)]))
        return made

    def _store(self, totals: Sequence[Atom]) -> None:
        """What lies in the result. `most` is the last place that a block of the tile reaches."""
        builder, of, how = self.builder, self.of, self.how
        rows, columns, batch = (
            of.axes(letters, of.target) for letters in (how.rows, how.columns, how.batch)
        )
        fours = in_fours(columns, (rows, batch))
        height, width = of.count(how.rows), of.count(how.columns)
        start = place_along(builder, batch, self.batch)
        following = iter(totals)
        for group in range(self.tile.groups[0]):
            for lane in range(QUAD):
                values = [next(following) for _ in range(self.tile.groups[1])]
                by = group * HIGH * QUAD + lane
                row = builder.affine([(self.blocks[0], self.tile.size), (self.firsts[0], 1)], by)
                with builder.below(row, height, _reach(height, self.tile.size)):
                    base = builder.add(start, place_along(builder, rows, row))
                    for place, value in enumerate(values):
                        by = place * WIDE * QUAD
                        terms = [(self.blocks[1], self.tile.size), (self.firsts[1], 1)]
                        column = builder.affine(terms, by)
                        most = _reach(width, self.tile.size)
                        if fours:
                            four = builder.apply("quotient", column, index(QUAD))
                            with builder.below(four, width // QUAD, most // QUAD):
                                at = builder.add(base, place_along(builder, fours, four))
                                builder.store(self.target, at, value)
                            continue
                        for offset in range(QUAD):
                            one = builder.affine([(column, 1)], offset)
                            with builder.below(one, width, most):
                                at = builder.add(base, place_along(builder, columns, one))
                                builder.store(self.target, at, builder.extract(value, offset))


def _reach(count: int, size: int) -> int:
    """The last place of the last of the tiles that cover so many places."""
    return -(-count // size) * size - 1


def _split(builder: KernelBuilder, number: Atom, by: int) -> tuple[Atom, Atom]:
    """The quotient and the remainder."""
    return (
        builder.apply("quotient", number, index(by)),
        builder.apply("remainder", number, index(by)),
    )
