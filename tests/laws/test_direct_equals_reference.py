"""The direct templates give the reference's bits: every operation, every size around the 16 lanes, any number of parts.

Those of hosts run on this machine; those of devices run as PTX on the checked model of sm_86, in any order of blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from alpha.graph.text import parse, to_text
from alpha.kernel.direct import site
from device_runner import DeviceRunner
from kernel_runner import Runner
from laws.graphs import (
    BINARY,
    COMPARISONS,
    OPERATIONS,
    STORAGE,
    UNARY,
    applications,
    graphs,
    inputs_of,
    same_bits,
)
from laws.wide_graphs import wide
from semantics.evaluate import evaluate
from semantics.graph import read_graph

Array = Any
MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))


Lane = Runner | DeviceRunner
LANES: tuple[type[Lane], ...] = (Runner, DeviceRunner)


@pytest.fixture(scope="module", params=LANES, ids=["host", "device"])
def runner(request: pytest.FixtureRequest) -> Iterator[Lane]:
    runner: Lane = request.param()
    yield runner
    runner.close()


@pytest.fixture(autouse=True)
def every_kernel_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small graphs take the parallel form of each template, too."""
    monkeypatch.setattr(site, "PARALLEL_WORK", 1)


def agree(runner: Lane, graph: Graph, inputs: Mapping[str, Array], parts: int = 1) -> None:
    """With `parts` the order of blocks on a device changes, too."""
    expected = evaluate(read_graph(to_text(graph)), inputs)
    found = runner.run(graph, inputs, parts)
    assert list(found) == list(expected)
    for name, value in expected.items():
        assert same_bits(numpy.asarray(value), found[name]), (name, to_text(graph), parts)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(MANY, max_examples=6)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), parts=st.integers(1, 3))
def test_every_operation(
    runner: Lane, operation: str, data: st.DataObject, seed: int, parts: int
) -> None:
    graph = data.draw(wide(operation, Dtype.F32))
    agree(runner, graph, inputs_of(graph, seed, specials=True), parts)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [Dtype.BF16, Dtype.F16], ids=str)
@settings(MANY, max_examples=40)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_narrow_floats(runner: Lane, dtype: Dtype, data: st.DataObject, seed: int) -> None:
    operation = data.draw(st.sampled_from(OPERATIONS))
    graph = data.draw(applications(operation, dtype))
    agree(runner, graph, inputs_of(graph, seed, specials=True))


INTEGER = ("add", "sub", "mul", "maximum", "minimum", "sum", "max", "min", "argmax", "argmin")
SIGNED = ("neg", "abs")
WIDE_FLOAT = ("add", "mul", "div", "fma", "sqrt", "floor", "round", "pow", "relu", "sign", "sum")


@pytest.mark.parametrize(
    ("dtype", "operations"),
    [
        (Dtype.I32, (*INTEGER, *SIGNED, *COMPARISONS)),
        (Dtype.I64, (*INTEGER, *SIGNED, *COMPARISONS)),
        (Dtype.U32, (*INTEGER, *COMPARISONS)),
        (Dtype.U8, (*INTEGER, *COMPARISONS)),
        (Dtype.F64, (*WIDE_FLOAT, *COMPARISONS, "maximum", "max", "argmin", "contract", "neg")),
    ],
    ids=str,
)
@settings(MANY, max_examples=50)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_other_dtypes(
    runner: Lane, dtype: Dtype, operations: tuple[str, ...], data: st.DataObject, seed: int
) -> None:
    graph = data.draw(wide(data.draw(st.sampled_from(operations)), dtype))
    agree(runner, graph, inputs_of(graph, seed, specials=True))


@pytest.mark.slow
@settings(MANY, max_examples=40)
@given(graph=graphs(), seed=st.integers(0, 2**32 - 1), parts=st.integers(1, 3))
def test_whole_graphs(runner: Lane, graph: Graph, seed: int, parts: int) -> None:
    agree(runner, graph, inputs_of(graph, seed, specials=True), parts)


