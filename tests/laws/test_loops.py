"""A rolled loop gives the bits of its turns one after the other, and its code does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import replace
from alpha.codegen.llvm import kernels_ir
from alpha.diagnostics.diagnostic import Refused
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Loop, Node
from alpha.graph.text import to_text
from alpha.kernel.direct import site
from alpha.kernel.errors import KernelFault
from alpha.kernel.lower import Lowered, lower
from alpha.kernel.node import Kernel, Row
from alpha.kernel.verify import verify as verify_kernel
from alpha.plan import make
from alpha.plan.launches import launches
from alpha.plan.make import make_plan
from alpha.plan.plan import Loop as Turns
from alpha.plan.plan import Plan
from alpha.plan.text import kernels_text
from alpha.plan.verify import PlanFault, verify
from alpha.targets import HOSTS
from kernel_runner import Runner, from_memory, to_memory
from laws.graphs import inputs_of, same_bits
from laws.loop_graphs import KIND, loop_graphs, loop_steps
from laws.rolled import looped, written_out
from laws.test_plan import system_of
from semantics.evaluate import evaluate
from semantics.graph import read_graph

MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
NAMES = ("a", "b", "c")
Array = Any


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


def expected_of(graph: Graph, inputs: dict[str, Array]) -> dict[str, Array]:
    return evaluate(read_graph(to_text(written_out(graph))), inputs)


@pytest.mark.slow
@settings(MANY, max_examples=25)
@given(graph=loop_graphs(), seed=st.integers(0, 99), parts=st.sampled_from([1, 3]))
def test_turns_give_the_bits_of_the_turns_written_out(
    runner: Runner, graph: Graph, seed: int, parts: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "PARALLEL_WORK", 1 if parts > 1 else site.PARALLEL_WORK)
        lowered = lower(graph)
    inputs = inputs_of(graph, seed)
    expected = expected_of(graph, inputs)
    found = runner.run_lowered(lowered, inputs, parts)
    for name, node in graph.outputs:
        value = found[name].reshape(node.type.shape)
        assert same_bits(numpy.asarray(expected[name]), value), name


@pytest.mark.slow
@settings(MANY, max_examples=15)
@given(graph=looped(), seed=st.integers(0, 99))
def test_optimised_loops_of_all_operations_give_the_reference(
    runner: Runner, graph: Graph, seed: int
) -> None:
    inputs = inputs_of(graph, seed, specials=True)
    expected = evaluate(read_graph(to_text(graph)), inputs)
    found = runner.run(graph, inputs)
    for name, value in expected.items():
        assert same_bits(numpy.asarray(value), found[name]), name


def planned(graph: Graph) -> tuple[Plan, Sequence[Kernel]]:
    """The plan of a step as it stands: no pass takes anything out of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make, "optimise", lambda graph: graph)
        return make_plan(system_of([graph], dict.fromkeys(NAMES, KIND)), HOSTS[0])


@pytest.mark.slow
@settings(MANY, max_examples=20)
@given(graph=loop_steps(NAMES), seed=st.integers(0, 99))
def test_a_planned_step_with_loops_leaves_the_new_state_in_place_of_the_old(
    runner: Runner, graph: Graph, seed: int
) -> None:
    values = numpy.random.default_rng(seed)
    inputs = {
        f"net.{name}": values.normal(0, 1, KIND.shape).astype(numpy.float32) for name in NAMES
    }
    plan, kernels = planned(graph)
    program = plan.program("step")
    memory = bytearray(b"\xa5" * plan.arena)
    for name, offset in program.inputs:
        data = to_memory(Dtype.F32, inputs[name])
        memory[offset : offset + len(data)] = data
    code = kernels_ir(kernels, HOSTS[0])
    after = runner.call(code, kernels, bytes(memory), 2, program.loops)
    expected = expected_of(graph, inputs)
    types = {name: node.type for name, node in graph.outputs}
    for name, offset in program.outputs:
        data = after[offset : offset + types[name].bytes]
        assert same_bits(numpy.asarray(expected[name]), from_memory(types[name], data)), name


# What one loop becomes.


def accumulated(count: int, backward: bool = False) -> Graph:
    """h' = tanh(h * w[i]), every h kept; the matrices w are an input."""
    body = Builder()
    body.input("index", TensorType(Dtype.U32, ()))
    h = body.input("h", KIND)
    w = body.input("w", KIND)
    after = body.apply("tanh", (body.apply("mul", (h, w)),))
    turn = body.graph("body", [("h", after), ("kept", h)])
    outer = Builder()
    start = outer.input("net.a", KIND)
    stack = outer.input("w", TensorType(Dtype.F32, (count, *KIND.shape)))
    last, kept = outer.loop(Loop(count, 1, 1, turn, backward), (start, stack))
    return outer.graph("step", [("net.a", last), ("kept", kept)])


