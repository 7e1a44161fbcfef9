"""Reads the text form of a tensor graph. Written from the description of the form, not from the compiler's reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Type:
    """`bound` is n for an index of n values, which is held as i32."""

    dtype: str
    shape: tuple[int, ...]
    bound: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """`body` is what a `loop` repeats; its attributes are `count`, `carried`, `slices`, `backward`."""

    operation: str
    operands: tuple[int, ...]
    attributes: Mapping[str, Any]
    type: Type
    body: Graph | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in order of evaluation; outputs and the signature name places among them."""

    name: str
    nodes: tuple[Node, ...]
    outputs: tuple[tuple[str, int], ...]
    signature: tuple[int, ...]

    @property
    def inputs(self) -> tuple[tuple[str, Type], ...]:
        """Name and type of each input, in order."""
        given = [self.nodes[place] for place in self.signature]
        return tuple((node.attributes["name"], node.type) for node in given)


def read_type(text: str) -> Type:
    """`f32[32, 64]`, `index<10>[32]`, `u32[]`."""
    name, _, rest = text.strip().partition("[")
    shape = tuple(int(size) for size in rest.rstrip("]").split(",") if size.strip())
    if name.startswith("index<"):
        return Type("i32", shape, int(name[len("index<") : -1]))
    return Type(name, shape)


def read_graph(text: str) -> Graph:
    """The graph of a text. The body of a loop is the text of a graph, four places further in, below its line."""
    lines = text.splitlines()
    nodes: list[Node] = []
    outputs: list[tuple[str, int]] = []
    signature: tuple[int, ...] | None = None
    place = 1
    while place < len(lines):
        line = lines[place].strip()
        below = place + 1
        while below < len(lines) and lines[below].startswith("    "):
            below += 1
        body = "\n".join(inner[4:] for inner in lines[place + 1 : below])
        place = below
        if line.startswith("output "):
            name, _, output = line[len("output ") :].partition(" = ")
            outputs.append((name, int(output[1:])))
        elif line.startswith("inputs "):
            signature = _places(line[len("inputs ") :])
        elif line.startswith("%"):
            nodes.append(_node(line, read_graph(body) if body else None))
    if signature is None:
        signature = tuple(n for n, node in enumerate(nodes) if node.operation == "input")
    return Graph(lines[0].split()[1], tuple(nodes), tuple(outputs), signature)


def _places(written: str) -> tuple[int, ...]:
    return tuple(int(item.strip()[1:]) for item in written.split(",") if item.strip())


def _node(line: str, body: Graph | None) -> Node:
    _, _, rest = line.partition(" = ")
    rest, _, type_ = rest.rpartition(" : ")
    attributes: dict[str, Any] = {}
    if rest.endswith("}"):
        rest, _, written = rest.partition(" {")
        attributes = _attributes(written[:-1])
    operation, _, operands = rest.partition(" ")
    return Node(operation, _places(operands), attributes, read_type(type_), body)


def _attributes(written: str) -> dict[str, Any]:
    """`name = value, ...`; values are numbers, hexadecimal floats, truths, JSON texts and lists of these."""
    found: dict[str, Any] = {}
    while written:
        name, _, written = written.partition(" = ")
        value, written = _value(written)
        found[name] = value
        written = written.removeprefix(", ")
    return found


def _value(written: str) -> tuple[Any, str]:
    if written.startswith('"'):
        text, end = json.JSONDecoder().raw_decode(written)
        return text, written[end:]
    if written.startswith("["):
        items: list[Any] = []
        written = written[1:]
        while not written.startswith("]"):
            item, written = _value(written)
            items.append(item)
            written = written.removeprefix(", ")
        return tuple(items), written[1:]
    end = min(
        (place for place in (written.find(","), written.find("]")) if place >= 0),
        default=len(written),
    )
    word, rest = written[:end], written[end:]
    if word in ("true", "false"):
        return word == "true", rest
    if word in ("inf", "-inf", "nan"):
        return float(word), rest
    return (float.fromhex(word) if "0x" in word else int(word)), rest