def one(operation: str, *types: TensorType, **attributes: Any) -> Graph:
    """A graph of one operation on inputs a, b, c ..."""
    builder = Builder()
    inputs = [builder.input(name, type_) for name, type_ in zip("abcd", types, strict=False)]
    return builder.graph("one", [("y", builder.apply(operation, inputs, **attributes))])


@pytest.mark.parametrize("count", [*range(1, 36), 47, 48, 49, 100, 257])
def test_sums_of_rows_and_columns(runner: Lane, count: int) -> None:
    for shape, axes in (
        ((count,), (0,)),
        ((3, count), (1,)),
        ((count, 19), (0,)),
        ((2, count, 17), (1,)),
        ((2, count, 3), (0, 2)),
    ):
        graph = one("sum", TensorType(Dtype.F32, shape), axes=axes)
        values = numpy.random.default_rng(count).normal(0, 1e3, shape).astype(numpy.float32)
        agree(runner, graph, {"a": values}, 2)


@pytest.mark.parametrize("columns", [1, 2, 10, 15, 16, 17, 63, 64, 65, 81, 130])
def test_contractions_around_a_pass(runner: Lane, columns: int) -> None:
    values = numpy.random.default_rng(columns)
    sizes = {"i": 5, "j": columns, "k": 33}
    for left, right, result in (
        ("ik", "kj", "ij"),
        ("ki", "kj", "ij"),
        ("ij", "kj", "ik"),
        ("kj", "k", "j"),
        ("k", "kj", "j"),
        ("jk", "k", "j"),
        ("i", "j", "ij"),
        ("ij", "ij", ""),
        ("ij", "j", "ji"),
    ):
        shapes = [tuple(sizes[letter] for letter in letters) for letters in (left, right)]
        types = [TensorType(Dtype.F32, shape) for shape in shapes]
        graph = one("contract", *types, left=left, right=right, result=result)
        arrays = [values.normal(0, 10, shape).astype(numpy.float32) for shape in shapes]
        agree(runner, graph, dict(zip("ab", arrays, strict=True)), 3)


@pytest.mark.parametrize("operation", UNARY)
def test_functions_on_many_numbers(runner: Lane, operation: str) -> None:
    """Bits drawn evenly, numbers near zero, and numbers around the limits of the formulas."""
    generator = numpy.random.default_rng(11)
    bits = generator.integers(0, 2**32, 8_000, dtype=numpy.uint32).view(numpy.float32)
    near = generator.normal(0, 20, 4_000).astype(numpy.float32)
    limits = numpy.array(
        [0.65, 0.92, 4, 89, -87.336, 65536, 1.1754944e-38, 0.70710677, 1.5, 2.5, -0.5],
        numpy.float32,
    )
    around = (limits.view(numpy.int32)[:, None] + numpy.arange(-8, 9, dtype=numpy.int32)).ravel()
    x = numpy.concatenate([bits, near, near / 100, around.view(numpy.float32)])
    agree(runner, one(operation, TensorType(Dtype.F32, x.shape)), {"a": x}, 2)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.5, float("inf"), -float("inf"), float("nan")])
def test_functions_of_a_known_number(runner: Lane, value: float) -> None:
    builder = Builder()
    number = builder.constant(value, Dtype.F32)
    outputs = [(name, builder.apply(name, (number,))) for name in UNARY]
    for dtype in ("i32", "u8", "bf16", "f64"):
        outputs.append((dtype, builder.apply("cast", (number,), dtype=dtype)))
    for exponent in (-5, -1, 0, 1, 2, 3, 7, 12):
        outputs.append((f"pow.{exponent}", builder.apply("pow", (number,), exponent=exponent)))
    step_number = builder.input("n", TensorType(Dtype.U32, ()))
    outputs.append(("powStep", builder.apply("powStep", (number, step_number))))
    other = builder.constant(-3.0, Dtype.F32)
    for name in (*BINARY, *COMPARISONS):
        outputs.append((name, builder.apply(name, (number, other))))
    agree(runner, builder.graph("known", outputs), {"n": numpy.uint32(11)})


