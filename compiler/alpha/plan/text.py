"""The kernels of programs as text, in the order they are launched, with the borders of loops between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from alpha.kernel.node import Kernel
from alpha.kernel.text import to_text
from alpha.plan.plan import ProgramPlan


def kernels_text(programs: Iterable[ProgramPlan], kernels: Sequence[Kernel]) -> str:
    """The kernels are found by the symbols of the regions; others are left out."""
    known = {kernel.symbol: kernel for kernel in kernels}
    return "\n".join(part for program in programs for part in _parts(program, known))


def _parts(program: ProgramPlan, known: dict[str, Kernel]) -> Iterator[str]:
    for place, region in enumerate(program.regions):
        for loop in program.loops:
            if loop.first == place:
                order = f"{loop.count - 1} .. 0" if loop.backward else f"0 .. {loop.count - 1}"
                yield f"loop over {order}  index at {loop.cell}\n"
        yield to_text(known[region.symbol])
        for loop in reversed(program.loops):
            if loop.last == place:
                yield f"end of the loop with its index at {loop.cell}\n"
