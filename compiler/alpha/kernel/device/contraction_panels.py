"""What the threads of a block bring of one operand: a panel of some rows and `DEPTH` steps of k.

Rows are the places along the letters that the operand shares with the result alone; of the operand that has the
result's last letter they are columns of the result.

A panel lies in a shared array, step by step, so that a thread finds four neighbouring rows of a step in 16 bytes. From
one step to the next it is `PADDING` elements more than there are rows: a warp that stores four steps of eight rows, or
eight steps of four, meets each of the 32 banks once. A place beyond the last one is the last one again: what comes of
it is never stored, or never used.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.axes import Axes, in_fours, place_along
from alpha.kernel.node import QUAD, Atom, Scalar

DEPTH = 8
"""Steps of k in a panel."""
PADDING = 4


@record
class Operand:
    """An operand in three groups: the batch, `across` with its `rows` places, and `along` k with its `steps`."""

    buffer: int
    batch: Axes
    across: Axes
    along: Axes
    rows: int
    steps: int


class Panel:
    """Two panels of an operand: one is read while the next one is written.

    Each thread brings four elements of a panel: at once where four in a row lie along k (`deep`) or across it, and else
    one by one, neighbouring threads along whatever the operand has in a row.
    """

    def __init__(
        self,
        builder: KernelBuilder,
        operand: Operand,
        name: str,
        rows: int,
        batch: Atom,
        block: Atom,
        thread: Atom,
    ) -> None:
        """`rows` rows from row `block * rows` on, for twice as many threads."""
        self.builder = builder
        self.operand = operand
        self.pitch = rows + PADDING
        self.half = DEPTH * self.pitch
        self.array = builder.shares(name, Scalar.F32, 2 * self.half)
        across = in_fours(operand.across, (operand.batch, operand.along))
        along = in_fours(operand.along, (operand.batch, operand.across))
        self.lanes = QUAD if along or across else 1
        self.k_unit = QUAD if along else 1
        self.row_unit = QUAD if across and not along else 1
        self._along = along or operand.along
        rows_along = across if across and not along else operand.across
        deep = self.k_unit == QUAD or (self.lanes == 1 and operand.along[-1].stride == 1)
        fast = DEPTH // self.k_unit if deep else rows // self.row_unit
        quick = builder.apply("remainder", thread, index(fast))
        slow = builder.apply("quotient", thread, index(fast))
        self._step, row = (quick, slow) if deep else (slow, quick)
        # The four elements, or the one time four, as steps and rows further on than the first.
        turns = [turn * (2 * rows // fast) for turn in range(QUAD // self.lanes)]
        self._further = [(0, turn) if deep else (turn, 0) for turn in turns]
        self._spot = builder.affine([(self._step, self.k_unit * self.pitch), (row, self.row_unit)])
        start = place_along(builder, operand.batch, batch)
        self._even = len(self._along) == 1 and operand.steps % DEPTH == 0
        if self._even:
            start = builder.affine([(start, 1), (self._step, self._along[0].stride)])
        self._bases: list[Atom] = []
        for _, rows_on in self._further:
            place = builder.affine([(block, rows // self.row_unit), (row, 1)], rows_on)
            if operand.rows % rows:
                last = operand.rows // self.row_unit - 1
                place = builder.apply("minimum", place, index(last))
            self._bases.append(builder.add(start, place_along(builder, rows_along, place)))

    def fetch(self, panel: Atom) -> list[Atom]:
        """What the thread brings of panel number `panel` along k."""
        return [
            self.builder.load(self.operand.buffer, self._place(panel, base, steps), self.lanes)
            for base, (steps, _) in zip(self._bases, self._further, strict=True)
        ]

    def _place(self, panel: Atom, base: Atom, steps: int) -> Atom:
        """Where the thread reads; `base` has the row, and its first step too if all steps are equally far apart."""
        by = DEPTH // self.k_unit
        if self._even:
            stride = self._along[0].stride
            return self.builder.affine([(base, 1), (panel, by * stride)], steps * stride)
        place = self.builder.affine([(panel, by), (self._step, 1)], steps)
        if self.operand.steps % DEPTH:
            last = self.operand.steps // self.k_unit - 1
            place = self.builder.apply("minimum", place, index(last))
        return self.builder.add(base, place_along(self.builder, self._along, place))

    def put(self, half: Atom, values: Sequence[Atom]) -> None:
        """Leaves what `fetch` brought in the half of the shared array that begins at `half`."""
        spot = self.builder.add(half, self._spot)
        for value, (steps, rows) in zip(values, self._further, strict=True):
            by = steps * self.k_unit * self.pitch + rows * self.row_unit
            at = self.builder.affine([(spot, 1)], by)
            if self.k_unit == 1:
                self.builder.shared_store(self.array, at, value)
                continue
            for lane in range(QUAD):
                one = self.builder.affine([(at, 1)], lane * self.pitch)
                self.builder.shared_store(self.array, one, self.builder.extract(value, lane))

    def take(self, first: Atom, step: int, offset: int) -> Atom:
        """Four neighbouring rows of a step; `first` is the place of the thread's first row in step 0."""
        at = self.builder.affine([(first, 1)], step * self.pitch + offset)
        return self.builder.shared_load(self.array, at, QUAD)
