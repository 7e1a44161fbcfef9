"""Gradients are the derivatives of their operations, and their bits follow the order and masks of the specification."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.autodiff import gradients
from alpha.graph.builder import Builder
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term, exp, log, select
from alpha.graph.node import Graph, Node
from alpha.graph.ops import TABLE
from alpha.graph.passes import optimise
from alpha.graph.text import to_text
from laws import float64
from laws.graphs import OPERATIONS, applications, inputs_of, same_bits
from semantics.evaluate import evaluate as reference
from semantics.graph import read_graph

F32 = Dtype.F32
DIFFERENTIABLE = [
    name for name in OPERATIONS if TABLE[name].gradient is not None and name != "stopGradient"
]


def differentiated(graph: Graph) -> tuple[Graph, list[str]] | None:
    """The graph of `loss`, a weighted sum of `y`, and `d.<input>` for every float input; None if there is none."""
    builder = Builder()
    made: dict[Node, Node] = {}
    for node in sorted({*graph.inputs, *graph.nodes()}, key=lambda node: node.serial):
        if node.operation == "input":
            made[node] = builder.input(str(node.attribute("name")), node.type)
        else:
            operands = [made[operand] for operand in node.operands]
            made[node] = builder.apply(node.operation, operands, **dict(node.attributes))
    y = made[graph.outputs[0][1]]
    parameters = [made[node] for node in graph.inputs if node.type.dtype is F32]
    if not parameters or y.type.dtype is not F32:
        return None
    weight = builder.input("weight", y.type)
    product = builder.apply("mul", (y, weight))
    loss = builder.apply("sum", (product,), axes=tuple(range(len(y.type.shape))))
    found = gradients(builder, loss, parameters)
    names = [str(node.attribute("name")) for node in parameters]
    outputs = [
        ("loss", loss),
        *((f"d.{name}", node) for name, node in zip(names, found, strict=True)),
    ]
    return builder.graph("grad", outputs), names


def smooth_inputs(operation: str, graph: Graph, seed: int) -> dict[str, Any]:
    """Values where the operation is defined and smooth: no ties, no kinks, no poles within a step."""
    generator = numpy.random.default_rng(seed)
    found: dict[str, Any] = dict(inputs_of(graph, seed))
    place = 0
    for node in graph.inputs:
        name = str(node.attribute("name"))
        if node.type.dtype is F32 and name != "weight":
            # Distinct values with gaps of 0.05 or more, none within 0.02 of a whole number.
            count = node.type.count
            values = (generator.permutation(count) - count // 2 + 0.5) * 0.06 + 0.013 * (place + 1)
            values = numpy.where(
                numpy.abs(values - numpy.rint(values)) < 0.02, values + 0.021, values
            )
            if operation in ("log", "sqrt", "rsqrt"):
                values = numpy.abs(values) + 0.3
            if operation in ("pow", "powStep"):
                # Below 1.5: a large power of a large value would drown the slopes of the others.
                values = 0.3 + 1.2 * numpy.abs(values) / (1 + numpy.abs(values))
            if operation == "div" and place == 1:
                values = numpy.sign(values) * (numpy.abs(values) + 0.3)
            found[name] = values.reshape(node.type.shape)
            place += 1
        elif node.type == TensorType(Dtype.U32, ()):
            found[name] = numpy.uint32(generator.integers(0, 6))
        elif node.type.dtype is F32:
            found[name] = generator.normal(0, 1, node.type.shape)
    return found


@pytest.mark.parametrize("operation", DIFFERENTIABLE)
@settings(max_examples=12, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_a_gradient_is_the_central_difference(
    operation: str, data: st.DataObject, seed: int
) -> None:
    made = differentiated(data.draw(applications(operation)))
    if made is None:
        return
    graph, names = made
    inputs = smooth_inputs(operation, graph, seed)
    if operation == "causal":
        # -inf takes no difference: the places that stay have the weight as their slope.
        found = float64.evaluate(graph, inputs)[f"d.{names[0]}"]
        assert same_bits(
            found, numpy.where(numpy.tri(found.shape[-1], dtype=bool), inputs["weight"], 0.0)
        )
        return
    found = float64.evaluate(graph, inputs)
    loss_only = Graph("loss", graph.inputs, graph.outputs[:1])

    def loss(changed: dict[str, Any]) -> float:
        return float(float64.evaluate(loss_only, changed)["loss"])

    step = 1e-5
    # Half a unit in the last place of the loss is what a difference of two losses cannot see.
    noise = 1e-16 * abs(loss(inputs)) / step
    for name in names:
        values = inputs[name]
        for place in numpy.ndindex(values.shape):
            high, low = values.copy(), values.copy()
            high[place] += step
            low[place] -= step
            slope = (loss({**inputs, name: high}) - loss({**inputs, name: low})) / (2 * step)
            assert found[f"d.{name}"][place] == pytest.approx(
                slope, rel=2e-5, abs=2e-6 + 10 * noise
            ), (
                name,
                place,
            )


@pytest.mark.parametrize("operation", DIFFERENTIABLE)
@settings(max_examples=4, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_a_gradient_graph_keeps_its_bits_through_the_passes(
    operation: str, data: st.DataObject, seed: int
) -> None:
    made = differentiated(data.draw(applications(operation)))
    if made is None:
        return
    graph, _ = made
    inputs = inputs_of(graph, seed, specials=True)
    before = reference(read_graph(to_text(graph)), inputs)
    after = reference(read_graph(to_text(optimise(graph))), inputs)
    for name, value in before.items():
        assert same_bits(value, after[name]), name


Function = Callable[[Sequence[Term]], Term]


def slopes(function: Function, *values: Any) -> list[Any]:
    """The f32 gradients of a scalar function at `values`, by the reference."""
    arrays = [numpy.asarray(value, dtype=numpy.float32) for value in values]
    builder = Builder()
    nodes = [builder.input(f"x{k}", TensorType(F32, array.shape)) for k, array in enumerate(arrays)]
    loss = function([Term(builder, node, None) for node in nodes]).node
    found = gradients(builder, loss, nodes)
    graph = builder.graph("grad", [(f"d{k}", node) for k, node in enumerate(found)])
    inputs = {f"x{k}": array for k, array in enumerate(arrays)}
    outputs = reference(read_graph(to_text(graph)), inputs)
    return [outputs[f"d{k}"] for k in range(len(nodes))]


def all_of(x: Term) -> Term:
    return x.apply("sum", axes=tuple(range(x.rank)))


# Masks.


def test_an_untaken_branch_sends_no_nan_back() -> None:
    def root(x: Sequence[Term]) -> Term:
        return all_of(select(x[0] > 0, x[0].apply("sqrt"), 0))

    assert same_bits(slopes(root, [0.0, 4.0, -1.0])[0], numpy.float32([0.0, 0.25, 0.0]))


def test_a_mask_lasts_through_elementwise_operations() -> None:
    def chain(x: Sequence[Term]) -> Term:
        return all_of(select(x[0] > 0, log(x[0].apply("sqrt") * 2) / x[0], 0))

    found = slopes(chain, [0.0, 1.0, -3.0])[0]
    assert found[0] == 0 and found[2] == 0
    assert found[1] == pytest.approx(0.5 - math.log(2), rel=1e-6)


def test_nested_masks_narrow() -> None:
    def nested(x: Sequence[Term]) -> Term:
        inner = select(x[0] < 4, x[0].apply("sqrt"), 1 / (x[0] - 4))
        return all_of(select(x[0] > 0, inner, exp(x[0] * x[0])))

    found = slopes(nested, [0.0, 1.0, 4.0])[0]
    assert same_bits(found[:2], numpy.float32([0.0, 0.5]))
    assert found[2] == -numpy.inf


def test_a_mask_is_applied_where_contributions_meet() -> None:
    def meeting(x: Sequence[Term]) -> Term:
        root = x[0].apply("sqrt")
        return all_of(select(x[0] > 0, root, 0) + select(x[0] > 1, root, 0))

    assert same_bits(slopes(meeting, [0.0, 1.0, 4.0])[0], numpy.float32([numpy.nan, 0.5, 0.5]))


def test_a_mask_is_applied_before_an_operation_that_is_not_elementwise() -> None:
    def moved(x: Sequence[Term]) -> Term:
        flat = (1 / x[0]).apply("reshape", shape=(4,))
        good = x[0].apply("reshape", shape=(4,)) > 0
        return all_of(select(good, flat, 0))

    found = slopes(moved, [[1.0, 2.0], [-1.0, -2.0]])[0]
    assert same_bits(found, numpy.float32([[-1.0, -0.25], [-0.0, -0.0]]))


def test_a_broadcast_operand_is_masked_before_its_sum() -> None:
    def scaled(x: Sequence[Term]) -> Term:
        wide = Term(x[0].emitter, x[0].emitter.broadcast(x[0].node, (3,)), None)
        return all_of(select(x[1] > 0, wide / x[1], 0))

    found = slopes(scaled, 2.0, [1.0, 0.0, 4.0])
    assert same_bits(found[0], numpy.float32(1.25))
    assert same_bits(found[1], numpy.float32([-2.0, 0.0, -0.125]))


# Order.


def test_contributions_add_last_use_first() -> None:
    big, small = numpy.float32(1e8), numpy.float32(3.0)

    def uses(x: Sequence[Term]) -> Term:
        first = x[0] * float(small)
        second = x[0] * float(-big)
        third = x[0] * float(big)
        return (first + second) + third

    assert slopes(uses, 1.0)[0] == (big + -big) + small != big + (-big + small)


def test_operands_of_one_operation_count_left_first() -> None:
    big, small = 1e8, 3.0

    def uses(x: Sequence[Term]) -> Term:
        earlier = x[0] * small
        pair = x[0].apply("fma", x[1], x[0])  # contributions x1, then 1
        return pair + earlier

    expected = (numpy.float32(big) + numpy.float32(1)) + numpy.float32(small)
    assert slopes(uses, 1.0, big)[0] == expected


def test_a_broadcast_is_part_of_the_operand_it_widens() -> None:
    """`fma c y c` with a scalar c: the left operand's sum comes first, wherever the broadcasts stand."""
    y = numpy.float32([-1e8, 0.0, 0.0])

    def uses(x: Sequence[Term]) -> Term:
        c, values = x
        left = Term(c.emitter, c.emitter.broadcast(c.node, (3,)), None)
        right = Term(c.emitter, c.emitter.broadcast(c.node, (3,)), None)
        return all_of(left.apply("fma", values, right)) + c * 1e8

    # Last use first: c * 1e8, then the sum for the left operand, then for the right one.
    assert slopes(uses, 1.0, y)[0] == (1e8 + -1e8) + 3


