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
    operation: str
    operands: tuple[int, ...]
    attributes: Mapping[str, Any]
    type: Type


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in order of evaluation; outputs name places among them."""

    name: str
    nodes: tuple[Node, ...]
    outputs: tuple[tuple[str, int], ...]

    @property
    def inputs(self) -> tuple[tuple[str, Type], ...]:
        return tuple(
            (node.attributes["name"], node.type) for node in self.nodes if node.operation == "input"
        )


def read_type(text: str) -> Type:
    """`f32[32, 64]`, `index<10>[32]`, `u32[]`."""
    name, _, rest = text.strip().partition("[")
    shape = tuple(int(size) for size in rest.rstrip("]").split(",") if size.strip())
    if name.startswith("index<"):
        return Type("i32", shape, int(name[len("index<") : -1]))
    return Type(name, shape)


def read_graph(text: str) -> Graph:
    lines = text.splitlines()
    nodes: list[Node] = []
    outputs: list[tuple[str, int]] = []
    for line in (line.strip() for line in lines[1:]):
        if line.startswith("output "):
            name, _, place = line[len("output ") :].partition(" = ")
            outputs.append((name, int(place[1:])))
        elif line.startswith("%"):
            nodes.append(_node(line))
    return Graph(lines[0].split()[1], tuple(nodes), tuple(outputs))


def _node(line: str) -> Node:
    _, _, rest = line.partition(" = ")
    rest, _, type_ = rest.rpartition(" : ")
    attributes: dict[str, Any] = {}
    if rest.endswith("}"):
        rest, _, written = rest.partition(" {")
        attributes = _attributes(written[:-1])
    operation, _, operands = rest.partition(" ")
    places = tuple(int(item.strip()[1:]) for item in operands.split(",") if item.strip())
    return Node(operation, places, attributes, read_type(type_))


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
