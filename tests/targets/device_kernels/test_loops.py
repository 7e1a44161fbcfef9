"""Loops on devices: rows of buffers that move from turn to turn, on the checked model of sm_86."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Loop
from alpha.graph.text import to_text
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.errors import KernelFault
from alpha.kernel.node import QUAD, Buffer, Row, Scalar
from alpha.kernel.verify import verify
from device_runner import DeviceRunner
from laws.graphs import inputs_of, same_bits
from laws.loop_graphs import loop_graphs
from semantics.evaluate import evaluate
from semantics.graph import read_graph

Array = Any
MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
TURNS = 3


def agree(graph: Graph, inputs: Mapping[str, Array], seed: int = 1) -> None:
    expected = evaluate(read_graph(to_text(graph)), inputs)
    found = DeviceRunner().run(graph, inputs, seed)
    for name, value in expected.items():
        assert same_bits(numpy.asarray(value), found[name]), name


@pytest.mark.slow
@settings(MANY, max_examples=25)
@given(graph=loop_graphs(), seed=st.integers(0, 99))
def test_loops_give_the_bits_of_the_reference(graph: Graph, seed: int) -> None:
    agree(graph, inputs_of(graph, seed), seed)


def over_rows(width: int, operation: str, **attributes: Any) -> Graph:
    """h' = h + f(row) for the rows of an input."""
    body = Builder()
    body.input("index", TensorType(Dtype.U32, ()))
    changed = Builder()
    kind = changed.apply(
        operation, (changed.input("row", TensorType(Dtype.F32, (width,))),), **attributes
    ).type
    h = body.input("h", kind)
    row = body.input("row", TensorType(Dtype.F32, (width,)))
    after = body.apply("add", (h, body.apply(operation, (row,), **attributes)))
    turn = body.graph("body", [("h", after), ("kept", after)])
    outer = Builder()
    start = outer.input("start", kind)
    rows = outer.input("rows", TensorType(Dtype.F32, (TURNS, width)))
    last, kept = outer.loop(Loop(TURNS, 1, 1, turn), (start, rows))
    return outer.graph("step", [("last", last), ("kept", kept)])


@pytest.mark.parametrize("width", [8, 9])
@pytest.mark.parametrize(
    ("operation", "attributes"),
    [
        ("slice", {"low": (4,), "high": (8,)}),
        ("repeat", {"axis": 0, "count": 4}),
        ("pad", {"axis": 0, "low": 4, "high": 4}),
        ("neg", {}),
    ],
)
def test_rows_that_begin_anywhere_are_moved(
    width: int, operation: str, attributes: dict[str, Any]
) -> None:
    graph = over_rows(width, operation, **attributes)
    agree(graph, inputs_of(graph, width))


@pytest.mark.parametrize("written", [False, True])
def test_four_elements_are_moved_from_rows_that_begin_at_multiples_of_four(written: bool) -> None:
    def moved(stride: int) -> Any:
        builder = KernelBuilder()
        row = Buffer("x", Scalar.F32, 8, rows=(Row("i", 3, stride),), whole=3 * stride)
        plain = Buffer("y", Scalar.F32, 8)
        source, target = (plain, row) if written else (row, plain)
        origin, number = builder.reads(source), builder.writes(target)
        _, thread = builder.launch(1, 32, 32)
        with builder.below(thread, 2, 31):
            place = builder.scaled(thread, QUAD)
            builder.store(number, place, builder.load(origin, place, QUAD))
        return builder.kernel("k", "copy", 8, False, None)

    verify(moved(12))
    with pytest.raises(KernelFault, match="launched"):
        verify(moved(9))
