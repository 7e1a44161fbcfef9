"""Operations as a module writes them: what they give, by the reference, and what the checker or evaluator refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import Staged
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.graph.text import to_text
from alpha.kernel.lower import lower
from checking import check_text
from laws.graphs import inputs_of
from semantics.evaluate import evaluate
from semantics.graph import read_graph


def graph_of(type_: str, expression: str) -> Graph:
    """The graph of the tensor `it = expression`. Raises `Refused` with what the checker or evaluator refuses."""
    program, found = check_text(f"module Main exposing (it)\n\nit : {type_}\nit = {expression}\n")
    errors = tuple(item for item in found if item.code[0] != "W")
    if errors or program is None:
        raise Refused(*errors)
    evaluator = Evaluator(
        program, files=FileAccess({}), diagnostics=Diagnostics(), demands=lambda *_: ()
    )
    machine = evaluator._machine
    declared = machine.index.declarations["Main.it"]
    assert isinstance(declared, core.Definition)
    staging = Staging()
    it = core.Global(symbol="Main.it", type=declared.scheme.type, span=declared.span)
    value = machine.evaluate(it, Scope({}), "Main.it", staging)
    assert isinstance(value, Staged)
    return staging.builder.graph("it", [("it", value.node)])


def value_of(type_: str, expression: str) -> Any:
    graph = graph_of(type_, expression)
    lower(optimise(graph))
    return evaluate(read_graph(to_text(graph)), {})["it"].tolist()


def refusal(type_: str, expression: str) -> str:
    with pytest.raises(Refused) as caught:
        lower(optimise(graph_of(type_, expression)))
    return caught.value.diagnostics[0].code


THREE = "(cast f32 (positions 3))"
"""0, 1, 2"""


# Gradients under a mask.


@pytest.mark.parametrize(
    ("expression", "slopes"),
    [
        (f"grad (fn x b -> sum (select (x > 0) (sqrt x) 0)) {THREE} 0.0", [0.0, 0.5, 0.35355338]),
        (f"grad (fn x b -> sum (select (x > 0) (log x) 0)) {THREE} 0.0", [0.0, 1.0, 0.5]),
        (f"grad (fn x b -> sum (select (x == 0) 1 (2 / x))) {THREE} 0.0", [0.0, -2.0, -0.5]),
        (f"grad (fn x b -> sum (select (x > 0) (x ^ (-2)) x)) {THREE} 0.0", [1.0, -2.0, -0.25]),
        (
            "grad (fn x b -> select (globalNorm x > 0) (globalNorm x) 0) (fill [3] 0.0) 0.0",
            [0.0, 0.0, 0.0],
        ),
        (
            "grad (fn x b -> select (sum x > 1) (globalNorm x) (sum x)) (fill [3] 0.0) 0.0",
            [1.0, 1.0, 1.0],
        ),
        (
            f"grad (fn x b -> sum (select (x > 0) (tanh (sqrt x * sqrt x)) 0)) {THREE} 0.0",
            [0.0, 1 - math.tanh(1) ** 2, 1 - math.tanh(2) ** 2],
        ),
    ],
)
def test_what_a_mask_leaves_out_sends_nothing_back(expression: str, slopes: list[float]) -> None:
    assert value_of("Tensor f32 [3]", expression) == pytest.approx(slopes, rel=1e-6, abs=0)


# Images.

IMAGE = "(reshape [1, 3, 3, 1] (cast f32 (positions 9)))"
ONES = "(fill [2, 2, 1, 1] 1.0)"


def test_a_convolution_adds_up_its_windows() -> None:
    found = value_of("Tensor f32 [1, 2, 2, 1]", f"conv2d 0 {IMAGE} {ONES}")
    assert numpy.reshape(found, (2, 2)).tolist() == [[8, 12], [20, 24]]


def test_padding_puts_zeros_around_the_image() -> None:
    found = value_of("Tensor f32 [1, 4, 4, 1]", f"conv2d 1 {IMAGE} {ONES}")
    rows = [[0, 1, 3, 2], [3, 8, 12, 7], [9, 20, 24, 13], [6, 13, 15, 8]]
    assert numpy.reshape(found, (4, 4)).tolist() == rows


def test_a_zero_of_the_padding_takes_part() -> None:
    """0 * inf is NaN, in the border too."""
    weights = "(fill [2, 2, 1, 1] (1.0 / 0.0))"
    found = value_of("Tensor f32 [1, 4, 4, 1]", f"conv2d 1 {IMAGE} {weights}")
    assert math.isnan(found[0][0][1][0])


def test_pools_take_windows_apart() -> None:
    image = "(reshape [1, 2, 4, 1] (cast f32 (positions 8)))"
    assert value_of("Tensor f32 [1, 1, 2, 1]", f"maxPool 2 {image}") == [[[[5], [7]]]]
    assert value_of("Tensor f32 [1, 1, 2, 1]", f"meanPool 2 {image}") == [[[[2.5], [4.5]]]]


def test_a_pool_s_first_winner_gets_the_gradient() -> None:
    found = value_of(
        "Tensor f32 [1, 2, 2, 1]", "grad (fn x b -> sum (maxPool 2 x)) (fill [1, 2, 2, 1] 3.0) 0.0"
    )
    assert numpy.ravel(found).tolist() == [1, 0, 0, 0]


def test_image_operations_take_narrow_floats() -> None:
    found = value_of("Tensor bf16 [1, 2, 2, 1]", f"conv2d 0 (cast bf16 {IMAGE}) (cast bf16 {ONES})")
    assert numpy.ravel(found).tolist() == [8, 12, 20, 24]


@pytest.mark.parametrize(
    ("type_", "expression", "code"),
    [
        ("Tensor f32 [1, 5, 5, 1]", f"conv2d 2 {IMAGE} {ONES}", "E0423"),
        ("f32", f"sum (conv2d 0 {IMAGE} (fill [4, 4, 1, 1] 1.0))", "E0503"),
        ("Tensor f32 [1, 2, 2, 1]", f"conv2d 0 {IMAGE} (fill [2, 2, 3, 1] 1.0)", "E0412"),
        ("Tensor i32 [1, 2, 2, 1]", f"conv2d 0 (cast i32 {IMAGE}) (fill [2, 2, 1, 1] 1)", "E0404"),
        ("Tensor f32 [1, 1, 1, 1]", f"maxPool 2 {IMAGE}", "E0419"),
        ("Tensor f32 [3, 3]", f"maxPool 1 (reshape [3, 3] {IMAGE})", "E0413"),
    ],
)
def test_images_that_do_not_fit_are_refused(type_: str, expression: str, code: str) -> None:
    assert refusal(type_, expression) == code


# Literals.


def test_a_cast_of_a_literal_has_its_dtype_at_once() -> None:
    assert value_of("Tensor f64 [2]", "fill [2] (cast f64 1.0 / 4)") == [0.25, 0.25]
    assert value_of("Tensor i32 [2]", "fill [2] (2 * cast i32 3 - 1)") == [5, 5]


# Tensor cores.

TENSOR_CORES = {
    "matmulTensorCoreBf16": Dtype.BF16,
    "matmulTensorCoreF16": Dtype.F16,
    "matmulTensorCoreTf32": Dtype.F32,
}


def product(operation: str) -> str:
    dtype = TENSOR_CORES[operation].value
    a, b = (f"(fill {shape} (cast {dtype} 1.5))" for shape in ("[2, 3]", "[3, 4]"))
    return f"{operation} {a} {b}"


@pytest.mark.parametrize("operation", TENSOR_CORES)
def test_a_host_has_no_tensor_cores(operation: str) -> None:
    assert refusal("Tensor f32 [2, 4]", product(operation)) == "T0404"


def test_tensor_cores_have_no_gradient() -> None:
    loss = "fn a b -> sum (matmulTensorCoreTf32 a b)"
    expression = f"grad ({loss}) (fill [2, 3] 1.0) (fill [3, 4] 1.0)"
    assert refusal("Tensor f32 [2, 3]", expression) == "E0611"


@pytest.mark.parametrize("operation", TENSOR_CORES)
@settings(max_examples=20, deadline=None)
@given(length=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_the_reference_lies_in_the_interval(operation: str, length: int, seed: int) -> None:
    builder = Builder()
    dtype = TENSOR_CORES[operation]
    a = builder.input("a", TensorType(dtype, (2, length)))
    b = builder.input("b", TensorType(dtype, (length, 3)))
    graph = builder.graph("one", [("y", builder.apply(operation, (a, b)))])
    inputs = inputs_of(graph, seed)
    found = evaluate(read_graph(to_text(graph)), inputs)["y"]
    for i, j in numpy.ndindex(found.shape):
        terms = [
            _read(operation, x) * _read(operation, y)
            for x, y in zip(inputs["a"][i], inputs["b"][:, j], strict=True)
        ]
        bound = length * Fraction(1, 2**23) * sum(map(abs, terms))
        assert abs(Fraction(float(found[i, j])) - sum(terms)) <= bound


def _read(operation: str, x: numpy.float32) -> Fraction:
    """What a tensor core reads of an element: all of it, or 10 fraction bits, ties away from zero."""
    exact = Fraction(float(x))
    if operation != "matmulTensorCoreTf32" or exact == 0:
        return exact
    unit = Fraction(2) ** (math.frexp(float(x))[1] - 11)
    steps = math.floor(abs(exact) / unit + Fraction(1, 2))
    return steps * unit * (1 if exact > 0 else -1)
