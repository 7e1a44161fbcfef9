"""The arena is exact: live buffers are disjoint, outputs end in their homes, and the leaves of a demand add up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import replace
from alpha.base.span import Source, Span
from alpha.codegen.llvm import kernels_ir
from alpha.core.term import Amount
from alpha.evaluate.system import Checkpoint, CsvLayout, Data, DataFile, Report, System, Tensor
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Node
from alpha.graph.text import to_text
from alpha.kernel.direct import site
from alpha.kernel.node import Kernel
from alpha.kernel.text import to_text as to_lines
from alpha.plan import arena
from alpha.plan.arena import placed, rounded
from alpha.plan.liveness import Range
from alpha.plan.make import make_plan, plan_graphs
from alpha.plan.plan import Buffer, Derivation, Plan
from alpha.plan.verify import PlanFault, verify
from alpha.targets import HOSTS
from kernel_runner import Runner, from_memory, to_memory
from laws.graphs import same_bits
from semantics.evaluate import evaluate
from semantics.graph import read_graph

SPAN = Span(Source("Test.alpha", "test\n"), 0, 4)
MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
Array = Any


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


def system_of(
    graphs: Sequence[Graph],
    parameters: Mapping[str, TensorType],
    slots: Mapping[str, TensorType] | None = None,
) -> System:
    return System(
        name="Test.baseline",
        parameters=tuple(Tensor(name, type_, SPAN) for name, type_ in parameters.items()),
        slots=tuple(Tensor(name, type_, SPAN) for name, type_ in (slots or {}).items()),
        batch_fields=(),
        metrics=(),
        keyed=False,
        predict_input=None,
        predict_output=None,
        graphs=tuple(graphs),
        data=Data("csv", (DataFile("data.csv", "", 0),), 0, 0, (), CsvLayout(False, ())),
        weights=None,
        batch=1,
        steps=1,
        seed=0,
        hold_out=0,
        shuffle="InOrder",
        bundle=False,
        evaluate_every=1,
        checkpoint=Checkpoint(1, 1, "runs"),
        report=Report(1, (), ()),
        stop=(),
        may_move=(),
        policy_text="",
        learner_text="",
        data_text="",
        span=SPAN,
    )


# The arena.


@st.composite
def live_ranges(draw: Any) -> list[Range]:
    found = []
    for number in range(draw(st.integers(0, 25))):
        first, last = sorted(draw(st.tuples(st.integers(0, 12), st.integers(0, 12))))
        size = draw(st.integers(1, 500))
        found.append(Range(f"b{number}", TensorType(Dtype.U8, (size,)), first, last, None))
    return found


def as_buffers(ranges: Sequence[Range], offsets: Mapping[str, int]) -> list[Buffer]:
    return [
        Buffer(r.name, r.type, offsets[r.name], r.type.bytes, "step", r.first, r.last, None)
        for r in ranges
    ]


def arena_of(buffers: Sequence[Buffer], size: int) -> Plan:
    """A plan that is nothing but its buffers."""
    return Plan(size, 0, tuple(buffers), (), ())


@settings(MANY, max_examples=80)
@given(live_ranges(), st.integers(0, 5))
def test_buffers_that_live_at_once_share_no_byte(ranges: list[Range], base: int) -> None:
    offsets = placed(ranges, base * 64)
    buffers = as_buffers(ranges, offsets)
    used: dict[tuple[int, int], str] = {}
    for buffer in buffers:
        assert buffer.offset % 64 == 0
        assert buffer.offset >= base * 64
        lines = range(buffer.offset // 64, rounded(buffer.offset + buffer.bytes) // 64)
        for launch in range(buffer.first, buffer.last + 1):
            for line in lines:
                assert used.setdefault((launch, line), buffer.name) == buffer.name
    verify(arena_of(buffers, max((b.offset + rounded(b.bytes) for b in buffers), default=0)))


@settings(MANY, max_examples=80)
@given(live_ranges(), st.data())
def test_the_check_finds_what_a_moved_buffer_breaks(ranges: list[Range], data: Any) -> None:
    """`verify` refuses exactly what a count of bytes, launch by launch, refuses."""
    if not ranges:
        return
    offsets = placed(ranges, 0)
    moved = data.draw(st.sampled_from([item.name for item in ranges]))
    offsets[moved] = 64 * data.draw(st.integers(0, 20))
    buffers = as_buffers(ranges, offsets)
    shares = any(
        a.first <= b.last
        and b.first <= a.last
        and a.offset < b.offset + b.bytes
        and b.offset < a.offset + a.bytes
        for place, a in enumerate(buffers)
        for b in buffers[:place]
    )
    if shares:
        with pytest.raises(PlanFault):
            verify(arena_of(buffers, 1 << 40))
    else:
        verify(arena_of(buffers, 1 << 40))


def test_ranges_that_follow_each_other_share_their_place() -> None:
    type_ = TensorType(Dtype.F32, (100,))
    chain = [Range(f"b{k}", type_, k, k + 1, None) for k in range(10)]
    offsets = placed(chain, 0)
    assert set(offsets.values()) == {0, rounded(type_.bytes)}


@pytest.mark.parametrize(("offset", "size"), [(32, 64), (-64, 64), (64, 128)])
def test_misplaced_buffers_are_refused(offset: int, size: int) -> None:
    type_ = TensorType(Dtype.U8, (size,))
    with pytest.raises(PlanFault):
        verify(arena_of([Buffer("b", type_, offset, size, "step", 0, 0, None)], 128))


# Homes: a step run in the arena leaves the state the reference computes.

SHAPE = (5, 7)
NAMES = ("a", "b", "c")
KIND = TensorType(Dtype.F32, SHAPE)


def run_plan(
    runner: Runner, plan: Plan, kernels: Sequence[Kernel], program: str, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """The outputs of a program whose inputs lie where its plan says."""
    steps = plan.program(program)
    memory = bytearray(b"\xa5" * plan.arena)
    for name, offset in steps.inputs:
        data = to_memory(Dtype.F32, inputs[name])
        memory[offset : offset + len(data)] = data
    symbols = [region.symbol for region in steps.regions]
    chosen = [kernel for kernel in kernels if kernel.symbol in symbols]
    after = runner.call(kernels_ir(chosen, HOSTS[0]), chosen, bytes(memory), 2)
    found: dict[str, Array] = {}
    for name, offset in steps.outputs:
        type_ = KIND if name.startswith("net.") else TensorType(Dtype.F32, ())
        found[name] = from_memory(type_, after[offset : offset + type_.bytes])
    return found


@st.composite
def steps(draw: Any) -> Graph:
    """New state from old by sums, products, transposed copies, swaps, and values that stay."""
    builder = Builder()
    inputs = [builder.input(f"net.{name}", KIND) for name in NAMES]
    nodes: list[Node] = list(inputs)
    for _ in range(draw(st.integers(0, 6))):
        a, b = (draw(st.sampled_from(nodes)) for _ in range(2))
        match draw(st.sampled_from(["add", "mul", "move", "flat", "row", "number"])):
            case "move":
                turned = builder.apply("transpose", (a,), order=(1, 0))
                flat = builder.apply("reshape", (turned,), shape=(35,))
                nodes.append(builder.apply("reshape", (flat,), shape=SHAPE))
            case "flat":
                flat = builder.apply("reshape", (a,), shape=(35,))
                nodes.append(builder.apply("reshape", (flat,), shape=SHAPE))
            case "row":
                row = builder.apply("sum", (a,), axes=(0,))
                nodes.append(builder.apply("add", (builder.broadcast(row, SHAPE), b)))
            case "number":
                number = builder.constant(2.5, Dtype.F32)
                nodes.append(builder.broadcast(number, SHAPE))
            case operation:
                nodes.append(builder.apply(operation, (a, b)))
    outputs = [(f"net.{name}", draw(st.sampled_from(nodes))) for name in NAMES]
    loss = builder.apply("sum", (draw(st.sampled_from(nodes)),), axes=(0, 1))
    return builder.graph("step", [*outputs, ("loss", loss)])


@pytest.mark.slow
@settings(MANY, max_examples=50)
@given(graph=steps(), seed=st.integers(0, 99))
def test_a_step_leaves_the_new_state_in_place_of_the_old(
    runner: Runner, graph: Graph, seed: int
) -> None:
    values = numpy.random.default_rng(seed)
    inputs = {f"net.{name}": values.normal(0, 1, SHAPE).astype(numpy.float32) for name in NAMES}
    system = system_of([graph], dict.fromkeys(NAMES, KIND))
    plan, kernels = make_plan(system, HOSTS[0])
    expected = evaluate(read_graph(to_text(graph)), inputs)
    found = run_plan(runner, plan, kernels, "step", inputs)
    for name, value in expected.items():
        assert same_bits(numpy.asarray(value), found[name]), (name, to_text(graph))
    homes = {buffer.name: buffer.offset for buffer in plan.buffers if not buffer.program}
    for name, offset in plan.program("step").outputs:
        assert offset == homes[f"step.{name}" if name == "loss" else name]


def test_parts_write_their_own_bytes_in_a_planned_step(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site, "PARALLEL_WORK", 1)
    builder = Builder()
    a, b, c = (builder.input(f"net.{name}", KIND) for name in NAMES)
    product = builder.apply("mul", (a, b))
    graph = builder.graph("step", [("net.a", product), ("net.b", c), ("net.c", b)])
    inputs = {
        f"net.{name}": numpy.full(SHAPE, k + 2, numpy.float32) for k, name in enumerate(NAMES)
    }
    plan, kernels = make_plan(system_of([graph], dict.fromkeys(NAMES, KIND)), HOSTS[0])
    found = run_plan(runner, plan, kernels, "step", inputs)
    assert [float(found[f"net.{name}"][0, 0]) for name in NAMES] == [6.0, 4.0, 3.0]


def test_an_update_writes_into_the_state_without_a_copy() -> None:
    builder = Builder()
    a = builder.input("net.a", KIND)
    doubled = builder.apply("add", (a, a))
    graph = builder.graph("step", [("net.a", doubled)])
    plan, _ = make_plan(system_of([graph], {"a": KIND}), HOSTS[0])
    assert [region.symbol for region in plan.program("step").regions] == ["step.0.add"]
    assert plan.arena == plan.state == rounded(KIND.bytes)


def test_a_later_reader_of_the_old_value_forces_a_copy() -> None:
    builder = Builder()
    a = builder.input("net.a", KIND)
    doubled = builder.apply("add", (a, a))
    total = builder.apply("sum", (builder.apply("mul", (doubled, a)),), axes=(0, 1))
    graph = builder.graph("step", [("net.a", doubled), ("loss", total)])
    plan, _ = make_plan(system_of([graph], {"a": KIND}), HOSTS[0])
    operations = [region.symbol.rsplit(".", 1)[1] for region in plan.program("step").regions]
    assert operations == ["add", "mul", "sum", "copy"]


# The layout and the demands.


def small_system() -> System:
    builder = Builder()
    a = builder.input("net.a", KIND)
    m = builder.input("slots.m.a", KIND)
    rate = builder.input("rate", TensorType(Dtype.F32, ()))
    x = builder.input("batch.x", KIND, SPAN)
    gradient = builder.apply("mul", (a, x))
    moved = builder.apply("add", (m, gradient))
    scaled = builder.apply("mul", (builder.broadcast(rate, SHAPE), moved))
    after = builder.apply("sub", (a, scaled))
    loss = builder.apply("sum", (gradient,), axes=(0, 1))
    step = builder.graph("step", [("net.a", after), ("slots.m.a", moved), ("loss", loss)])
    of_step = Builder()
    number = of_step.input("step", TensorType(Dtype.U32, ()))
    rates = of_step.graph("rate", [("rate", of_step.apply("cast", (number,), dtype=Dtype.F32))])
    return system_of([rates, step], {"a": KIND}, {"m.a": KIND})


def test_the_state_comes_first_in_checkpoint_order() -> None:
    plan, _ = make_plan(small_system(), HOSTS[0])
    lasting = [buffer for buffer in plan.buffers if not buffer.program]
    assert [buffer.name for buffer in lasting] == [
        "net.a",
        "slots.m.a",
        "step",
        "rate",
        "batch.x",
        "step.loss",
    ]
    assert [buffer.offset for buffer in lasting[:3]] == [0, 192, 384]
    assert dict(plan.program("rate").outputs)["rate"] == dict(plan.program("step").inputs)["rate"]


def leaves(node: Derivation) -> int:
    return sum(map(leaves, node.parts)) if node.parts else node.amount


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_demands_stand_in_their_order_and_their_leaves_add_up(host: Any) -> None:
    plan, _ = make_plan(small_system(), host)
    names = [demand.name for demand in plan.demands]
    assert names == ["instruction-set", "cpu-level", "memory-bytes", "address-width"]
    for demand in plan.demands:
        assert leaves(demand.derivation) == demand.derivation.amount == demand.amount.value


def test_a_derivation_whose_parts_do_not_add_up_is_refused() -> None:
    plan, _ = make_plan(small_system(), HOSTS[0])
    memory = plan.demands[2]
    first, *rest = memory.derivation.parts
    wrong = replace(memory.derivation, parts=(replace(first, amount=first.amount - 1), *rest))
    for demand in (replace(memory, derivation=wrong), replace(memory, amount=Amount(Fraction(1)))):
        with pytest.raises(PlanFault, match="adds"):
            verify(replace(plan, demands=(demand,)))
    assert plan.demands[2].amount.value == plan.arena


def test_a_program_that_launches_nothing_has_a_plan() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(Dtype.F32, (2, 3)))
    graph = builder.graph("g", [("y", builder.apply("reshape", (x,), shape=(3, 2)))])
    plan, kernels = plan_graphs([graph], HOSTS[0])
    assert (plan.arena, len(kernels)) == (64, 0)
    verify(plan, kernels)


def test_equal_systems_have_equal_plans() -> None:
    plan, kernels = make_plan(small_system(), HOSTS[0])
    again, same = make_plan(small_system(), HOSTS[0])
    assert plan == again
    assert [to_lines(kernel) for kernel in kernels] == [to_lines(kernel) for kernel in same]


def test_the_peak_is_that_of_the_largest_program() -> None:
    plan, _ = make_plan(small_system(), HOSTS[0])
    ends = [b.offset + rounded(b.bytes) for b in plan.buffers]
    assert plan.arena == max(ends)
    assert arena.ALIGNMENT == 64


def test_a_kernel_without_a_place_is_not_emitted() -> None:
    _, kernels = make_plan(small_system(), HOSTS[0])
    lost = replace(kernels[0], buffers=tuple(replace(b, offset=None) for b in kernels[0].buffers))
    with pytest.raises(ValueError, match="no place"):
        kernels_ir([lost], HOSTS[0])
