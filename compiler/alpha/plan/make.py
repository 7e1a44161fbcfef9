"""The plan of a system on a host or a device: graphs to kernels, kernels to places, places to demands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from alpha.base.device import DeviceTarget, Target
from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record, replace
from alpha.base.span import Span
from alpha.evaluate.system import System, Tensor
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.kernel.lower import Lowered, lower
from alpha.kernel.node import Buffer as Part
from alpha.kernel.node import Kernel
from alpha.plan.arena import placed, rounded
from alpha.plan.demands import demands, device_demands
from alpha.plan.entries import entries
from alpha.plan.homes import housed
from alpha.plan.liveness import ranges
from alpha.plan.plan import (
    Buffer,
    Dispatch,
    Loop,
    Operand,
    Plan,
    ProgramPlan,
    Region,
    Result,
)
from alpha.plan.verify import verify

SHARED = ("step", "rate", "key")
"""Numbers that the host writes; `rate` is also what the program of that name gives."""


@record
class _Lasting:
    """A buffer that lives through all programs."""

    name: str
    type: TensorType
    span: Span | None


Planned = tuple[Plan, tuple[Kernel, ...]]
"""A plan, and the kernels of all its regions in their order, with their places."""


def make_plan(system: System, target: Target) -> Planned:
    """The plan of a system: its graphs, with its parameters and slots as the state."""
    return plan_graphs(system.graphs, target, system.parameters, system.slots)


def plan_optimised(system: System, graphs: Sequence[Graph], target: Target) -> Planned:
    """As `make_plan`, where the graphs of the system have been through the passes already."""
    return _planned(graphs, target, system.parameters, system.slots)


def retargeted(made: Planned, target: Target) -> Planned:
    """The plan for another target of the same lane: the same kernels in the same places, with its demands."""
    plan, kernels = made
    assert isinstance(target, DeviceTarget) == (plan.device is not None)
    parts = plan.arena, plan.buffers, plan.programs, kernels
    if isinstance(target, DeviceTarget):
        plan = replace(plan, demands=device_demands(target, *parts), device=target)
    else:
        plan = replace(plan, demands=demands(target, *parts))
    verify(plan, kernels)
    return plan, kernels


def plan_graphs(
    graphs: Sequence[Graph],
    target: Target,
    parameters: Sequence[Tensor] = (),
    slots: Sequence[Tensor] = (),
) -> Planned:
    """Every buffer, launch and demand of graphs that share an arena, and the kernels with their places.

    The arena holds the parameters and slots in checkpoint order, each tensor at a multiple of 64 bytes, then the batch,
    then the numbers that the host and the programs exchange, then the workspace. On a device it is the same, in the
    memory of the card. Raises Refused with T0404 for an operation that the lane of the target has no template for.
    """
    return _planned([optimise(graph) for graph in graphs], target, parameters, slots)


def _planned(
    graphs: Sequence[Graph],
    target: Target,
    parameters: Sequence[Tensor],
    slots: Sequence[Tensor],
) -> Planned:
    lowered = [_lowered(graph, target) for graph in graphs]
    lasting = list(_lasting(parameters, slots, lowered))
    buffers: list[Buffer] = []
    offsets: dict[str, int] = {}
    base = 0
    for item in lasting:
        offsets[item.name] = base
        buffers.append(Buffer(item.name, item.type, base, item.type.bytes, "", 0, 0, item.span))
        base += rounded(item.type.bytes)
    kernels: list[Kernel] = []
    programs: list[ProgramPlan] = []
    for program in lowered:
        houses = housed(program, _homes(program, offsets))
        places = {name: offsets[home] for name, home in houses.places.items()}
        found = ranges(houses)
        places |= placed(found, base)
        buffers.extend(
            Buffer(
                item.name,
                item.type,
                places[item.name],
                item.type.bytes,
                program.name,
                item.first,
                item.last,
                item.span,
            )
            for item in found
        )
        made = [_at(kernel, places) for kernel in houses.kernels]
        kernels += made
        regions = tuple(_region(kernel, base) for kernel in made)
        programs.append(_program(program, regions, places, offsets))
    arena = max([base, *(buffer.offset + rounded(buffer.bytes) for buffer in buffers)])
    if isinstance(target, DeviceTarget):
        programs = _dispatched(programs, kernels)
        needs = device_demands(target, arena, buffers, programs, kernels)
        plan = Plan(arena, base, tuple(buffers), tuple(programs), needs, target)
    else:
        needs = demands(target, arena, buffers, programs, kernels)
        plan = Plan(arena, base, tuple(buffers), tuple(programs), needs)
    verify(plan, kernels)
    return plan, tuple(kernels)


def _lowered(graph: Graph, target: Target) -> Lowered:
    if isinstance(target, DeviceTarget):
        from alpha.kernel.device import DEVICE

        return lower(graph, DEVICE)
    return lower(graph)


def _lasting(
    parameters: Sequence[Tensor], slots: Sequence[Tensor], lowered: Sequence[Lowered]
) -> Iterable[_Lasting]:
    """State in checkpoint order, then the batch, then numbers: each name once."""
    known = {name for program in lowered for name, _ in (*program.inputs, *program.outputs)}

    def full(prefix: str, name: str) -> str:
        """The name under which the programs know a tensor of the system."""
        return name if name in known else f"{prefix}.{name}"

    for tensor in parameters:
        yield _Lasting(full("net", tensor.name), tensor.type, tensor.span)
    for tensor in slots:
        yield _Lasting(full("slots", tensor.name), tensor.type, tensor.span)
    seen: set[str] = set()
    inputs = [(name, program) for program in lowered for name, _ in program.inputs]
    for name, program in inputs:
        if (name.startswith("batch.") or name in SHARED) and name not in seen:
            seen.add(name)
            node = program.nodes[name]
            yield _Lasting(name, node.type, node.span)
    for program in lowered:
        for name, buffer in program.outputs:
            home = _number(program.name, name)
            if home is not None and home not in seen:
                seen.add(home)
                node = program.nodes[buffer.name]
                yield _Lasting(home, node.type, node.span)


def _number(program: str, output: str) -> str | None:
    """The home of a number that the host reads when the program is done."""
    if output == "rate":
        return "rate"
    if output == "loss" or output.startswith("metric."):
        return f"{program}.{output}"
    return None


def _homes(program: Lowered, offsets: Mapping[str, int]) -> dict[str, str]:
    homes = {name: name for name, _ in program.inputs if name in offsets}
    for name, _ in program.outputs:
        home = _number(program.name, name) or name
        if home in offsets:
            homes[name] = home
    return homes


def _at(kernel: Kernel, places: Mapping[str, int]) -> Kernel:
    """The kernel with the offset of each of its buffers."""
    return replace(kernel, buffers=tuple(_placed(buffer, places) for buffer in kernel.buffers))


def _placed(buffer: Part, places: Mapping[str, int]) -> Part:
    rows = tuple(replace(row, offset=places[row.cell]) for row in buffer.rows)
    return replace(buffer, offset=places[buffer.name], rows=rows)


def _program(
    program: Lowered,
    regions: tuple[Region, ...],
    places: Mapping[str, int],
    homes: Mapping[str, int],
) -> ProgramPlan:
    ends = _homes(program, homes)
    return ProgramPlan(
        program.name,
        regions,
        tuple((name, places[buffer.name]) for name, buffer in program.inputs),
        tuple(
            (name, homes[ends[name]] if name in ends else places[buffer.name])
            for name, buffer in program.outputs
        ),
        tuple(
            Loop(item.first, item.last, item.count, item.backward, places[item.cell], item.span)
            for item in program.loops
        ),
    )


def _dispatched(programs: Sequence[ProgramPlan], kernels: Sequence[Kernel]) -> list[ProgramPlan]:
    """The programs with what launches their kernels, which stand in the order of all regions."""
    following = iter(zip(kernels, entries(kernels), strict=True))
    return [
        replace(
            program,
            regions=tuple(
                replace(region, dispatch=_dispatch(*next(following))) for region in program.regions
            ),
        )
        for program in programs
    ]


def _dispatch(kernel: Kernel, entry: str) -> Dispatch:
    grid = kernel.grid
    assert grid is not None, f"`{kernel.symbol}` is for a host"
    operands = tuple(
        Operand(
            buffer.offset or 0,
            buffer.bytes,
            number in kernel.written,
            tuple((row.offset or 0, row.stride * buffer.scalar.size) for row in buffer.rows),
        )
        for number, buffer in enumerate(kernel.buffers)
    )
    return Dispatch(
        entry,
        grid.blocks,
        grid.threads,
        grid.registers,
        grid.shared_bytes,
        operands,
        kernel.accumulates,
    )


def _region(kernel: Kernel, workspace: int) -> Region:
    """What is written below the workspace is looked at with the state, by whoever looks at results."""
    results = tuple(
        Result(
            Dtype(buffer.scalar.value),
            buffer.offset,
            buffer.count,
            tuple(
                (row.offset, row.stride * buffer.scalar.size)
                for row in buffer.rows
                if row.offset is not None
            ),
        )
        for buffer in kernel.writes
        if buffer.offset is not None and buffer.offset >= workspace
    )
    return Region(kernel.symbol, kernel.parallel, kernel.span, results)
