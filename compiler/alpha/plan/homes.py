"""Where the outputs of a program end: the state, and the numbers that the host reads, have lasting places (homes).

A kernel writes an output straight into its home if nothing reads the home's old value later. Otherwise the output is
made elsewhere and copied when the program ends: first what is itself an old value that other copies would overwrite,
into a place of its own, then everything into its home.
"""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import record, replace
from alpha.kernel.loops import can_be_made_in
from alpha.kernel.lower import Lowered
from alpha.kernel.node import Buffer, Kernel


@record
class Housed:
    """A program whose outputs reach their homes.

    `places` maps the name of a buffer to the home it is: inputs, and outputs written in place. All other buffers belong
    to the workspace; `fresh` are those of them that copies added, with the buffer each is a copy of.
    """

    lowered: Lowered
    kernels: tuple[Kernel, ...]
    places: Mapping[str, str]
    fresh: Mapping[str, str]


def housed(lowered: Lowered, homes: Mapping[str, str]) -> Housed:
    """`homes` gives the home of inputs and outputs by their names; what has none stays in the workspace."""
    inputs = {buffer.name: homes[name] for name, buffer in lowered.inputs if name in homes}
    kernels = list(lowered.kernels)
    fresh: dict[str, str] = {}
    copies: list[tuple[Buffer, str]] = []
    places = dict(inputs)
    waiting: list[tuple[Buffer, str]] = []
    for name, buffer in lowered.outputs:
        home = homes.get(name)
        if home is None or inputs.get(buffer.name) == home:
            continue
        if buffer.name in inputs:
            kept = replace(buffer, name=f"{buffer.name}.kept.{len(fresh)}")
            fresh[kept.name] = buffer.name
            kernels.append(_copy(lowered, kernels, buffer, kept))
            copies.append((kept, home))
        else:
            waiting.append((buffer, home))
    loops = [(turns.first, turns.last) for turns in lowered.loops]
    for buffer, home in waiting:
        olds = [name for name, place in inputs.items() if place == home]
        free = buffer.name not in places
        if free and can_be_made_in(olds, buffer.name, kernels, loops):
            places[buffer.name] = home
        else:
            copies.append((buffer, home))
    for buffer, home in copies:
        target = replace(buffer, name=f"home.{home}")
        places[target.name] = home
        kernels.append(_copy(lowered, kernels, buffer, target))
    return Housed(lowered, tuple(kernels), places, fresh)


def _copy(lowered: Lowered, kernels: list[Kernel], source: Buffer, target: Buffer) -> Kernel:
    kernel = lowered.lane.copy(f"{lowered.name}.{len(kernels)}.copy", source, target)
    return replace(
        kernel, span=lowered.nodes[source.name].span if source.name in lowered.nodes else None
    )
