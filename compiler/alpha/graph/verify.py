"""The law of the graph level, checked after every pass. A broken law is a bug in Alpha: `GraphFault`.

Each law is one entry of `LAWS`, read from top to bottom:

1. `known`: every node is a row of the table, with exactly that row's attributes, sorted by name.
2. `ordered`: operands have smaller serials than the node, and no two nodes share a serial: the graph is acyclic.
3. `typed`: the row's rule, applied again, gives the type the node states.
4. `leaves`: constants are scalars whose value is exactly one of the dtype; sizes are at least 1.
5. `named`: the inputs of the graph are exactly the input nodes it uses and some unused ones, each name once; output
   names are distinct.
6. `loops`: a `loop` node, and no other, holds a loop; `result` nodes alone use it. Its turns are one or more. The first
   input of the body is the index, the operands have the types of the others (those of slices with one more leading
   axis, of the turns), and what is carried has the same type after a turn as before. A result has a place and that
   place's type. The body keeps these laws too, and shares no node with the graph around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from alpha.graph.builder import exact
from alpha.graph.errors import GraphFault, OperationError
from alpha.graph.loops import INDEX
from alpha.graph.node import Graph, Loop, Node, rows_of
from alpha.graph.ops import TABLE


def verify(graph: Graph, *, primitive: bool = False) -> None:
    """Check every law on every node. With `primitive`, composites are a fault too."""
    nodes = list(graph.nodes())
    used = set(nodes)
    nodes.extend(node for node in graph.inputs if node not in used)
    for name, law in LAWS:
        for fault in law(graph, nodes):
            raise GraphFault(f"graph `{graph.name}` breaks the law `{name}`: {fault}")
    for node in nodes:
        if node.loop is not None:
            verify(node.loop.body, primitive=primitive)
        if primitive and not TABLE[node.operation].primitive:
            raise GraphFault(f"graph `{graph.name}` still holds the composite `{node.operation}`")


def _known(graph: Graph, nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        row = TABLE.get(node.operation)
        if row is None:
            yield f"no operation {node.operation!r}"
        elif tuple(name for name, _ in node.attributes) != tuple(sorted(row.attributes)):
            yield f"`{node.operation}` with the attributes {node.attributes}"
        elif row.leaf and node.operands and node.operation not in ("loop", "result"):
            yield f"`{node.operation}` with operands"


def _ordered(graph: Graph, nodes: Sequence[Node]) -> Iterator[str]:
    serials: set[int] = set()
    for node in nodes:
        if node.serial in serials:
            yield f"serial {node.serial} twice"
        serials.add(node.serial)
        for operand in node.operands:
            if operand.serial >= node.serial:
                yield f"%{node.serial} uses the later %{operand.serial}"


def _typed(graph: Graph, nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        row = TABLE[node.operation]
        if row.leaf:
            continue
        try:
            type_ = row.rule([operand.type for operand in node.operands], dict(node.attributes))
        except OperationError as error:
            yield f"%{node.serial} `{node.operation}`: {error}"
        else:
            if type_ != node.type:
                yield f"%{node.serial} `{node.operation}` states {node.type} and is {type_}"


def _leaves(graph: Graph, nodes: Sequence[Node]) -> Iterator[str]:
    for node in nodes:
        if any(size < 1 for size in node.type.shape):
            yield f"%{node.serial} has the shape {node.type.shape}"
        if node.operation != "constant":
            continue
        value = node.attribute("value")
        if node.type.shape or isinstance(value, (str, tuple)):
            yield f"%{node.serial} is no scalar constant"
            continue
        try:
            rounded = exact(value, node.type.dtype)
        except OperationError as error:
            yield f"%{node.serial}: {error}"
        else:
            same = rounded == value or (isinstance(value, float) and math.isnan(value))
            if not same or type(rounded) is not type(value):
                yield f"%{node.serial} holds {value!r}, which is no {node.type.dtype.value}"


def _named(graph: Graph, nodes: Sequence[Node]) -> Iterator[str]:
    listed = set(graph.inputs)
    for node in nodes:
        if node.operation == "input" and node not in listed:
            yield f"the input {node.attribute('name')!r} is used and not listed"
    inputs = [
        node.attribute("name") if node.operation == "input" else None for node in graph.inputs
    ]
    if None in inputs or len(set(inputs)) != len(inputs):
        yield f"the inputs are {inputs}"
    outputs = [name for name, _ in graph.outputs]
    if len(set(outputs)) != len(outputs):
        yield f"the outputs are {outputs}"


def _loops(graph: Graph, nodes: Sequence[Node]) -> Iterator[str]:
    here = set(nodes)
    for node in nodes:
        if (node.loop is not None) != (node.operation == "loop"):
            yield f"%{node.serial} `{node.operation}` holds {'no' if node.loop is None else 'a'} loop"
        elif node.loop is not None:
            yield from (f"%{node.serial} {fault}" for fault in _loop(node, node.loop, here))
        if node.operation == "result":
            yield from (f"%{node.serial} {fault}" for fault in _result(node))
        elif any(operand.operation == "loop" for operand in node.operands):
            yield f"%{node.serial} `{node.operation}` uses a loop as a value"
    if any(node.operation == "loop" for _, node in graph.outputs):
        yield "a loop is an output"


def _loop(node: Node, loop: Loop, here: set[Node]) -> Iterator[str]:
    if loop.count < 1 or loop.carried < 0 or loop.slices < 0:
        yield f"states {loop.count} turns, {loop.carried} carried values and {loop.slices} slices"
        return
    inputs = [input_.type for input_ in loop.body.inputs]
    outputs = [output.type for _, output in loop.body.outputs]
    if len(inputs) != len(node.operands) + 1 or inputs[0] != INDEX:
        yield f"has {len(node.operands)} operands for the inputs {', '.join(map(str, inputs))}"
        return
    if len(inputs) <= loop.carried + loop.slices or len(outputs) < loop.carried:
        yield "has fewer inputs or outputs than it states"
        return
    for place, (operand, given) in enumerate(zip(node.operands, inputs[1:], strict=True)):
        sliced = loop.carried <= place < loop.carried + loop.slices
        expected = rows_of(given, loop.count) if sliced else given
        if operand.type != expected:
            yield f"has the operand {place} of type {operand.type}, where {expected} is read"
    for place, output in enumerate(outputs[: loop.carried]):
        if output != inputs[1 + place]:
            yield f"carries {output} from {inputs[1 + place]}"
    body = {*loop.body.inputs, *loop.body.nodes()}
    if not here.isdisjoint(body):
        yield "shares a node with its body"


def _result(node: Node) -> Iterator[str]:
    place = node.attribute("place")
    if len(node.operands) != 1 or node.operands[0].loop is None:
        yield "is the result of no loop"
        return
    results = node.operands[0].loop.results
    if not isinstance(place, int) or not 0 <= place < len(results):
        yield f"is the result {place} of {len(results)}"
    elif node.type != results[place]:
        yield f"states {node.type} and is {results[place]}"


Law = Callable[[Graph, Sequence[Node]], Iterator[str]]
LAWS: tuple[tuple[str, Law], ...] = (
    ("known", _known),
    ("ordered", _ordered),
    ("typed", _typed),
    ("leaves", _leaves),
    ("named", _named),
    ("loops", _loops),
)
