"""Launches: regions that one thread runs in a row share a function, so that code for small systems stays small.

A function costs the code generator more than the few loops of a small region, and the executable a frame, a symbol and
a call. The regions stand one after the other in the function, each for itself. No launch crosses the border of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.record import record
from alpha.plan.plan import ProgramPlan, Region

LARGEST = 32
"""Regions of one launch: more save nothing that can be measured."""


@record
class Launch:
    """`symbol` is a function `void(ptr arena, i64 part, i64 parts)` for one region, parallel or not.

    For several, none of them parallel, it is `void(ptr arena, i64 first, i64 stop)` and runs those with the numbers
    first to stop - 1. `first` is the number of the first region in its program.
    """

    symbol: str
    first: int
    regions: tuple[Region, ...]

    @property
    def parallel(self) -> bool:
        return self.regions[0].parallel


def launches(program: ProgramPlan) -> tuple[Launch, ...]:
    """All regions of a program in their order."""
    found: list[Launch] = []
    first = 0
    for row in _rows(program):
        names = dict.fromkeys((row[0].symbol, row[-1].symbol))
        found.append(Launch("..".join(names), first, tuple(row)))
        first += len(row)
    return tuple(found)


def _rows(program: ProgramPlan) -> Iterator[list[Region]]:
    borders = {loop.first for loop in program.loops} | {loop.last + 1 for loop in program.loops}
    row: list[Region] = []
    for number, region in enumerate(program.regions):
        alone = row and (region.parallel or row[0].parallel or len(row) == LARGEST)
        if alone or (row and number in borders):
            yield row
            row = []
        row.append(region)
    if row:
        yield row
