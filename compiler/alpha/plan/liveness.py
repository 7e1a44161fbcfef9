"""When each workspace buffer of a program holds a value that is still read."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.base.span import Span
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


def ranges(program: Housed) -> list[Range]:
    """The live ranges, by their first launch.

    An input is there before the first launch and an output is read behind the last one, whatever reads them between.
    """
    end = len(program.kernels) - 1
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for name, buffer in program.lowered.inputs:
        if name not in program.places:
            first[buffer.name], last[buffer.name] = 0, 0
    for place, kernel in enumerate(program.kernels):
        for buffer in kernel.buffers:
            if buffer.name not in program.places:
                first.setdefault(buffer.name, place)
                last[buffer.name] = place
    for _, buffer in program.lowered.outputs:
        if buffer.name in first:
            last[buffer.name] = max(end, 0)
    found = []
    for name, start in first.items():
        node = program.lowered.nodes[program.fresh.get(name, name)]
        found.append(Range(name, node.type, start, last[name], node.span))
    return sorted(found, key=lambda item: (item.first, item.name))


def live_bytes(buffers: Iterable[Buffer], launches: int) -> list[int]:
    """The bytes of a program's workspace buffers that are live at each of its launches."""
    change = [0] * (launches + 1)
    for buffer in buffers:
        if buffer.first < launches:
            change[buffer.first] += buffer.bytes
            change[min(buffer.last + 1, launches)] -= buffer.bytes
    return list(accumulate(change[:-1]))