def test_a_letter_that_only_one_operand_has_is_repeated() -> None:
    def mixed(x: Sequence[Term]) -> Term:
        return all_of(x[0].apply("contract", x[1], left="ikm", right="kj", result="ji"))

    a, b = numpy.arange(12.0).reshape(2, 3, 2), numpy.arange(12.0).reshape(3, 4)
    found = slopes(mixed, a, b)
    assert found[0].tolist() == numpy.broadcast_to(b.sum(1)[:, None], (2, 3, 2)).tolist()
    assert found[1].tolist() == numpy.broadcast_to(a.sum((0, 2))[:, None], (3, 4)).tolist()


def test_max_sends_its_gradient_to_the_first_winner() -> None:
    def largest(x: Sequence[Term]) -> Term:
        return all_of(x[0].apply("max", axes=(0, 2)))

    x = numpy.zeros((2, 2, 2))
    x[0, 1, 1] = x[1, 1, 0] = 5
    found = slopes(largest, x)[0]
    assert found.tolist() == [[[1, 0], [0, 1]], [[0, 0], [0, 0]]]


def test_rows_gathered_twice_add_up() -> None:
    builder = Builder()
    table = builder.input("table", TensorType(F32, (3, 2)))
    ids = builder.input("ids", TensorType(Dtype.I32, (4,), 3))
    rows = Term(builder, builder.apply("gather", (table, ids)), None)
    (found,) = gradients(builder, all_of(rows * rows).node, [table])
    graph = read_graph(to_text(builder.graph("g", [("d", found)])))
    values = numpy.float32([[1, 2], [3, 4], [5, 6]])
    outputs = reference(graph, {"table": values, "ids": numpy.int32([2, 0, 2, 2])})
    assert outputs["d"].tolist() == [[2, 4], [0, 0], [30, 36]]