@pytest.mark.parametrize("value", [0, 1, -1, 7, -7, 2**31 - 1, -(2**31)])
def test_functions_of_a_known_integer(runner: Lane, value: int) -> None:
    builder = Builder()
    number = builder.constant(value, Dtype.I32)
    other = builder.constant(-3, Dtype.I32)
    outputs = [(name, builder.apply(name, (number,))) for name in ("neg", "abs")]
    for name in ("add", "sub", "mul", "maximum", "minimum", *COMPARISONS):
        outputs.append((name, builder.apply(name, (number, other))))
    for by in (-1, 1, 3, -3):
        for name in ("floorDiv", "rem"):
            outputs.append((f"{name}.{by}", builder.apply(name, (number,), by=by)))
    for dtype in ("f32", "f16", "bf16", "u8", "i64"):
        outputs.append((dtype, builder.apply("cast", (number,), dtype=dtype)))
    agree(runner, builder.graph("known", outputs), {})


@pytest.mark.parametrize("operation", BINARY)
def test_pairs_of_many_numbers(runner: Lane, operation: str) -> None:
    generator = numpy.random.default_rng(12)
    a, b = generator.integers(0, 2**32, (2, 6_000), dtype=numpy.uint32).view(numpy.float32)
    type_ = TensorType(Dtype.F32, a.shape)
    agree(runner, one(operation, type_, type_), {"a": a, "b": b})


CASTABLE = tuple(dtype for dtype in Dtype if dtype is not Dtype.BOOL)


