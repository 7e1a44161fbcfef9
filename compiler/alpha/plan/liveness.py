"""When each workspace buffer of a program holds a value that is still read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.kernel.block import Turns
from alpha.kernel.node import Kernel
from alpha.plan.homes import Housed
from alpha.plan.plan import Buffer


@record
class Range:
    """A buffer of the workspace, live from launch `first` to launch `last`, both included."""

    name: str
    type: TensorType
    first: int
    last: int
    span: Span | None


@record
class _Touch:
    """A launch that reads or writes a buffer; `cells` are those of the loops the buffer moves with there."""

    place: int
    reads: bool
    cells: tuple[str, ...]


def ranges(program: Housed) -> list[Range]:
    """The live ranges, by their first launch.

    An input is there before the first launch and an output is read behind the last one, whatever reads them between.
    In a loop a buffer lives through all turns, unless each turn writes it before it reads it and nothing reads it
    behind the loop.
    """
    end = max(len(program.kernels) - 1, 0)
    loops = program.lowered.loops
    found: dict[str, tuple[int, int]] = {}
    for name, touches in _touches(program.kernels).items():
        found[name] = _live(touches, loops)
    for _, buffer in program.lowered.inputs:
        found[buffer.name] = 0, found.get(buffer.name, (0, 0))[1]
    for _, buffer in program.lowered.outputs:
        found[buffer.name] = found[buffer.name][0], end
    for turns in loops:
        found[turns.cell] = turns.first, turns.last
    made = []
    for name, (first, last) in found.items():
        if name not in program.places:
            node = program.lowered.nodes[program.fresh.get(name, name)]
            made.append(Range(name, node.type, first, last, node.span))
    return sorted(made, key=lambda item: (item.first, item.name))


def _touches(kernels: Sequence[Kernel]) -> Mapping[str, list[_Touch]]:
    found: dict[str, list[_Touch]] = {}
    for place, kernel in enumerate(kernels):
        for number, buffer in enumerate(kernel.buffers):
            cells = tuple(row.cell for row in buffer.rows)
            touch = _Touch(place, number not in kernel.written, cells)
            found.setdefault(buffer.name, []).append(touch)
    return found


def _live(touches: Sequence[_Touch], loops: Sequence[Turns]) -> tuple[int, int]:
    """From the first touch to the last, and through each loop whose turns share what the buffer holds."""
    first, last = touches[0].place, touches[-1].place
    for turns in loops:
        inside = [touch for touch in touches if turns.first <= touch.place <= turns.last]
        if not inside:
            continue
        reads = any(touch.reads for touch in inside if touch.place == inside[0].place)
        moves = any(turns.cell in touch.cells for touch in inside)
        if reads or moves or len(inside) < len(touches):
            first, last = min(first, turns.first), max(last, turns.last)
    return first, last


def live_bytes(buffers: Iterable[Buffer], launches: int) -> list[int]:
    """The bytes of a program's workspace buffers that are live at each of its launches."""
    change = [0] * (launches + 1)
    for buffer in buffers:
        if buffer.first < launches:
            change[buffer.first] += buffer.bytes
            change[min(buffer.last + 1, launches)] -= buffer.bytes
    return list(accumulate(change[:-1]))