def test_a_gradient_can_be_differentiated_again() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, ()))
    term = Term(builder, x, None)
    cube = term * term * term
    (first,) = gradients(builder, cube.node, [x])
    (second,) = gradients(builder, first, [x])
    graph = builder.graph("g", [("first", first), ("second", second)])
    assert float64.evaluate(graph, {"x": 5.0}) == {"first": 75.0, "second": 30.0}


def test_a_fresh_node_separates_a_parameter_from_its_value() -> None:
    builder = Builder()
    x = builder.input("x", TensorType(F32, ()))
    parameter = builder.fresh(x)
    loss = Term(builder, parameter, None) * Term(builder, x, None)
    (found,) = gradients(builder, loss.node, [parameter])
    graph = optimise(builder.graph("g", [("d", found)]))
    assert float64.evaluate(graph, {"x": 5.0}) == {"d": 5.0}


# Refusals.


def refused(function: Callable[[Builder], tuple[Node, list[Node]]]) -> OperationError:
    builder = Builder()
    loss, parameters = function(builder)
    with pytest.raises(OperationError) as caught:
        gradients(builder, loss, parameters, ["`w`"])
    return caught.value


def test_a_loss_with_axes_is_refused() -> None:
    def vector(builder: Builder) -> tuple[Node, list[Node]]:
        x = builder.input("x", TensorType(F32, (2,)))
        return x, [x]

    assert refused(vector).code == "E0610"