def shown(lowered: Lowered) -> list[str]:
    return [kernel.symbol for kernel in lowered.kernels]


def test_slices_and_kept_values_are_rows_and_the_carried_value_has_one_home() -> None:
    lowered = lower(accumulated(5))
    first, kept, product, tanh = lowered.kernels
    assert [item.operation for item in lowered.kernels] == ["copy", "copy", "mul", "tanh"]
    assert [(item.first, item.last, item.count) for item in lowered.loops] == [(1, 3, 5)]
    home = first.writes[0].name
    assert kept.reads[0].name == home and tanh.writes[0].name == home
    cell, elements = lowered.loops[0].cell, KIND.count
    assert kept.writes[0].rows == (Row(cell, 5, elements),)
    assert product.reads[1].rows == (Row(cell, 5, elements),) and product.reads[1].name == "w"
    assert dict(lowered.outputs)["net.a"].name == home


def test_the_code_of_a_loop_does_not_grow_with_its_turns() -> None:
    few, many = (planned_ir(accumulated(count)) for count in (2, 1_000))
    assert len(many) < len(few) + 100
    assert shown(lower(accumulated(2))) == shown(lower(accumulated(1_000)))


def planned_ir(graph: Graph) -> str:
    _, kernels = planned(graph)
    return kernels_ir(kernels, HOSTS[0])


def test_carried_values_that_change_places_need_one_copy_more() -> None:
    body = Builder()
    body.input("index", TensorType(Dtype.U32, ()))
    a, b = body.input("a", KIND), body.input("b", KIND)
    outer = Builder()
    inputs = [outer.input(name, KIND) for name in ("x", "y")]
    results = outer.loop(Loop(3, 2, 0, body.graph("swap", [("a", b), ("b", a)])), inputs)
    lowered = lower(outer.graph("swap", [("a", results[0]), ("b", results[1])]))
    (turns,) = lowered.loops
    inside = lowered.kernels[turns.first : turns.last + 1]
    assert [kernel.operation for kernel in inside] == ["copy"] * 3


def test_a_first_value_that_is_made_for_the_loop_is_made_in_its_home() -> None:
    body = Builder()
    body.input("index", TensorType(Dtype.U32, ()))
    total, x = body.input("total", KIND), body.input("x", KIND)
    turn = body.graph("sum", [("total", body.apply("add", (total, x)))])
    outer = Builder()
    stack = outer.input("x", TensorType(Dtype.F32, (4, *KIND.shape)))
    zero = outer.broadcast(outer.constant(0.0, Dtype.F32), KIND.shape)
    (result,) = outer.loop(Loop(4, 1, 1, turn), (zero, stack))
    lowered = lower(outer.graph("sum", [("total", result)]))
    assert [kernel.operation for kernel in lowered.kernels] == ["broadcast", "add"]


def test_what_turns_share_lives_through_the_loop_and_what_one_turn_makes_does_not() -> None:
    plan, _ = planned(accumulated(5))
    live = {buffer.name: (buffer.first, buffer.last) for buffer in plan.buffers if buffer.program}
    (turns,) = plan.program("step").loops
    index = next(name for name in live if name.endswith("/index"))
    assert live["w"] == (0, turns.last) and live[index] == (turns.first, turns.last)
    (product,) = [name for name in live if "mul" in name]
    assert live[product] == (turns.first + 1, turns.first + 2)


def test_launches_do_not_cross_the_border_of_a_loop() -> None:
    plan, _ = planned(accumulated(5))
    program = plan.program("step")
    (turns,) = program.loops
    for launch in launches(program):
        ends = {launch.first, launch.first + len(launch.regions) - 1}
        assert len({turns.first <= place <= turns.last for place in ends}) == 1


def test_the_kernels_of_a_loop_are_shown_between_its_ends() -> None:
    plan, kernels = planned(accumulated(5, backward=True))
    cell = plan.program("step").loops[0].cell
    lines = kernels_text(plan.programs, kernels).splitlines()
    shown = [line for line in lines if line.startswith(("kernel", "loop", "end"))]
    assert [line.split("  ")[0] for line in shown] == [
        "kernel step.0.copy",
        "loop over 4 .. 0",
        *("kernel step.1.copy", "kernel step.2.mul", "kernel step.3.tanh"),
        f"end of the loop with its index at {cell}",
        *(line.split("  ")[0] for line in shown[6:]),
    ]
    assert f"  buffer 1 `w` + {KIND.count} x `loop.2/index` : f32[{KIND.count}] at" in "\n".join(
        lines
    )


