"""The plan of a device: launches within its limits, demands with their derivations, entries that kernels share."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from alpha.base.device import DeviceTarget
from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.base.record import replace
from alpha.driver.plan_json import plan_text
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from alpha.kernel.node import Kernel, Scalar, Shared
from alpha.plan.demands import device_demands
from alpha.plan.dispatches import launched, matched
from alpha.plan.entries import distinct, entries
from alpha.plan.make import plan_graphs, retargeted
from alpha.plan.plan import Derivation, Dispatch, Plan
from alpha.plan.verify import PlanFault, verify
from alpha.targets import DEVICES, HOSTS
from alpha.targets.nvidia.spec import SM_86

ORDER = [
    "instruction-set",
    "registers-per-thread",
    "threads-per-block",
    "shared-bytes-per-block",
    "video-memory-bytes",
    "registers-per-block",
]


def a_step() -> Graph:
    """Products and sums, two of them the same but for what they read, and a loop."""
    builder = Builder()
    kind = TensorType(Dtype.F32, (48, 40))
    x, y = builder.input("x", kind), builder.input("y", kind)
    first = builder.apply("mul", (x, y))
    second = builder.apply("mul", (first, y))
    total = builder.apply("sum", (second,), axes=(1,))
    loss = builder.apply("sum", (builder.apply("exp", (total,)),), axes=(0,))
    return builder.graph("step", [("rows", total), ("loss", loss), ("out", second)])


@pytest.fixture(scope="module")
def planned() -> tuple[Plan, tuple[Kernel, ...]]:
    return plan_graphs([a_step()], SM_86)


def leaves(node: Derivation) -> int:
    return sum(map(leaves, node.parts)) if node.parts else node.amount


def dispatches(plan: Plan) -> list[Dispatch]:
    found = [region.dispatch for program in plan.programs for region in program.regions]
    assert all(found)
    return [dispatch for dispatch in found if dispatch is not None]


def with_dispatch(plan: Plan, place: int, dispatch: Dispatch | None) -> Plan:
    (program,) = plan.programs
    regions = list(program.regions)
    regions[place] = replace(regions[place], dispatch=dispatch)
    return replace(plan, programs=(replace(program, regions=tuple(regions)),))


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_demands_are_the_most_any_launch_asks_and_their_leaves_add_up(device: DeviceTarget) -> None:
    plan, _ = plan_graphs([a_step()], device)
    asked = {demand.name: int(demand.amount.value) for demand in plan.demands}
    assert list(asked) == [name for name in ORDER if name in asked]
    launches = dispatches(plan)
    assert asked["instruction-set"] == int(device.name.removeprefix("sm_"))
    assert asked["registers-per-thread"] == max(each.registers for each in launches)
    assert asked["threads-per-block"] == max(each.threads for each in launches)
    assert asked.get("shared-bytes-per-block", 0) == max(each.shared for each in launches)
    assert asked["video-memory-bytes"] == plan.arena
    for demand in plan.demands:
        assert leaves(demand.derivation) == demand.derivation.amount == demand.amount.value


@pytest.mark.parametrize(
    ("target", "where"), [(HOSTS[0], "in memory"), (SM_86, "on the card")], ids=["host", "device"]
)
def test_the_need_of_memory_says_what_all_its_parts_are(
    target: HostTarget | DeviceTarget, where: str
) -> None:
    plan, _ = plan_graphs([a_step()], target)
    (held,) = [demand for demand in plan.demands if demand.name.endswith("memory-bytes")]
    assert held.derivation.text.endswith(f"arena: everything a run keeps {where}")
    texts = [part.text for part in held.derivation.parts]
    assert len(set(texts)) == len(texts) and held.derivation.text not in texts


@pytest.mark.parametrize("target", [HOSTS[0], SM_86], ids=lambda target: target.name)
def test_a_program_that_launches_nothing_holds_what_it_is_given(
    target: HostTarget | DeviceTarget,
) -> None:
    builder = Builder()
    x = builder.input("x", TensorType(Dtype.F32, (10, 10)))
    graph = builder.graph("same", [("y", builder.apply("reshape", (x,), shape=(100,)))])
    plan, kernels = plan_graphs([graph], target)
    assert not kernels
    (held,) = [demand for demand in plan.demands if demand.name.endswith("memory-bytes")]
    assert held.derivation.amount == plan.arena >= 400
    assert leaves(held.derivation) == plan.arena


def test_a_need_of_zero_makes_no_demand(planned: tuple[Plan, tuple[Kernel, ...]]) -> None:
    plan, kernels = planned
    (program,) = plan.programs
    for shared in (0, 16_640):
        regions = tuple(
            replace(region, dispatch=replace(dispatch, shared=shared))
            for region, dispatch in zip(program.regions, dispatches(plan), strict=True)
        )
        programs = [replace(program, regions=regions)]
        found = device_demands(SM_86, plan.arena, plan.buffers, programs, kernels)
        names = {demand.name: demand.amount for demand in found}
        assert ("shared-bytes-per-block" in names) == bool(shared)
        if shared:
            assert names["shared-bytes-per-block"].value == Fraction(shared)
            assert names["shared-bytes-per-block"].unit == (1, 0, 0)


@pytest.mark.parametrize(
    ("registers", "threads", "taken"),
    [(127, 256, 32_768), (1, 33, 512), (8, 32, 256), (9, 32, 512), (64, 1_024, 65_536)],
)
def test_a_block_takes_whole_granules_for_whole_warps(
    registers: int, threads: int, taken: int
) -> None:
    assert SM_86.block_registers(registers, threads) == taken


def test_targets_of_one_lane_share_kernels_and_differ_in_demands() -> None:
    for family in (DEVICES, HOSTS):
        first, second = family
        made = plan_graphs([a_step()], first)
        plan, kernels = retargeted(made, second)
        alone, again = plan_graphs([a_step()], second)
        assert plan == alone
        assert kernels is made[1]
        assert entries(kernels) == entries(again)
        assert plan.demands != made[0].demands


def test_kernels_that_differ_in_places_alone_are_one_entry(
    planned: tuple[Plan, tuple[Kernel, ...]],
) -> None:
    plan, kernels = planned
    names = [dispatch.entry for dispatch in dispatches(plan)]
    products = [
        name for name, kernel in zip(names, kernels, strict=True) if kernel.operation == "mul"
    ]
    assert len(products) == 2 and len(set(products)) == 1
    assert all(re.fullmatch(r"k\d+_[A-Za-z0-9_]+", name) for name in names)
    pairs = distinct(kernels, names)
    assert [name for name, _ in pairs] == list(dict.fromkeys(names))
    assert [name.split("_")[0] for name, _ in pairs] == [f"k{n}" for n in range(len(pairs))]


def test_kernels_that_do_different_things_are_two_entries(
    planned: tuple[Plan, tuple[Kernel, ...]],
) -> None:
    kernel = planned[1][0]
    grid = kernel.grid
    assert grid is not None
    others = [
        replace(kernel, grid=replace(grid, blocks=grid.blocks + 1)),
        replace(kernel, grid=replace(grid, registers=grid.registers + 8)),
        replace(kernel, grid=replace(grid, shared=(Shared("s", Scalar.F32, 4),))),
        replace(kernel, body=kernel.body[:-1]),
    ]
    assert len(set(entries([kernel, *others]))) == 1 + len(others)
    assert len(set(entries([kernel, replace(kernel, symbol="other", work=1)]))) == 1


WRONG = {
    "no dispatch": lambda _: None,
    "no block": lambda d: replace(d, blocks=0),
    "too many blocks": lambda d: replace(d, blocks=1 << 31),
    "threads of no warp": lambda d: replace(d, threads=d.threads + 1),
    "too many threads": lambda d: replace(d, threads=1_056),
    "too many registers": lambda d: replace(d, registers=256),
    "too many shared bytes": lambda d: replace(d, shared=48 * 1_024 + 1),
}
OTHER = {
    "other blocks": lambda d: replace(d, blocks=d.blocks + 1),
    "an operand less": lambda d: replace(d, operands=d.operands[:-1]),
    "an operand elsewhere": lambda d: replace(
        d, operands=(replace(d.operands[0], offset=d.operands[0].offset + 64), *d.operands[1:])
    ),
    "a longer operand": lambda d: replace(
        d, operands=(replace(d.operands[0], bytes=d.operands[0].bytes + 4), *d.operands[1:])
    ),
    "a written operand": lambda d: replace(
        d, operands=(replace(d.operands[0], written=True), *d.operands[1:])
    ),
    "a row": lambda d: replace(
        d, operands=(replace(d.operands[0], rows=((0, 64),)), *d.operands[1:])
    ),
    "accumulates": lambda d: replace(d, accumulates=not d.accumulates),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_launch_beyond_the_limits_is_refused(
    planned: tuple[Plan, tuple[Kernel, ...]], name: str
) -> None:
    plan, _ = planned
    assert list(launched(plan)) == []
    wrong = with_dispatch(plan, 0, WRONG[name](dispatches(plan)[0]))
    with pytest.raises(PlanFault, match="breaks the law `launched`"):
        verify(wrong)


@pytest.mark.parametrize("name", OTHER)
def test_a_launch_of_something_else_than_its_kernel_is_refused(
    planned: tuple[Plan, tuple[Kernel, ...]], name: str
) -> None:
    plan, kernels = planned
    assert list(matched(plan, kernels)) == []
    last = len(kernels) - 1
    wrong = with_dispatch(plan, last, OTHER[name](dispatches(plan)[last]))
    assert list(matched(wrong, kernels)) != []


def test_a_host_launches_nothing_as_a_device_does() -> None:
    plan, _ = plan_graphs([a_step()], HOSTS[0])
    device, _ = plan_graphs([a_step()], SM_86)
    wrong = with_dispatch(plan, 0, dispatches(device)[0])
    with pytest.raises(PlanFault, match="breaks the law `launched`"):
        verify(wrong)


def test_the_plan_as_json_says_all_that_a_launch_needs(
    planned: tuple[Plan, tuple[Kernel, ...]],
) -> None:
    plan, _ = planned
    document = json.loads(plan_text(plan))
    assert (document["schema"], document["device"]) == ("alpha.plan/1", "sm_86")
    (program,) = document["programs"]
    for written, dispatch in zip(program["regions"], dispatches(plan), strict=True):
        assert written["entry"] == dispatch.entry
        shape = dispatch.blocks, dispatch.threads, dispatch.registers, dispatch.shared
        assert tuple(written[key] for key in ("blocks", "threads", "registers", "shared")) == shape
        operands = [
            (each["offset"], each["bytes"], each["written"]) for each in written["operands"]
        ]
        assert operands == [(each.offset, each.bytes, each.written) for each in dispatch.operands]
    kinds = {port["name"]: port["type"] for port in (*program["inputs"], *program["outputs"])}
    assert kinds == {
        "x": "f32[48, 40]",
        "y": "f32[48, 40]",
        "rows": "f32[48]",
        "loss": "f32[]",
        "out": "f32[48, 40]",
    }
