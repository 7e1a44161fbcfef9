"""The text form of a graph: one node a line, and back without loss.

    graph evaluate
      %0 = input {name = "net.w"} : f32[3]
      %1 = constant {value = 0x1.8000000000000p+1} : f32[]
      %2 = broadcast %1 {shape = [3]} : f32[3]
      %3 = mul %0, %2 : f32[3]
      output loss = %3

A loop says its record in place of attributes, and its body stands below it, as the text of a graph four places in:

      %4 = loop %3 {backward = false, carried = 1, count = 3, slices = 0} : bool[]
        graph body
          %0 = input {name = "index"} : u32[]
          %1 = input {name = "carried.0"} : f32[3]
          %2 = neg %1 : f32[3]
          output carried.0 = %2
      %5 = result %4 {place = 0} : f32[3]

Nodes are numbered from 0 in the order of their serials; inputs that nothing uses are listed too. Floats are
hexadecimal, so every value survives; integers are decimal, texts JSON, tuples bracketed. Spans are not part of the
text, but `places` adds them as comments, which begin with two hyphens and are skipped when the text is read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import GraphFault
from alpha.graph.node import Attribute, Graph, Loop, Node


def to_text(graph: Graph, places: bool = False) -> str:
    """The text of a graph. Equal graphs have equal texts, whatever their serials.

    With `places`, each node that the source shows has its place and its expression behind it, as a comment.
    """
    nodes = list(graph.nodes())
    seen = set(nodes)
    nodes.extend(node for node in graph.inputs if node not in seen)
    nodes.sort(key=lambda node: node.serial)
    numbers = {node: number for number, node in enumerate(nodes)}
    lines = [f"graph {graph.name}"]
    for node in nodes:
        line = _line(node, numbers)
        lines.append(f"{line:<{COMMENT_COLUMN}}{_place(node)}".rstrip() if places else line)
        if node.loop is not None:
            lines.extend(f"    {line}" for line in to_text(node.loop.body, places).splitlines())
    order = [numbers[node] for node in graph.inputs]
    if order != sorted(order):
        lines.append(f"  inputs {', '.join(f'%{number}' for number in order)}")
    lines.extend(f"  output {name} = %{numbers[node]}" for name, node in graph.outputs)
    return "\n".join(lines) + "\n"


def _line(node: Node, numbers: dict[Node, int]) -> str:
    operands = "".join(
        f"{',' if place else ''} %{numbers[operand]}" for place, operand in enumerate(node.operands)
    )
    stated = _record(node.loop) if node.loop is not None else node.attributes
    attributes = ", ".join(f"{name} = {_attribute(value)}" for name, value in stated)
    braces = f" {{{attributes}}}" if attributes else ""
    return f"  %{numbers[node]} = {node.operation}{operands}{braces} : {node.type}"


COMMENT_COLUMN = 64
LONGEST_COMMENT = 48


def _place(node: Node) -> str:
    """A comment with the place of a node and the beginning of its expression."""
    if node.span is None:
        return ""
    text = " ".join(node.span.text.split())
    if len(text) > LONGEST_COMMENT:
        text = text[: LONGEST_COMMENT - 3] + "..."
    return f" -- {node.span}  {text}".rstrip()


def _record(loop: Loop) -> tuple[tuple[str, Attribute], ...]:
    return (
        ("backward", loop.backward),
        ("carried", loop.carried),
        ("count", loop.count),
        ("slices", loop.slices),
    )


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


BODY = "    "
"""What stands before a line of a loop's body, beyond what stands before the loop's own."""

_TOKEN = re.compile(
    r"\s*(?:(?P<float>-?0x[0-9a-f]\.[0-9a-f]+p[+-]\d+|-?inf|nan)|(?P<number>-?\d+)"
    r'|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_][A-Za-z_0-9.]*)|(?P<mark>[][{}=,:%<>]))'
)


def parse(text: str) -> Graph:
    """The graph of a text form. A malformed text is `GraphFault` with the line."""
    return _parse(text.rstrip("\n").split("\n"), 1)


def _parse(text: list[str], first: int) -> Graph:
    """The graph of these lines, of which the first has the number `first`."""
    header, *lines = text
    if not header.startswith("graph "):
        raise GraphFault(f"line {first}: a graph starts with `graph NAME`")
    nodes: list[Node] = []
    outputs: list[tuple[str, Node]] = []
    inputs: tuple[Node, ...] | None = None
    below = 0
    for place, line in enumerate(lines):
        if place < below:
            continue
        below = place + 1
        while below < len(lines) and lines[below].startswith(BODY):
            below += 1
        body = [inner[len(BODY) :] for inner in lines[place + 1 : below]]
        number = first + 1 + place
        inner = _parse(body, number + 1) if body else None
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
                nodes.append(reader.node(inner))
                inner = None
            reader.finish()
            if inner is not None:
                raise GraphFault("only a loop has a body")
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

    def node(self, body: Graph | None) -> Node:
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
        loop: Loop | None = None
        if operation == "loop":
            loop = _loop(dict(attributes), body)
            attributes = []
        elif body is not None:
            raise GraphFault("only a loop has a body")
        return Node(number, operation, operands, tuple(attributes), self._type(), None, loop)

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


def _loop(stated: dict[str, Attribute], body: Graph | None) -> Loop:
    match stated, body:
        case {
            "backward": bool(backward),
            "carried": int(carried),
            "count": int(count),
            "slices": int(slices),
        }, Graph():
            return Loop(count, carried, slices, body, backward)
        case _:
            raise GraphFault("a loop states its turns and has a body")


def _tokens(line: str) -> Iterator[tuple[str, str]]:
    place = 0
    while line[place:].strip() and not line[place:].lstrip().startswith("--"):
        match = _TOKEN.match(line, place)
        if match is None:
            raise GraphFault(f"{line[place:].strip()[0]!r} starts no token")
        kind = match.lastgroup
        assert kind is not None
        yield kind, match[kind]
        place = match.end()