def test_more_turns_than_an_index_counts_are_refused() -> None:
    body = Builder()
    body.input("index", TensorType(Dtype.U32, ()))
    turn = body.graph("body", [("x", body.apply("sin", (body.input("x", KIND),)))])
    outer = Builder()
    (last,) = outer.loop(Loop(1 << 32, 1, 0, turn), (outer.input("x", KIND),))
    with pytest.raises(Refused, match="E0011"):
        lower(outer.graph("many", [("x", last)]))


# Broken laws.


def test_a_row_that_leaves_its_buffer_in_the_last_turn_is_refused() -> None:
    kernel = lower(accumulated(5)).kernels[1]
    number = kernel.written[0]
    (row,) = kernel.buffers[number].rows
    for wrong in (replace(row, turns=6), replace(row, stride=row.stride - 1)):
        buffers = list(kernel.buffers)
        buffers[number] = replace(buffers[number], rows=(wrong,))
        with pytest.raises(KernelFault, match="rows"):
            verify_kernel(replace(kernel, buffers=tuple(buffers)))


def with_loops(plan: Plan, *loops: Turns) -> Plan:
    return replace(plan, programs=(replace(plan.program("step"), loops=loops),))


def test_loops_that_cross_or_have_no_cell_are_refused() -> None:
    plan, kernels = planned(accumulated(5))
    (loop,) = plan.program("step").loops
    verify(plan, kernels)
    crossing = with_loops(plan, loop, replace(loop, first=loop.first + 1, last=loop.last + 1))
    for wrong, law in (
        (crossing, "nested"),
        (with_loops(plan, replace(loop, last=99)), "nested"),
        (with_loops(plan, replace(loop, count=0)), "turned"),
        (with_loops(plan, replace(loop, cell=loop.cell + 4)), "turned"),
        (with_loops(plan, replace(loop, count=4)), "held"),
        (with_loops(plan), "held"),
    ):
        with pytest.raises(PlanFault, match=f"`{law}`"):
            verify(wrong, kernels)


def test_what_the_next_turn_needs_is_not_overwritten() -> None:
    """A buffer that is read in every turn gives its place away after it was read in the first."""
    body = Builder()
    body.input("index", TensorType(Dtype.U32, ()))
    h, w = body.input("h", KIND), body.input("w", KIND)
    product = body.apply("mul", (h, w))
    after = body.apply("tanh", (body.apply("sin", (product,)),))
    turn = body.graph("body", [("h", after)])
    outer = Builder()
    operands = (outer.input("net.a", KIND), outer.input("w", KIND))
    (last,) = outer.loop(Loop(3, 1, 0, turn), operands)
    plan, kernels = planned(outer.graph("step", [("net.a", last)]))
    (loop,) = plan.program("step").loops
    verify(plan, kernels)
    shared = next(item for item in plan.buffers if item.name == "w")
    local = next(item for item in plan.buffers if "sin" in item.name)
    assert (shared.last, local.first) == (loop.last, loop.first + 1)
    buffers = [item for item in plan.buffers if item not in (shared, local)]
    buffers += [replace(shared, last=loop.first), replace(local, offset=shared.offset)]
    moved = [
        replace(
            kernel,
            buffers=tuple(
                replace(part, offset=shared.offset) if part.name == local.name else part
                for part in kernel.buffers
            ),
        )
        for kernel in kernels
    ]
    wrong = replace(plan, buffers=tuple(buffers))
    verify(wrong)
    with pytest.raises(PlanFault, match="`held`"):
        verify(wrong, moved)


def test_a_value_of_nothing_but_views_needs_no_kernel(runner: Runner) -> None:
    body = Builder()
    index = body.input("index", TensorType(Dtype.U32, ()))
    h, x = body.input("h", KIND), body.input("x", TensorType(Dtype.F32, (KIND.shape[1],)))
    turn = body.graph("views", [("h", h), ("x", body.broadcast(x, KIND.shape)), ("i", index)])
    outer = Builder()
    start = outer.input("h", KIND)
    stack = outer.input("x", TensorType(Dtype.F32, (3, KIND.shape[1])))
    results: tuple[Node, ...] = outer.loop(Loop(3, 1, 1, turn, True), (start, stack))
    graph = outer.graph("views", [("h", results[0]), ("x", results[1]), ("i", results[2])])
    inputs = inputs_of(graph, 3)
    found = runner.run_lowered(lower(graph), inputs)
    for name, value in expected_of(graph, inputs).items():
        assert same_bits(numpy.asarray(value), found[name].reshape(numpy.shape(value)))
