"""The text form of a graph loses nothing, and two independent readers agree on it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.errors import GraphFault
from alpha.graph.node import Graph
from alpha.graph.text import parse, to_text
from alpha.graph.verify import verify
from laws.graphs import graphs
from semantics.graph import read_graph


def shape_of(graph: Graph) -> list[object]:
    """Everything a graph says, without identities, spans and serials."""
    nodes = list(graph.nodes())
    place = {node: index for index, node in enumerate(nodes)}
    return [
        graph.name,
        [
            (
                node.operation,
                [place[operand] for operand in node.operands],
                repr(node.attributes),
                node.type,
            )
            for node in nodes
        ],
        [repr(node.attributes) for node in graph.inputs],
        [(name, place[node]) for name, node in graph.outputs],
    ]


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_reading_a_printed_graph_gives_the_same_graph(graph: Graph) -> None:
    text = to_text(graph)
    again = parse(text)
    verify(again)
    assert to_text(again) == text
    assert shape_of(again) == shape_of(graph)


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_the_reference_reads_what_the_compiler_prints(graph: Graph) -> None:
    ours, theirs = parse(to_text(graph)), read_graph(to_text(graph))
    nodes = sorted({*ours.nodes(), *ours.inputs}, key=lambda node: node.serial)
    assert len(theirs.nodes) == len(nodes)
    for mine, read in zip(nodes, theirs.nodes, strict=True):
        assert read.operation == mine.operation
        assert read.operands == tuple(operand.serial for operand in mine.operands)
        assert repr(dict(read.attributes)) == repr(dict(mine.attributes))
        assert (read.type.dtype, read.type.shape, read.type.bound) == (
            mine.type.dtype.value,
            mine.type.shape,
            mine.type.bound,
        )


@pytest.mark.parametrize(
    "value", [0.0, -0.0, 1e-45, math.inf, -math.inf, math.nan, 0.1, 3.4028235e38]
)
def test_every_constant_survives(value: float) -> None:
    builder = Builder()
    graph = builder.graph("g", [("y", builder.constant(value, Dtype.F32))])
    again = parse(to_text(graph)).outputs[0][1]
    assert repr(again.attribute("value")) == repr(graph.outputs[0][1].attribute("value"))


def test_unused_inputs_stay_in_the_signature_in_their_order() -> None:
    builder = Builder()
    first = builder.input("net.w", TensorType(Dtype.F32, (2,)))
    builder.input("step", TensorType(Dtype.U32, ()))
    graph = builder.graph("g", [("y", first)])
    assert [node.attribute("name") for node in parse(to_text(graph)).inputs] == ["net.w", "step"]
    turned = Graph("g", graph.inputs[::-1], graph.outputs)
    assert [node.attribute("name") for node in parse(to_text(turned)).inputs] == ["step", "net.w"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("nothing", "line 1"),
        ("graph g\n  %1 = positions {count = 2} : index<2>[2]", "line 2"),
        ("graph g\n  %0 = neg %3 : f32[]", "line 2"),
        ("graph g\n  %0 = positions {count = } : index<2>[2]", "line 2"),
        ("graph g\n  %0 = positions {count = 2} : f33[2]", "line 2"),
        ("graph g\n  %0 = positions {count = 2} : index<2>[2] ;", "line 2"),
        ("graph g\n  output y = %0", "line 2"),
    ],
)
def test_a_malformed_text_is_refused_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(GraphFault, match=complaint):
        parse(text)


@pytest.mark.parametrize(
    ("text", "law"),
    [
        ("%0 = nonsense : f32[]", "known"),
        ("%0 = positions : index<2>[2]", "known"),
        ("%0 = positions {count = 2} : f32[2]", "typed"),
        ("%0 = constant {value = 300} : u8[]", "leaves"),
        ("%0 = constant {value = 0x1.0000000000001p+0} : f32[]", "leaves"),
        ("%0 = constant {value = 1} : f32[]", "leaves"),
    ],
)
def test_the_verifier_names_the_broken_law(text: str, law: str) -> None:
    with pytest.raises(GraphFault, match=f"law `{law}`"):
        verify(parse(f"graph g\n  {text}\n  output y = %0"))


def test_the_verifier_refuses_repeated_names() -> None:
    text = 'graph g\n  %0 = input {name = "a"} : f32[]\n  output y = %0\n  output y = %0'
    with pytest.raises(GraphFault, match="law `named`"):
        verify(parse(text))