@pytest.mark.parametrize("source", Dtype, ids=str)
def test_casts_between_all_dtypes(runner: Lane, source: Dtype) -> None:
    """At zeros, infinities, NaN, halfway cases, and both ends of every integer type."""
    if source.is_float:
        edges = [0.0, -0.0, 1.5, 2.5, -0.5, 254.9, 255.5, -1.0, 2.0**31, -(2.0**31), 2.0**32]
        edges += [2.0**63, -(2.0**63), 2.0**63 - 1024, 65504.0, 65519.0, 65520.0, 3.4e38, 1e-45]
        edges += [float("nan"), float("inf"), -float("inf"), 1.00390625, 1.01171875, 5.9e-8]
        if source is Dtype.F64:
            edges += [1.00390625 + 2.0**-40, 1.00048828125 + 2.0**-45, 3.5e38, 1e-46, 1e308]
        values: Array = numpy.array(edges, numpy.float64)
        if source is not Dtype.F64:
            with numpy.errstate(over="ignore"):
                kind = numpy.float16 if source is Dtype.F16 else numpy.float32
                values = values.astype(kind).astype(numpy.float32)
        if source is Dtype.BF16:
            values = (values.view(numpy.uint32) & 0xFFFF0000).astype(numpy.uint32)
            values = values.view(numpy.float32)
    elif source is Dtype.BOOL:
        values = numpy.array([True, False] * 12)
    else:
        limits = numpy.iinfo(STORAGE[source])
        found = {0, 1, 2, 127, 128, 255, 256, 257, 65519, 65520, 16_777_217, 16_777_219}
        found |= {limits.max, limits.max - 1, limits.min, limits.min + 1, limits.max // 2 + 1}
        found |= {(1 << 53) + 1, (1 << 54) + 2, (1 << 60) + (1 << 52), -(1 << 60) - (1 << 52) - 1}
        found |= {(1 << 62) + (1 << 54) + 1, -1, -257}
        kept = sorted(value for value in found if limits.min <= value <= limits.max)
        values = numpy.array(kept, STORAGE[source])
    builder = Builder()
    x = builder.input("x", TensorType(source, values.shape))
    outputs = [
        (target.value, builder.apply("cast", (x,), dtype=target.value)) for target in CASTABLE
    ]
    agree(runner, builder.graph("casts", outputs), {"x": values})


DIVISORS = (1, -1, 2, 3, -3, 7, 255, 256, 2**31 - 1, -(2**31), 2**31, 2**40)


@pytest.mark.parametrize(
    ("dtype", "by"),
    [
        (dtype, by)
        for dtype in (Dtype.I32, Dtype.I64, Dtype.U32, Dtype.U8)
        for by in DIVISORS
        # The reference divides by numbers of the dtype only.
        if numpy.iinfo(STORAGE[dtype]).min <= by <= numpy.iinfo(STORAGE[dtype]).max
    ],
    ids=str,
)
def test_floor_division_at_the_ends_of_integers(runner: Lane, dtype: Dtype, by: int) -> None:
    limits = numpy.iinfo(STORAGE[dtype])
    drawn = numpy.random.default_rng(1).integers(limits.min, limits.max, 30, STORAGE[dtype])
    ends = numpy.array([limits.min, limits.min + 1, 0, 1, limits.max - 1, limits.max])
    values = numpy.concatenate([drawn, ends.astype(STORAGE[dtype])])
    for operation in ("floorDiv", "rem"):
        agree(runner, one(operation, TensorType(dtype, values.shape), by=by), {"a": values})


def test_extremes_order_zeros_and_keep_nan(runner: Lane) -> None:
    nan = float("nan")
    rows = [[0.0, -0.0, -1.0], [-0.0, 0.0, -0.0], [1.0, nan, float("inf")], [nan, nan, 0.0]]
    values = numpy.array(rows, numpy.float32)
    for operation, key in (
        ("max", "axes"),
        ("min", "axes"),
        ("argmax", "axis"),
        ("argmin", "axis"),
    ):
        for axis in (0, 1):
            chosen: Any = (axis,) if key == "axes" else axis
            graph = one(operation, TensorType(Dtype.F32, values.shape), **{key: chosen})
            agree(runner, graph, {"a": values})


@pytest.mark.parametrize("shape", [(1,), (5,), (16,), (63,), (3, 27)])
def test_draws_are_the_words_of_their_blocks(runner: Lane, shape: tuple[int, ...]) -> None:
    key = numpy.array([3, 2**32 - 1, 12], numpy.uint32)
    for operation in ("uniform", "normal"):
        graph = one(operation, TensorType(Dtype.U32, (3,)), shape=shape)
        agree(runner, graph, {"a": key}, 3)


def test_views_are_read_through(runner: Lane) -> None:
    """A broadcast or reshape makes no kernel of its own below arithmetic, and is written out elsewhere."""
    text = """graph views
  %0 = input {name = "x"} : f32[6]
  %1 = broadcast %0 {shape = [4, 6]} : f32[4, 6]
  %2 = reshape %1 {shape = [8, 3]} : f32[8, 3]
  %3 = input {name = "y"} : f32[8, 3]
  %4 = mul %2, %3 : f32[8, 3]
  %5 = transpose %2 {order = [1, 0]} : f32[3, 8]
  output product = %4
  output turned = %5
"""
    graph = parse(text)
    generator = numpy.random.default_rng(2)
    inputs = {
        "x": generator.normal(0, 1, 6).astype(numpy.float32),
        "y": generator.normal(0, 1, (8, 3)).astype(numpy.float32),
    }
    agree(runner, graph, inputs, 2)


def test_every_primitive_has_a_template() -> None:
    from alpha.graph.ops import TABLE
    from alpha.kernel.direct import TEMPLATES

    views: set[str] = {"reshape", "broadcast"}
    exact = [row for row in TABLE.values() if row.primitive and not row.leaf and not row.interval]
    lowered = {row.name for row in exact}
    assert lowered == set(TEMPLATES) | views
