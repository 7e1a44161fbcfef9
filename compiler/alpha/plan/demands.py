"""What a build demands of its machine or card, each amount derived down to the source (specification, section 20)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from alpha.base.device import DeviceTarget
from alpha.base.dtype import TensorType
from alpha.base.host import HostTarget
from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.kernel.node import Kernel
from alpha.plan.arena import rounded
from alpha.plan.liveness import live_bytes
from alpha.plan.plan import Buffer, Demand, Derivation, Dispatch, ProgramPlan, Region

BYTES = (1, 0, 0)
ADDRESS_WIDTH = 64
GROUPS = (("net.", "parameters"), ("slots.", "optimizer slots"), ("batch.", "one batch"))


def demands(
    host: HostTarget,
    arena: int,
    buffers: Sequence[Buffer],
    programs: Sequence[ProgramPlan],
    kernels: Sequence[Kernel],
) -> tuple[Demand, ...]:
    """In the fixed order: instruction-set, cpu-level, memory-bytes, address-width."""
    whole = "the arena: everything a run keeps in memory"
    memory = _memory(whole, arena, buffers, programs, kernels)
    return (
        _demand("instruction-set", "Feature", "Exactly", host.machine, f"code for {host.name}"),
        _demand("cpu-level", "Feature", "AtLeast", host.cpu_level, f"code for {host.cpu}"),
        Demand("memory-bytes", "Resource", "AtLeast", Amount(Fraction(arena), BYTES), memory),
        _demand("address-width", "Abi", "Exactly", ADDRESS_WIDTH, f"code for {host.name}"),
    )


def device_demands(
    device: DeviceTarget,
    arena: int,
    buffers: Sequence[Buffer],
    programs: Sequence[ProgramPlan],
    kernels: Sequence[Kernel],
) -> tuple[Demand, ...]:
    """In the fixed order: instruction-set, registers-per-thread, threads-per-block, shared-bytes-per-block,
    video-memory-bytes, registers-per-block. A need of zero makes no demand."""
    largest = _Largest(programs)
    whole = "the device arena: everything a run keeps on the card"
    memory = _memory(whole, arena, buffers, programs, kernels)
    found = (
        _demand(
            "instruction-set",
            "Feature",
            "Exactly",
            device.instruction_set,
            f"code for {device.name}",
        ),
        largest.demand("registers-per-thread", lambda launch: launch.registers),
        largest.demand("threads-per-block", lambda launch: launch.threads),
        largest.demand("shared-bytes-per-block", lambda launch: launch.shared, BYTES),
        Demand("video-memory-bytes", "Resource", "AtLeast", Amount(Fraction(arena), BYTES), memory),
        largest.demand(
            "registers-per-block",
            lambda launch: device.block_registers(launch.registers, launch.threads),
        ),
    )
    return tuple(demand for demand in found if demand.amount.value)


class _Largest:
    """Finds the launch that asks most of something: the first of them, programs in plan order."""

    def __init__(self, programs: Sequence[ProgramPlan]) -> None:
        self._launches = list(_launches(programs))

    def demand(
        self, name: str, asked: Callable[[Dispatch], int], unit: tuple[int, int, int] = (0, 0, 0)
    ) -> Demand:
        """A Resource of a block. Its derivation is that launch, at the line it comes from."""
        amount, text, span = 0, "no launch asks for any", None
        for program, place, region, launch in self._launches:
            if asked(launch) > amount:
                amount, span = asked(launch), region.span
                text = f"launch {place} of `{program}`: {launch.entry}"
        derivation = Derivation(text, amount, span)
        return Demand(name, "Resource", "AtLeast", Amount(Fraction(amount), unit), derivation)


def _launches(programs: Sequence[ProgramPlan]) -> Iterator[tuple[str, int, Region, Dispatch]]:
    for program in programs:
        for place, region in enumerate(program.regions):
            if region.dispatch is not None:
                yield program.name, place, region, region.dispatch


def _demand(name: str, kind: str, bound: str, amount: int, text: str) -> Demand:
    return Demand(name, kind, bound, Amount(Fraction(amount)), Derivation(text, amount))


def _memory(
    whole: str,
    arena: int,
    buffers: Sequence[Buffer],
    programs: Sequence[ProgramPlan],
    kernels: Sequence[Kernel],
) -> Derivation:
    lasting = [buffer for buffer in buffers if not buffer.program]
    parts: list[Derivation] = []
    rest = list(lasting)
    for prefix, what in GROUPS:
        group = [buffer for buffer in rest if buffer.name.startswith(prefix)]
        rest = [buffer for buffer in rest if not buffer.name.startswith(prefix)]
        parts.extend(_group(what, group))
    parts.extend(_group("numbers between host and programs", rest))
    held = sum(part.amount for part in parts)
    workspace = arena - held
    if workspace:
        parts.append(_workspace(workspace, buffers, programs, kernels))
    return Derivation(whole, arena, parts=tuple(parts))


def _group(text: str, buffers: Sequence[Buffer]) -> list[Derivation]:
    """One group of lasting buffers with its leaves; that places are aligned costs a leaf."""
    if not buffers:
        return []
    leaves = [_leaf(buffer) for buffer in buffers]
    return [_sum(text, leaves, sum(rounded(buffer.bytes) for buffer in buffers))]


def _workspace(
    amount: int,
    buffers: Sequence[Buffer],
    programs: Sequence[ProgramPlan],
    kernels: Sequence[Kernel],
) -> Derivation:
    """The program that reaches highest, at the launch with the most live bytes."""
    own = [buffer for buffer in buffers if buffer.program]
    top = max(own, key=lambda buffer: buffer.offset + buffer.bytes).program
    program = next(item for item in programs if item.name == top)
    mine = [buffer for buffer in own if buffer.program == top]
    if not program.regions:
        return _sum(f"workspace of `{top}`, which launches nothing", list(map(_leaf, mine)), amount)
    amounts = live_bytes(mine, len(program.regions))
    peak = amounts.index(max(amounts))
    live = [buffer for buffer in mine if buffer.first <= peak <= buffer.last]
    region = program.regions[peak]
    operation = next(item.operation for item in kernels if item.symbol == region.symbol)
    leaves = [_leaf(buffer) for buffer in sorted(live, key=lambda item: item.offset)]
    text = f"workspace at its peak: launch {peak} of `{top}`, {operation}"
    return _sum(text, leaves, amount, region.span)


def _sum(text: str, leaves: list[Derivation], amount: int, span: Span | None = None) -> Derivation:
    unused = amount - sum(leaf.amount for leaf in leaves)
    if unused:
        leaves = [*leaves, Derivation("alignment and gaps", unused)]
    return Derivation(text, amount, span, tuple(leaves))


def _leaf(buffer: Buffer) -> Derivation:
    return Derivation(f"{buffer.name}: {_product(buffer.type)}", buffer.bytes, buffer.span)


def _product(type_: TensorType) -> str:
    """`64 x 32 x 4 B`."""
    return " x ".join([*(f"{size:,}" for size in type_.shape), f"{type_.dtype.size} B"])
