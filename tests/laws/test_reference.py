"""The numerics law: two implementations that share no code give equal bits, and passes change none."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype
from alpha.graph import ieee, scalar
from alpha.graph import philox as exact_philox
from alpha.graph.node import Graph
from alpha.graph.ops import TABLE
from alpha.graph.passes import PASSES, optimise, run
from alpha.graph.passes.drop_dead import DROP_DEAD
from alpha.graph.passes.expand import EXPAND
from alpha.graph.passes.merge_equal import MERGE_EQUAL
from alpha.graph.passes.move_nothing import MOVE_NOTHING
from alpha.graph.text import parse, to_text
from laws.graphs import OPERATIONS, STORAGE, applications, graphs, inputs_of, narrowed, same_bits
from semantics import elementwise, numerics, order, philox
from semantics.evaluate import evaluate
from semantics.graph import read_graph

FLOATS = st.floats(width=32) | st.integers(0, 2**32 - 1).map(
    lambda bits: float(numpy.uint32(bits).view(numpy.float32))
)


def reference(graph: Graph, inputs: dict[str, Any]) -> dict[str, Any]:
    return evaluate(read_graph(to_text(graph)), inputs)


# Scalars against arrays.

SCALAR_OPERATIONS = [
    name
    for name, row in TABLE.items()
    if row.elementwise and name not in ("select", "cast", "and", "or", "not")
]
LEAST_OPERANDS = {"fma": 3, "pow": 1, "powStep": 1, "floorDiv": 1, "rem": 1}


def operands_of(name: str) -> int:
    if name in LEAST_OPERANDS:
        return LEAST_OPERANDS[name]
    binary = ("add", "sub", "mul", "div", "maximum", "minimum")
    comparisons = ("equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual")
    return 2 if name in binary + comparisons else 1


def on_arrays(name: str, operands: list[Any], attributes: dict[str, Any]) -> Any:
    with numpy.errstate(all="ignore"):
        if name == "pow":
            return numerics.power(operands[0], attributes["exponent"])
        if name in ("floorDiv", "rem"):
            divide = elementwise.floor_divide if name == "floorDiv" else elementwise.remainder
            return divide(operands[0], attributes["by"])
        table = {**elementwise.ARITHMETIC, **elementwise.COMPARISONS}
        return table[name](*operands)


@pytest.mark.parametrize(
    "name", [name for name in SCALAR_OPERATIONS if name not in ("floorDiv", "rem")]
)
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_folded_f32_scalar_has_the_bits_of_the_array(name: str, data: st.DataObject) -> None:
    values = [data.draw(FLOATS) for _ in range(operands_of(name))]
    arrays: list[Any] = [numpy.array([value], dtype=numpy.float32) for value in values]
    scalars: list[Any] = list(values)
    attributes: dict[str, Any] = {}
    if name == "pow":
        attributes["exponent"] = data.draw(st.integers(-70, 70))
    if name == "powStep":
        scalars.append(data.draw(st.integers(0, 2**32 - 1)))
        arrays.append(numpy.uint32(scalars[-1]))
    found = scalar.evaluate(name, scalars, attributes, Dtype.F32)
    expected = numpy.asarray(on_arrays(name, arrays, attributes))[0]
    assert same_bits(expected, expected.dtype.type(found)), (values, attributes, found, expected)


@pytest.mark.parametrize("dtype", [Dtype.I32, Dtype.U32, Dtype.U8, Dtype.I64])
@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "neg", "abs", "maximum", "minimum", "floorDiv", "rem", "less"]
)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_folded_integer_wraps_like_the_array(
    name: str, dtype: Dtype, data: st.DataObject
) -> None:
    limits = numpy.iinfo(STORAGE[dtype])
    number = st.integers(int(limits.min), int(limits.max))
    values = [data.draw(number) for _ in range(operands_of(name))]
    attributes: dict[str, Any] = {}
    if name in ("floorDiv", "rem"):
        attributes["by"] = data.draw(number.filter(bool))
    arrays = [numpy.array([value], dtype=STORAGE[dtype]) for value in values]
    found = scalar.evaluate(name, values, attributes, dtype)
    expected = on_arrays(name, arrays, attributes)[0]
    assert int(expected) == int(found), (values, attributes)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_a_folded_cast_has_the_bits_of_the_array(data: st.DataObject) -> None:
    kinds = list(Dtype)
    source, target = (
        data.draw(st.sampled_from(kinds)),
        data.draw(st.sampled_from(kinds).filter(lambda d: d is not Dtype.BOOL)),
    )
    value: Any
    if source is Dtype.BOOL:
        value = data.draw(st.booleans())
    elif source.is_float:
        value = ieee.nearest(data.draw(st.floats() | FLOATS), source)
    else:
        limits = numpy.iinfo(STORAGE[source])
        value = data.draw(st.integers(int(limits.min), int(limits.max)))
    array = numpy.array([value], dtype=STORAGE[source])
    with numpy.errstate(all="ignore"):
        expected = elementwise.cast(array, source.value, target.value)[0]
    found = scalar.evaluate("cast", [value], {"dtype": target.value}, source)
    assert same_bits(expected, expected.dtype.type(found)), (value, source, target, expected, found)


@pytest.mark.parametrize("dtype", [Dtype.BF16, Dtype.F16])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_narrow_floats_compute_in_f32_and_round_once(dtype: Dtype, data: st.DataObject) -> None:
    name = data.draw(
        st.sampled_from(
            [
                name
                for name in SCALAR_OPERATIONS
                if name not in ("floorDiv", "rem", "powStep", "pow")
            ]
        )
    )
    raw = numpy.array([[data.draw(FLOATS)] for _ in range(operands_of(name))], dtype=numpy.float32)
    arrays = list(narrowed(dtype, raw))
    found = scalar.evaluate(name, [float(array[0]) for array in arrays], {}, dtype)
    with numpy.errstate(all="ignore"):
        expected = numerics.narrow(dtype.value, on_arrays(name, arrays, {}))[0]
    assert same_bits(expected, expected.dtype.type(found)), (name, arrays)


# Exact fused multiplication and addition.


@pytest.mark.slow
@settings(max_examples=800, deadline=None)
@given(FLOATS, FLOATS, FLOATS, st.integers(-3, 3))
def test_fma_rounds_the_exact_value_once(a: float, b: float, c: float, near: int) -> None:
    with numpy.errstate(all="ignore"):
        product = numpy.float32(a) * numpy.float32(b)
        # Addends next to -a * b cancel and make the hard cases.
        close = (-product).view(numpy.int32) + numpy.int32(near)
    for addend in (c, float(numpy.int32(close).view(numpy.float32))):
        if not all(map(math.isfinite, (a, b, addend))):
            continue
        exact = Fraction(a) * Fraction(b) + Fraction(addend)
        with numpy.errstate(all="ignore"):
            found = numerics.fma(
                *(numpy.array([value], numpy.float32) for value in (a, b, addend))
            )[0]
        if exact:
            assert float(found) == ieee.nearest(exact, Dtype.F32), (a, b, addend)
        else:
            assert same_bits(found, numpy.float32(a * b + addend))


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        ("0x1.fffffep+0", "0x1.000002p+0", "0x1p-60"),
        ("0x1.000002p+0", "0x1.000002p+0", "-0x1p-100"),
        ("0x1.8p+0", "0x1.000002p+0", "0x1p-60"),
        ("0x1.8p+0", "0x1.000002p+0", "-0x1p-60"),
        ("-0x1.8p+0", "0x1.000002p+0", "0x1p-60"),
        ("0x1.8p+12", "0x1.000002p+11", "0x1.000002p+0"),
        ("0x1p-126", "0x1p-24", "0x1p-149"),
        ("0x1p-75", "0x1p-75", "0x1.8p-149"),
        ("0x1p-75", "-0x1p-75", "0x1.000002p-126"),
        ("0x1.fffffep+127", "0x1p+0", "0x1p+102"),
        ("0x1.fffffep+127", "0x1p+0", "0x1.fffffep+102"),
        ("0x1.000002p+0", "0x1.000002p+0", "-0x1.000004p+0"),
    ],
)
def test_fma_at_ties_and_edges(a: str, b: str, c: str) -> None:
    values = [float.fromhex(text) for text in (a, b, c)]
    exact = Fraction(values[0]) * Fraction(values[1]) + Fraction(values[2])
    with numpy.errstate(all="ignore"):
        found = numerics.fma(*(numpy.array([value], numpy.float32) for value in values))[0]
    assert float(found) == ieee.nearest(exact, Dtype.F32) == ieee.fused(*values, Dtype.F32)


@settings(max_examples=200, deadline=None)
@given(st.floats(), st.floats(), st.floats())
def test_f64_fma_agrees(a: float, b: float, c: float) -> None:
    found = numerics.fma(*(numpy.array([value], numpy.float64) for value in (a, b, c)))[0]
    assert same_bits(found, numpy.float64(ieee.fused(a, b, c, Dtype.F64)))


# Elementary functions: the error the specification prints, on a dense sample.

ERRORS = {
    "exp": 0.88,
    "log": 0.84,
    "tanh": 1.33,
    "sigmoid": 2.41,
    "erf": 1.16,
    "sin": 1.58,
    "cos": 1.57,
    "rsqrt": 1.50,
}
EXACT = {
    "exp": numpy.exp,
    "log": numpy.log,
    "tanh": numpy.tanh,
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "erf": lambda x: numpy.frompyfunc(math.erf, 1, 1)(x).astype(numpy.float64),
    "sin": numpy.sin,
    "cos": numpy.cos,
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
}


def samples(name: str) -> Any:
    generator = numpy.random.default_rng(7)
    bits = generator.integers(0, 2**32, 60_000, dtype=numpy.uint32).view(numpy.float32)
    near = generator.normal(0, 20, 60_000).astype(numpy.float32)
    values = numpy.concatenate([bits, near, near / 20, near / 1000])
    values = values[numpy.isfinite(values)]
    if name in ("log", "rsqrt"):
        values = values[values > 0]
    if name in ("sin", "cos"):
        values = values[numpy.abs(values) <= 65536]
    return values


@pytest.mark.parametrize("name", ERRORS)
def test_elementary_functions_keep_their_printed_error(name: str) -> None:
    x = samples(name)
    with numpy.errstate(all="ignore"):
        found = numerics.ELEMENTARY[name](x).astype(numpy.float64)
        exact = EXACT[name](x.astype(numpy.float64))
        normal = (numpy.abs(exact) >= 2.0**-126) & (numpy.abs(exact) < 2.0**128)
        unit = 2.0 ** (numpy.floor(numpy.log2(numpy.abs(exact[normal]))) - 23)
        error = numpy.abs(found[normal] - exact[normal]) / unit
    assert error.max() <= ERRORS[name] + 1e-6


def test_elementary_functions_at_their_edges() -> None:
    x = numpy.array([math.nan, math.inf, -math.inf, 0.0, -0.0], dtype=numpy.float32)
    expected = {
        "exp": [math.nan, math.inf, 0.0, 1.0, 1.0],
        "log": [math.nan, math.inf, math.nan, -math.inf, -math.inf],
        "tanh": [math.nan, 1.0, -1.0, 0.0, 0.0],
        "sigmoid": [math.nan, 1.0, 0.0, 0.5, 0.5],
        "erf": [math.nan, 1.0, -1.0, 0.0, -0.0],
        "sin": [math.nan, math.nan, math.nan, 0.0, 0.0],
        "cos": [math.nan, math.nan, math.nan, 1.0, 1.0],
        "rsqrt": [math.nan, 0.0, math.nan, math.inf, -math.inf],
    }
    with numpy.errstate(all="ignore"):
        for name, values in expected.items():
            found = numerics.ELEMENTARY[name](x)
            assert same_bits(found, numpy.array(values, dtype=numpy.float32)), name


# Sums and contractions, element by element.


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_a_sum_is_sixteen_lanes_and_a_tree(count: int, seed: int) -> None:
    x = numpy.random.default_rng(seed).normal(0, 1e4, count).astype(numpy.float32)
    lanes = list(x[:16])
    for place in range(16, count):
        lanes[place % 16] = lanes[place % 16] + x[place]
    for half in (8, 4, 2, 1):
        for lane in range(half):
            if lane + half < min(count, 16):
                lanes[lane] = lanes[lane] + lanes[lane + half]
    assert same_bits(numerics.lane_sum(x, (0,)), lanes[0])


def test_a_sum_over_several_axes_runs_row_major_in_the_operands_order() -> None:
    x = numpy.random.default_rng(3).normal(0, 1e4, (5, 3, 7)).astype(numpy.float32)
    moved = numpy.ascontiguousarray(numpy.transpose(x, (1, 0, 2))).reshape(3, 35)
    expected = numpy.array([numerics.lane_sum(row, (0,)) for row in moved])
    assert same_bits(numerics.lane_sum(x, (0, 2)), expected)


def test_a_contraction_is_one_chain_over_letters_in_order_of_appearance() -> None:
    generator = numpy.random.default_rng(5)
    a = generator.normal(0, 100, (3, 4, 2)).astype(numpy.float32)
    b = generator.normal(0, 100, (2, 5, 3)).astype(numpy.float32)
    found = numerics.contraction(a, b, "kij", "jlk", "li")
    for place in range(5):
        for i in range(4):
            total = 0.0
            for k in range(3):
                for j in range(2):
                    total = ieee.fused(float(a[k, i, j]), float(b[j, place, k]), total, Dtype.F32)
            assert same_bits(found[place, i], numpy.float32(total))


def test_extremes_order_zeros_and_keep_nan() -> None:
    text = 'graph g\n  %0 = input {{name = "x"}} : f32[4]\n  %1 = {name} %0 {{{key}}} : {type}\n  output y = %1\n'
    rows = {
        (0.0, -0.0, -1.0, -2.0): (0.0, 0, -2.0, 3),
        (-0.0, 0.0, -0.0, 5.0): (5.0, 3, -0.0, 0),
        (-0.0, 0.0, -0.0, 0.0): (0.0, 1, -0.0, 0),
        (1.0, math.nan, math.inf, math.nan): (math.nan, 1, math.nan, 1),
    }
    for values, (largest, last, smallest, first) in rows.items():
        x = {"x": numpy.array(values, numpy.float32)}
        for name, expected in (("max", largest), ("min", smallest)):
            graph = parse(text.format(name=name, key="axes = [0]", type="f32[]"))
            assert same_bits(reference(graph, x)["y"], numpy.float32(expected)), (name, values)
        for name, expected in (("argmax", last), ("argmin", first)):
            graph = parse(text.format(name=name, key="axis = 0", type="index<4>[]"))
            assert reference(graph, x)["y"] == expected, (name, values)


def test_a_fully_masked_row_is_zero() -> None:
    text = 'graph g\n  %0 = input {name = "x"} : f32[2, 3]\n  %1 = softmax %0 {axis = 1} : f32[2, 3]\n  output y = %1\n'
    x = {"x": numpy.array([[-math.inf] * 3, [-math.inf, 0.0, 0.0]], numpy.float32)}
    found = reference(parse(text), x)["y"]
    assert found.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5]]


# Passes.


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(graphs(), st.integers(0, 2**32 - 1))
def test_no_pass_changes_a_bit(graph: Graph, seed: int) -> None:
    inputs = inputs_of(graph, seed, specials=True)
    before = reference(graph, inputs)
    for pass_ in PASSES:
        graph = run(pass_, graph)
        after = reference(graph, inputs)
        assert list(after) == list(before)
        for name, value in before.items():
            assert same_bits(value, after[name]), (pass_.name, name)


@pytest.mark.parametrize("dtype", [Dtype.F32, Dtype.BF16, Dtype.F16], ids=str)
@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=5, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_every_operation_means_its_primitives(
    operation: str, dtype: Dtype, data: st.DataObject, seed: int
) -> None:
    graph = data.draw(applications(operation, dtype))
    inputs = inputs_of(graph, seed, specials=True)
    before, after = reference(graph, inputs), reference(optimise(graph), inputs)
    assert same_bits(before["y"], after["y"])


def fires(name: str, text: str) -> tuple[int, int]:
    graph = parse(text)
    pass_ = {item.name: item for item in (EXPAND, MERGE_EQUAL, MOVE_NOTHING, DROP_DEAD)}[name]
    return len(list(graph.nodes())), len(list(run(pass_, graph).nodes()))


def test_equal_nodes_merge_but_not_zeros_of_two_signs() -> None:
    head, tail = "graph g\n", "  output a = %0\n  output b = %1\n"
    positions = "positions {count = 2} : index<2>[2]\n"
    assert fires("merge_equal", f"{head}  %0 = {positions}  %1 = {positions}{tail}") == (2, 1)
    zeros = (
        "  %0 = constant {value = 0x0.0p+0} : f32[]\n  %1 = constant {value = -0x0.0p+0} : f32[]\n"
    )
    assert fires("merge_equal", head + zeros + tail) == (2, 2)


@pytest.mark.parametrize(
    "move",
    [
        "%1 = reshape %0 {shape = [2, 3]} : f32[2, 3]",
        "%1 = transpose %0 {order = [0, 1]} : f32[2, 3]",
        "%1 = slice %0 {high = [2, 3], low = [0, 0]} : f32[2, 3]",
        "%1 = pad %0 {axis = 0, high = 0, low = 0} : f32[2, 3]",
        "%1 = concat %0 {axis = 0} : f32[2, 3]",
        "%1 = broadcast %0 {shape = [2, 3]} : f32[2, 3]",
        '%1 = cast %0 {dtype = "f32"} : f32[2, 3]',
    ],
)
def test_a_movement_that_moves_nothing_disappears(move: str) -> None:
    text = f'graph g\n  %0 = input {{name = "x"}} : f32[2, 3]\n  {move}\n  output y = %1\n'
    assert fires("move_nothing", text) == (2, 1)


def test_two_movements_become_one_or_none() -> None:
    head = 'graph g\n  %0 = input {name = "x"} : f32[2, 3]\n'
    twice = "  %1 = transpose %0 {order = [1, 0]} : f32[3, 2]\n  %2 = transpose %1 {order = [1, 0]} : f32[2, 3]\n"
    assert fires("move_nothing", head + twice + "  output y = %2\n") == (3, 1)
    shapes = (
        "  %1 = reshape %0 {shape = [6]} : f32[6]\n  %2 = reshape %1 {shape = [3, 2]} : f32[3, 2]\n"
    )
    assert fires("move_nothing", head + shapes + "  output y = %2\n") == (3, 2)


def test_transposes_compose_in_their_order() -> None:
    text = (
        'graph g\n  %0 = input {name = "x"} : f32[2, 3, 4]\n'
        "  %1 = transpose %0 {order = [1, 2, 0]} : f32[3, 4, 2]\n"
        "  %2 = transpose %1 {order = [1, 0, 2]} : f32[4, 3, 2]\n  output y = %2\n"
    )
    x = {"x": numpy.arange(24, dtype=numpy.float32).reshape(2, 3, 4)}
    after = run(MOVE_NOTHING, parse(text))
    assert len(list(after.nodes())) == 2
    assert same_bits(reference(after, x)["y"], reference(parse(text), x)["y"])


# Randomness.


def test_philox_known_answers() -> None:
    answers = {
        ((0, 0, 0, 0), (0, 0)): (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2): (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)): (
            0xD16CFE09,
            0x94FDCCEB,
            0x5001E420,
            0x24126EA1,
        ),
    }
    for (counter, key), words in answers.items():
        assert exact_philox.philox(counter, key) == words  # type: ignore[arg-type]
        assert tuple(int(word) for word in philox.philox(*counter, key)) == words


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**64 - 1),
    st.integers(1, 2**32 - 1),
    st.text(min_size=1),
    st.integers(0, 7),
    st.integers(0, 2**64 - 1),
)
def test_keys_agree(seed: int, step: int, path: str, tag: int, index: int) -> None:
    assert exact_philox.root(seed) == philox.root(seed)
    assert exact_philox.initialiser_key(seed, path) == philox.initialiser_key(seed, path)
    key = philox.step_key(seed, step)
    assert (*exact_philox.child(exact_philox.root(seed), 5, 0)[:2], step) == key
    assert exact_philox.child(key, tag, index) == philox.child(key, tag, index)


def test_uniform_draws_are_the_words_of_their_blocks() -> None:
    key = philox.step_key(9, 4)
    found = philox.uniform(key, (3, 3)).reshape(-1)
    for element in range(9):
        word = exact_philox.words(key, element // 4)[element % 4]
        assert float(found[element]) == (word >> 8) * 2.0**-24


def test_normal_draws_pair_the_words() -> None:
    key = philox.step_key(9, 4)
    found = philox.normal(key, (7,))

    def do(name: str, *values: float) -> float:
        return float(scalar.evaluate(name, values, {}, Dtype.F32))

    for element in range(7):
        words = exact_philox.words(key, element // 4)
        first, second = words[element % 4 & ~1], words[element % 4 | 1]
        rho = do("sqrt", do("mul", -2.0, do("log", ((first >> 8) + 1) * 2.0**-24)))
        phi = do("mul", (second >> 8) * 2.0**-24, ieee.nearest(6.2831855, Dtype.F32))
        expected = do("mul", rho, do("sin" if element % 2 else "cos", phi))
        assert same_bits(found[element], numpy.float32(expected))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 50), st.integers(1, 700))
def test_an_epoch_visits_every_example_once(seed: int, epoch: int, examples: int) -> None:
    places = order.epoch_order(seed, epoch, examples, "EachEpoch")
    assert sorted(places.tolist()) == list(range(examples))


def test_steps_take_batches_in_order_and_leave_the_rest_out() -> None:
    first = order.epoch_order(1, 0, 10, "EachEpoch")
    second = order.epoch_order(1, 1, 10, "EachEpoch")
    assert order.batch_rows(1, 1, 4, 10, "EachEpoch").tolist() == first[:4].tolist()
    assert order.batch_rows(1, 2, 4, 10, "EachEpoch").tolist() == first[4:8].tolist()
    assert order.batch_rows(1, 3, 4, 10, "EachEpoch").tolist() == second[:4].tolist()
    assert order.batch_rows(1, 3, 4, 10, "InOrder").tolist() == [0, 1, 2, 3]
