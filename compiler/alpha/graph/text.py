"""The text form of a graph: one node a line, and back without loss.

    graph evaluate
      %0 = input {name = "net.w"} : f32[3]
      %1 = constant {value = 0x1.8000000000000p+1} : f32[]
      %2 = broadcast %1 {shape = [3]} : f32[3]
      %3 = mul %0, %2 : f32[3]
      output loss = %3

Nodes are numbered from 0 in the order of their serials; inputs that nothing uses are listed too. Floats are
hexadecimal, so every value survives; integers are decimal, texts JSON, tuples bracketed. Spans are not part of the
text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import GraphFault
from alpha.graph.node import Attribute, Graph, Node


def to_text(graph: Graph) -> str:
    """The text of a graph. Equal graphs have equal texts, whatever their serials."""
    nodes = list(graph.nodes())
    seen = set(nodes)
    nodes.extend(node for node in graph.inputs if node not in seen)
    nodes.sort(key=lambda node: node.serial)
    numbers = {node: number for number, node in enumerate(nodes)}
    lines = [f"graph {graph.name}"]
    lines.extend(_line(node, numbers) for node in nodes)
    order = [numbers[node] for node in graph.inputs]
    if order != sorted(order):
        lines.append(f"  inputs {', '.join(f'%{number}' for number in order)}")
    lines.extend(f"  output {name} = %{numbers[node]}" for name, node in graph.outputs)
    return "\n".join(lines) + "\n"


def _line(node: Node, numbers: dict[Node, int]) -> str:
    operands = "".join(
        f"{',' if place else ''} %{numbers[operand]}" for place, operand in enumerate(node.operands)
    )
    attributes = ", ".join(f"{name} = {_attribute(value)}" for name, value in node.attributes)
    braces = f" {{{attributes}}}" if attributes else ""
    return f"  %{numbers[node]} = {node.operation}{operands}{braces} : {node.type}"


def _attribute(value: Attribute) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"[{', '.join(map(_attribute, value))}]"
    return str(value)


_TOKEN = re.compile(
    r"\s*(?:(?P<float>-?0x[0-9a-f]\.[0-9a-f]+p[+-]\d+|-?inf|nan)|(?P<number>-?\d+)"
    r'|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][A-Za-z_0-9.]*)|(?P<mark>[][{}=,:%<>]))'
)


def parse(text: str) -> Graph:
    """The graph of a text form. A malformed text is `GraphFault` with the line."""
    header, *lines = text.rstrip("\n").split("\n")
    if not header.startswith("graph "):
        raise GraphFault("line 1: a graph starts with `graph NAME`")
    nodes: list[Node] = []
    outputs: list[tuple[str, Node]] = []
    inputs: tuple[Node, ...] | None = None
    for number, line in enumerate(lines, 2):
        try:
            reader = _Line(line, nodes)
            if line.startswith("  output "):
                reader.take("output")
                name = reader.take()
                reader.take("=")
                outputs.append((name, reader.reference()))
            elif line.startswith("  inputs "):
                reader.take("inputs")
                inputs = reader.references()
            else:
                nodes.append(reader.node())
            reader.finish()
        except (GraphFault, ValueError, IndexError, KeyError) as fault:
            raise GraphFault(f"line {number}: {fault}: {line.strip()}") from fault
    if inputs is None:
        inputs = tuple(node for node in nodes if node.operation == "input")
    return Graph(header[len("graph ") :], inputs, tuple(outputs))


class _Line:
    """Reads one line from left to right."""

    def __init__(self, line: str, nodes: list[Node]) -> None:
        self._nodes = nodes
        self._tokens = list(_tokens(line))
        self._place = 0

    def _peek(self) -> str:
        return self._tokens[self._place][1] if self._place < len(self._tokens) else ""

    def take(self, expected: str | None = None) -> str:
        if self._place >= len(self._tokens):
            raise GraphFault("the line ends too early")
        found = self._tokens[self._place][1]
        if expected is not None and found != expected:
            raise GraphFault(f"{found!r} where {expected!r} belongs")
        self._place += 1
        return found

    def finish(self) -> None:
        if self._place != len(self._tokens):
            raise GraphFault(f"{self._peek()!r} behind the end")

    def reference(self) -> Node:
        self.take("%")
        return self._nodes[int(self.take())]

    def references(self) -> tuple[Node, ...]:
        found: list[Node] = []
        while self._peek() == "%":
            found.append(self.reference())
            if self._peek() == ",":
                self.take()
        return tuple(found)

    def node(self) -> Node:
        self.take("%")
        number = int(self.take())
        if number != len(self._nodes):
            raise GraphFault(f"%{number} where %{len(self._nodes)} belongs")
        self.take("=")
        operation = self.take()
        operands = self.references()
        attributes: list[tuple[str, Attribute]] = []
        if self._peek() == "{":
            self.take()
            while self._peek() != "}":
                name = self.take()
                self.take("=")
                attributes.append((name, self._value()))
                if self._peek() == ",":
                    self.take()
            self.take("}")
        self.take(":")
        return Node(number, operation, operands, tuple(attributes), self._type(), None)

    def _value(self) -> Attribute:
        if self._peek() == "[":
            self.take()
            items: list[Attribute] = []
            while self._peek() != "]":
                items.append(self._value())
                if self._peek() == ",":
                    self.take()
            self.take("]")
            return tuple(items)
        kind, written = self._tokens[self._place]
        self._place += 1
        if kind == "float":
            return math.nan if written == "nan" else float.fromhex(written)
        if kind == "number":
            return int(written)
        if kind == "text":
            decoded = json.loads(written)
            assert isinstance(decoded, str)
            return decoded
        if written in ("true", "false"):
            return written == "true"
        raise GraphFault(f"{written!r} is no attribute")

    def _type(self) -> TensorType:
        name = self.take()
        bound: int | None = None
        if name == "index":
            self.take("<")
            bound = int(self.take())
            self.take(">")
        self.take("[")
        shape: list[int] = []
        while self._peek() != "]":
            shape.append(int(self.take()))
            if self._peek() == ",":
                self.take()
        self.take("]")
        return TensorType(Dtype.I32 if bound is not None else Dtype(name), tuple(shape), bound)


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    place = 0
    while line[place:].strip():
        match = _TOKEN.match(line, place)
        if match is None:
            raise GraphFault(f"{line[place:].strip()[0]!r} starts no token")
        kind = match.lastgroup
        assert kind is not None
        yield kind, match[kind]
        place = match.end()
