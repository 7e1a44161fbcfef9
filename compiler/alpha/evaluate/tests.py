"""Tests: a `Bool` that may need the running program. What is known at once is settled here, the rest is a graph.

| output of the graph | is |
|---|---|
| `held` bool[] | whether the test holds |
| `value.<n>` | a sub-expression, for the message of a test that fails |
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.evaluate import errors
from alpha.evaluate.machine import Machine
from alpha.evaluate.proofs import MOST, conclusion, source_text, watched
from alpha.evaluate.show import show
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import (
    Bundle,
    KeyValue,
    ListValue,
    Record,
    Scalar,
    SlotsValue,
    StackValue,
    Staged,
    TupleValue,
    Value,
    Variant,
)
from alpha.graph.node import Graph, Node

HELD = "held"

SHOWN_ELEMENTS = 8
"""A tensor with more elements is not shown: a message is read by people."""

_CODES = {
    Dtype.F64: "d",
    Dtype.F32: "f",
    Dtype.F16: "e",
    Dtype.I64: "q",
    Dtype.I32: "i",
    Dtype.U32: "I",
    Dtype.U8: "B",
    Dtype.BOOL: "?",
}


@record
class Watched:
    """A sub-expression of a test. `value` is its text where it is known, else `output` that of the graph."""

    span: Span
    text: str
    value: str
    output: str = ""


@record
class Trial:
    """One test. `held` says how it came out where that is known at compile time; else `graph` computes it."""

    symbol: str
    span: Span
    held: bool | None
    graph: Graph | None
    watched: tuple[Watched, ...]

    def failure(self, values: Mapping[str, str]) -> Diagnostic:
        """P0003, with what the program gave for the outputs that `watched` names."""
        shown = [
            (item.span, f"`{item.text}` is {values[item.output] if item.output else item.value}")
            for item in self.watched
        ]
        return errors.test_failed(self.symbol.rpartition(".")[2], self.span, shown)


def make_test(machine: Machine, proof: core.Proof) -> Trial:
    """Evaluates a test, or stages it. Raises Refused for what its expression does wrong."""
    staging = Staging()
    value, seen = watched(machine, proof, staging)
    shown: list[Watched] = []
    outputs: list[tuple[str, Node]] = []
    for term, inner in seen:
        text = source_text(term)
        if len(shown) == MOST or text in (item.text for item in shown):
            continue
        if _is_known(inner):
            shown.append(Watched(term.span, text, show(inner)))
        elif isinstance(inner, Staged) and inner.node.type.count <= SHOWN_ELEMENTS:
            output = f"value.{len(outputs)}"
            outputs.append((output, inner.node))
            shown.append(Watched(term.span, text, "", output))
    span = conclusion(proof.term).span
    if isinstance(value, Scalar):
        return Trial(proof.symbol, span, bool(value.value), None, tuple(shown))
    name = f"test.{proof.symbol.replace(chr(39), '.prime')}"
    held = (HELD, _node(value))
    graph = staging.builder.graph(name, [held, *outputs])
    return Trial(proof.symbol, span, None, graph, tuple(shown))


def _is_known(value: Value) -> bool:
    """Whether nothing of a value belongs to the graph, so that its text says all of it."""
    match value:
        case Staged() | KeyValue() | Bundle() | StackValue() | SlotsValue():
            return False
        case ListValue(items) | TupleValue(items):
            return all(map(_is_known, items))
        case Record(_, fields):
            return all(map(_is_known, fields.values()))
        case Variant(_, arguments):
            return all(map(_is_known, arguments))
        case _:
            return True


def _node(value: Value) -> Node:
    assert isinstance(value, Staged), "a test is a Bool"
    return value.node


def result_texts(graph: Graph, data: bytes) -> dict[str, str]:
    """The results of a test's program as texts, by output. `data` holds them one after the other, in order.

    Raises ValueError where `data` is not as long as the results.
    """
    texts: dict[str, str] = {}
    place = 0
    for name, node in graph.outputs:
        texts[name] = tensor_text(node.type, data[place : place + node.type.bytes])
        place += node.type.bytes
    if place != len(data):
        raise ValueError(f"{graph.name}: {len(data)} bytes of results, {place} expected")
    return texts


def result_bytes(graph: Graph) -> int:
    """How many bytes the program of a test gives."""
    return sum(node.type.bytes for _, node in graph.outputs)


def tensor_text(type: TensorType, data: bytes) -> str:
    """The elements as Alpha writes numbers, with brackets for the axes."""
    if type.dtype is Dtype.BF16:  # the upper half of an f32
        halves = struct.unpack(f"<{type.count}H", data)
        numbers = struct.unpack(f"<{type.count}f", struct.pack(f"<{type.count}I", *_high(halves)))
    else:
        numbers = struct.unpack(f"<{type.count}{_CODES[type.dtype]}", data)
    return _nested([show(Scalar(type.dtype, number)) for number in numbers], type.shape)


def _high(halves: Sequence[int]) -> list[int]:
    return [half << 16 for half in halves]


def _nested(texts: Sequence[str], shape: tuple[int, ...]) -> str:
    if not shape:
        return texts[0]
    size = math.prod(shape[1:])
    rows = [_nested(texts[at * size : (at + 1) * size], shape[1:]) for at in range(shape[0])]
    return f"[{', '.join(rows)}]"
