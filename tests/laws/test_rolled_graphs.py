"""Rolled loops in graphs: passes and texts keep them, and their gradients are those of the turns written out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.autodiff import gradients
from alpha.graph.builder import Builder
from alpha.graph.errors import GraphFault, OperationError
from alpha.graph.loops import INDEX, Turn, clone, close
from alpha.graph.node import Graph, Node
from alpha.graph.passes import PASSES, optimise, run
from alpha.graph.text import parse, to_text
from alpha.graph.verify import verify
from kernel_runner import Runner
from laws import float64
from laws.graphs import inputs_of, same_bits
from laws.rolled import SMOOTH, looped, written_out
from semantics.evaluate import evaluate
from semantics.graph import read_graph

F32 = Dtype.F32
SEEDS = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


def reference(graph: Graph, inputs: dict[str, Any]) -> dict[str, Any]:
    verify(graph)
    return evaluate(read_graph(to_text(graph)), inputs)


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(same_bits(a[name], b[name]) for name in a)


@settings(max_examples=40, deadline=None)
@given(looped())
def test_reading_a_printed_loop_gives_the_same_graph(graph: Graph) -> None:
    text = to_text(graph)
    again = parse(text)
    verify(again)
    assert to_text(again) == text


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(looped(), SEEDS)
def test_a_loop_is_its_turns_written_out(graph: Graph, seed: int) -> None:
    inputs = inputs_of(graph, seed, specials=True)
    assert same(reference(graph, inputs), reference(written_out(graph), inputs))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(looped(), SEEDS)
def test_every_pass_keeps_every_bit_of_a_loop(graph: Graph, seed: int) -> None:
    inputs = inputs_of(graph, seed, specials=True)
    expected = reference(graph, inputs)
    for pass_ in PASSES:
        graph = run(pass_, graph)
        assert same(reference(graph, inputs), expected), pass_.name
    verify(graph, primitive=True)


# ---- gradients ----


def with_gradients(graph: Graph, twice: bool = False) -> Graph:
    """The loss, a weighted sum of all outputs, and its derivative by every float input; of that, if twice, again."""
    builder = Builder()
    made: dict[Node, Node] = {}
    for node in graph.inputs:
        made[node] = builder.input(str(node.attribute("name")), node.type)
    clone(builder, (node for node in graph.nodes() if node not in made), made)
    parameters = [made[node] for node in graph.inputs if node.type.dtype is F32]
    loss = weighed(builder, [made[node] for _, node in graph.outputs if node.type.dtype is F32])
    outputs = [("loss", loss)]
    for turn in range(1 + twice):
        parameters, found = reached(builder, loss, parameters)
        outputs += [(f"d{turn}.{place}", node) for place, node in enumerate(found)]
        if turn < twice:
            loss = weighed(builder, found)
    return builder.graph("grad", outputs)


def weighed(builder: Builder, nodes: list[Node]) -> Node:
    """The sum of all elements of all tensors, each times a weight that differs."""
    total = builder.constant(0.0, F32)
    for place, node in enumerate(nodes):
        weight = builder.constant(0.3 + 0.1 * place, F32)
        product = builder.apply("mul", (node, builder.broadcast(weight, node.type.shape)))
        if node.type.shape:
            axes = tuple(range(len(node.type.shape)))
            product = builder.apply("sum", (product,), axes=axes)
        total = builder.apply("add", (total, product))
    return total


def reached(builder: Builder, loss: Node, parameters: list[Node]) -> tuple[list[Node], list[Node]]:
    """The parameters that the loss depends on, and its derivatives by them."""
    left = list(parameters)
    while left:
        names = [f"`{place}`" for place in range(len(left))]
        try:
            return left, gradients(builder, loss, left, names)
        except OperationError as error:
            if error.code != "E0612":
                raise
            del left[int(error.message.split("`")[1])]
    return [], []


def close_enough(a: Any, b: Any) -> bool:
    """Equal bits, but +0 equals -0 (an absent adjoint has no sign) and all NaN are alike."""
    return bool(numpy.array_equal(a, b, equal_nan=True))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(looped(SMOOTH), SEEDS)
def test_gradients_of_a_loop_are_those_of_its_turns(graph: Graph, seed: int) -> None:
    inputs = inputs_of(graph, seed)
    rolled, flat = with_gradients(graph), with_gradients(written_out(graph))
    found, expected = reference(rolled, inputs), reference(flat, inputs)
    assume(found.keys() == expected.keys())  # a loop may reach more than a few of its turns do
    for name in found:
        assert close_enough(found[name], expected[name]), name
    assert same(reference(optimise(rolled), inputs), found)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(looped(SMOOTH, most=3, depth=1), SEEDS)
def test_gradients_of_gradients_are_those_of_the_turns(graph: Graph, seed: int) -> None:
    inputs = inputs_of(graph, seed)
    rolled, flat = with_gradients(graph, True), with_gradients(written_out(graph), True)
    found, expected = reference(rolled, inputs), reference(flat, inputs)
    assume(found.keys() == expected.keys())  # a loop may reach more than a few of its turns do
    for name in found:
        assert close_enough(found[name], expected[name]), name
    assert same(reference(optimise(rolled), inputs), found)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=looped(SMOOTH), seed=SEEDS)
def test_compiled_gradients_of_loops_are_those_of_the_reference(
    runner: Runner, graph: Graph, seed: int
) -> None:
    inputs = inputs_of(graph, seed)
    graph = with_gradients(graph)
    found = runner.run(graph, inputs)
    for name, value in reference(graph, inputs).items():
        assert same_bits(numpy.asarray(value), found[name]), name


def test_a_loop_that_overwrites_what_it_carries_can_be_differentiated_twice() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, ()))
    began = builder.mark()
    index, y = builder.placeholder(INDEX), builder.placeholder(x.type)
    within = builder.mark()
    other, z = builder.placeholder(INDEX), builder.placeholder(x.type)
    product = builder.apply("mul", (y, x))
    zero = builder.constant(0.0, F32)
    inner = Turn(3, other, ((z, zero),), (), (product,))
    (after,) = close(builder, inner, lambda node: node.serial >= within)
    one = builder.constant(1.0, F32)
    (cube,) = close(builder, Turn(3, index, ((y, one),), (), (after,)), lambda n: n.serial >= began)
    (first,) = gradients(builder, cube, [x])
    (second,) = gradients(builder, first, [x])
    graph = builder.graph("g", [("first", first), ("second", second)])
    assert reference(graph, {"x": numpy.float32(5.0)}) == {"first": 75.0, "second": 30.0}


def test_what_too_few_turns_reach_gets_a_gradient_of_zero() -> None:
    """What the first turn is given as the second value is in the first one after it, and gone behind that."""
    builder = Builder()
    x, w = (builder.input(name, TensorType(F32, ())) for name in "xw")
    began = builder.mark()
    index, a, b = (builder.placeholder(type_) for type_ in (INDEX, x.type, x.type))
    turn = Turn(3, index, ((a, x), (b, x)), (), (b, builder.apply("sigmoid", (w,))))
    (last, _) = close(builder, turn, lambda node: node.serial >= began)
    graph = builder.graph("g", list(zip("xw", gradients(builder, last, [x, w]), strict=True)))
    outputs = reference(graph, {"x": numpy.float32(0.5), "w": numpy.float32(0.0)})
    assert outputs == {"x": 0.0, "w": 0.25}


def powers(builder: Builder, count: int, x: Node, w: Node) -> Node:
    """sum (tanh (x * w)), `count` times over, with a row of `w` a turn."""
    began = builder.mark()
    index, y = builder.placeholder(INDEX), builder.placeholder(x.type)
    row = builder.placeholder(x.type)
    after = builder.apply("tanh", (builder.apply("mul", (y, row)),))
    turn = Turn(count, index, ((y, x),), ((row, w),), (after,))
    (last,) = close(builder, turn, lambda node: node.serial >= began)
    return builder.apply("sum", (last,), axes=(0,))


def test_a_gradient_through_a_loop_is_the_central_difference() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, (3,)))
    w = builder.input("w", TensorType(F32, (5, 3)))
    loss = powers(builder, 5, x, w)
    dx, dw = gradients(builder, loss, [x, w])
    graph = builder.graph("g", [("loss", loss), ("x", dx), ("w", dw)])
    generator = numpy.random.default_rng(5)
    inputs = {"x": generator.normal(0, 1, 3), "w": generator.normal(0, 1, (5, 3))}
    found = float64.evaluate(graph, inputs)
    step = 1e-6
    for name, values in inputs.items():
        for place in numpy.ndindex(values.shape):
            change = numpy.zeros(values.shape)
            change[place] = step
            high = float64.evaluate(graph, {**inputs, name: values + change})["loss"]
            low = float64.evaluate(graph, {**inputs, name: values - change})["loss"]
            assert found[name][place] == pytest.approx((high - low) / (2 * step), rel=1e-6)


def nodes_in(graph: Graph) -> int:
    bodies = [node.loop.body for node in graph.nodes() if node.loop is not None]
    return len(list(graph.nodes())) + sum(map(nodes_in, bodies))


def test_the_graph_of_a_gradient_does_not_grow_with_the_turns() -> None:
    sizes = set()
    for count in (2, 200):
        builder = Builder()
        x = builder.input("x", TensorType(F32, (3,)))
        w = builder.input("w", TensorType(F32, (count, 3)))
        found = gradients(builder, powers(builder, count, x, w), [x, w])
        outputs = list(zip("xw", found, strict=True))
        sizes.add(nodes_in(optimise(builder.graph("g", outputs))))
    assert len(sizes) == 1


def test_the_forward_turns_run_once() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, (3,)))
    w = builder.input("w", TensorType(F32, (4, 3)))
    loss = powers(builder, 4, x, w)
    dx, dw = gradients(builder, loss, [x, w])
    graph = optimise(builder.graph("g", [("loss", loss), ("x", dx), ("w", dw)]))
    loops = [node.loop for node in graph.nodes() if node.loop is not None]
    assert [loop.backward for loop in loops] == [False, True]
    # What the turns were given and what they gave; the rows of `w` are there already.
    forward, backward = loops
    assert len(forward.body.outputs) - forward.carried == 2
    assert not any(node.operation == "tanh" for node in backward.body.nodes())


def repeated(x: Node, builder: Builder, count: int, operation: str) -> Node:
    began = builder.mark()
    index, y = builder.placeholder(INDEX), builder.placeholder(x.type)
    after = builder.apply(operation, (y,))
    turn = Turn(count, index, ((y, x),), (), (after,))
    return close(builder, turn, lambda node: node.serial >= began)[0]


def test_a_mask_goes_through_the_turns() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, ()))
    zero = builder.constant(0.0, F32)
    root = repeated(x, builder, 3, "sqrt")
    loss = builder.apply("select", (builder.apply("greater", (x, zero)), root, zero))
    (found,) = gradients(builder, loss, [x])
    graph = builder.graph("g", [("d", found)])
    assert reference(graph, {"x": numpy.float32(0.0)})["d"] == 0.0
    assert reference(graph, {"x": numpy.float32(1.0)})["d"] == numpy.float32(0.125)


def swapped(builder: Builder, x: Node, z: Node, count: int) -> Node:
    """The first of two values that change places every turn; the second goes through `sqrt` on the way."""
    began = builder.mark()
    index, a, b = (builder.placeholder(type_) for type_ in (INDEX, x.type, z.type))
    root = builder.apply("sqrt", (b,))
    turn = Turn(count, index, ((a, x), (b, z)), (), (root, a))
    return close(builder, turn, lambda node: node.serial >= began)[0]


def test_an_adjoint_that_is_absent_in_the_last_turn_gives_no_nan() -> None:
    builder = Builder()
    x, z = (builder.input(name, TensorType(F32, ())) for name in "xz")
    found = gradients(builder, swapped(builder, x, z, 1), [z])
    graph = builder.graph("g", [("z", found[0])])
    assert reference(graph, {"x": numpy.float32(0.0), "z": numpy.float32(4.0)})["z"] == 0.25
    # Two turns: the result is sqrt x, and z, whose root is infinitely steep at 0, does not reach it.
    builder = Builder()
    x, z = (builder.input(name, TensorType(F32, ())) for name in "xz")
    found = gradients(builder, swapped(builder, x, z, 2), [x, z])
    graph = builder.graph("g", [("x", found[0]), ("z", found[1])])
    outputs = reference(graph, {"x": numpy.float32(4.0), "z": numpy.float32(0.0)})
    assert outputs == {"x": 0.25, "z": 0.0}


def test_what_no_turn_differentiates_is_refused_and_named() -> None:
    builder = Builder()
    x, w = builder.input("x", TensorType(F32, (2,))), builder.input("w", TensorType(F32, (2,)))
    began = builder.mark()
    index, y = builder.placeholder(INDEX), builder.placeholder(x.type)
    hidden = builder.apply("stopGradient", (w,))
    after = builder.apply("mul", (y, hidden))
    turn = Turn(3, index, ((y, x),), (), (after,))
    (last,) = close(builder, turn, lambda node: node.serial >= began)
    loss = builder.apply("sum", (last,), axes=(0,))
    with pytest.raises(OperationError, match=r"E0612.*`w`"):
        gradients(builder, loss, [w], ["`w`"])
    stepped = repeated(x, builder, 2, "sign")
    step = builder.apply("cast", (builder.apply("greater", (stepped, x)),), dtype=F32)
    with pytest.raises(OperationError, match="E0611"):
        gradients(builder, builder.apply("sum", (step,), axes=(0,)), [x])


# ---- passes and laws ----


def test_equal_loops_become_one_and_unused_parts_disappear() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, (3,)))
    twice = [repeated(x, builder, 4, "tanh") for _ in range(2)]
    total = builder.apply("add", tuple(twice))
    graph = optimise(builder.graph("g", [("y", total)]))
    assert sum(node.operation == "loop" for node in graph.nodes()) == 1
    z = builder.input("z", TensorType(F32, ()))
    first = swapped(builder, z, z, 2)
    began = builder.mark()
    index, a, b = (builder.placeholder(type_) for type_ in (INDEX, z.type, x.type))
    turn = Turn(
        3,
        index,
        ((a, first), (b, x)),
        (),
        (builder.apply("neg", (a,)), builder.apply("neg", (b,))),
        (builder.apply("exp", (b,)),),
    )
    results = close(builder, turn, lambda node: node.serial >= began)
    graph = optimise(builder.graph("g", [("y", results[0])]))
    last = [node.loop for node in graph.nodes() if node.loop is not None][-1]
    assert (last.carried, len(last.body.inputs), len(last.body.outputs)) == (1, 2, 1)


def test_what_was_moved_is_kept_and_not_its_copies() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, (8,)))
    w = builder.input("w", TensorType(F32, (3, 2, 8)))
    began = builder.mark()
    index, y = builder.placeholder(INDEX), builder.placeholder(x.type)
    layer = builder.placeholder(TensorType(F32, (2, 8)))
    half = builder.apply("slice", (layer,), low=(1, 0), high=(2, 8))
    row = builder.apply("reshape", (half,), shape=(8,))
    mean = builder.apply("mean", (builder.apply("mul", (y, y)),), axes=(0,))
    wide = builder.apply("repeat", (builder.apply("tanh", (mean,)),), axis=0, count=8)
    after = builder.apply("mul", (builder.apply("mul", (y, wide)), row))
    turn = Turn(3, index, ((y, x),), ((layer, w),), (after,))
    (last,) = close(builder, turn, lambda node: node.serial >= began)
    loss = builder.apply("sum", (last,), axes=(0,))
    outputs = list(zip("xw", gradients(builder, loss, [x, w]), strict=True))
    graph = builder.graph("g", outputs)
    forward = next(node.loop for node in optimise(graph).nodes() if node.loop is not None)
    # What the turn was given, the tanh of one number, and the product before the last.
    kept = forward.results[forward.carried :]
    assert sorted(type_.shape for type_ in kept) == [(3,), (3, 8), (3, 8)]
    inputs = inputs_of(graph, 1)
    assert same(reference(optimise(graph), inputs), reference(graph, inputs))


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ("count = 0", "states 0 turns"),
        ("carried = 2", "fewer"),
        ("slices = 1", "where|fewer"),
        ("count = 4", "where|states"),
    ],
)
def test_the_verifier_refuses_a_loop_that_does_not_fit_its_operands(
    changed: str, complaint: str
) -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, (3,)))
    w = builder.input("w", TensorType(F32, (5, 3)))
    text = to_text(builder.graph("g", [("y", powers(builder, 5, x, w))]))
    old = {"count": "count = 5", "carried": "carried = 1", "slices": "slices = 1"}
    name = changed.split(" ")[0]
    text = text.replace(old[name], "slices = 2" if name == "slices" else changed)
    with pytest.raises(GraphFault, match=f"law `loops`.*({complaint})"):
        verify(parse(text))