def test_an_integer_loss_is_refused() -> None:
    def whole(builder: Builder) -> tuple[Node, list[Node]]:
        x = builder.input("x", TensorType(F32, ()))
        return builder.apply("cast", (x,), dtype=Dtype.I32), [x]

    assert refused(whole).code == "E0610"


def test_an_operation_without_a_gradient_on_the_way_is_refused() -> None:
    def counted(builder: Builder) -> tuple[Node, list[Node]]:
        x = builder.input("x", TensorType(F32, (2,)))
        place = builder.apply("argmax", (x,), axis=0)
        return builder.apply("cast", (place,), dtype=F32), [x]

    error = refused(counted)
    assert (error.code, "`cast` of `index 2`" in error.message) == ("E0611", True)


def test_stop_gradient_lets_it_pass() -> None:
    def stopped(x: Sequence[Term]) -> Term:
        hits = (x[0] > 0).apply("cast", dtype=F32).apply("stopGradient")
        return all_of(x[0] * hits)

    assert slopes(stopped, [2.0, -2.0])[0].tolist() == [1.0, 0.0]


def test_a_condition_needs_no_gradient() -> None:
    def chosen(x: Sequence[Term]) -> Term:
        return all_of(select(x[0] > 0, x[0] * 2, x[0]))

    assert slopes(chosen, [2.0, -2.0])[0].tolist() == [2.0, 1.0]


def test_an_unreached_parameter_is_refused_by_name() -> None:
    def constant(builder: Builder) -> tuple[Node, list[Node]]:
        x = builder.input("x", TensorType(F32, ()))
        w = builder.input("w", TensorType(F32, ()))
        hidden = builder.apply("stopGradient", (w,))
        return builder.apply("mul", (x, hidden)), [w]

    error = refused(constant)
    assert (error.code, "`w`" in error.message) == ("E0612", True)


def test_an_integer_parameter_is_refused() -> None:
    def whole(builder: Builder) -> tuple[Node, list[Node]]:
        n = builder.input("n", TensorType(Dtype.I32, ()))
        return builder.apply("cast", (n,), dtype=F32), [n]

    assert refused(whole).code == "E0613"
