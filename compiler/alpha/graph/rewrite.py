"""Rebuilding a graph node by node: the one walk that every pass uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Loop, Node

Rule = Callable[[Builder, Node, tuple[Node, ...]], Node]
"""Gives the new node for an old one whose operands are already new."""

LoopRule = Callable[[Builder, Node, tuple[Node, ...]], Sequence[Node]]
"""Gives the new results, in their old order, for an old `loop` node whose operands are already new."""


def rebuild(graph: Graph, rule: Rule, loops: LoopRule) -> Graph:
    """The graph that the rules make, operands first. Inputs keep their names, order and types, used or not."""
    builder = Builder()
    made: dict[Node, Node] = {}
    results: dict[Node, Sequence[Node]] = {}
    for node in graph.inputs:
        made[node] = builder.input(str(node.attribute("name")), node.type, node.span)
    for node in graph.nodes():
        if node in made:
            continue
        if node.operation == "result":
            made[node] = results[node.operands[0]][place_of(node)]
            continue
        operands = tuple(made[operand] for operand in node.operands)
        if node.operation == "loop":
            results[node] = loops(builder, node, operands)
        else:
            made[node] = rule(builder, node, operands)
    return builder.graph(graph.name, [(name, made[node]) for name, node in graph.outputs])


def inside(change: Callable[[Graph], Graph]) -> LoopRule:
    """The rule that changes the body of every loop and nothing else of it."""

    def rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Sequence[Node]:
        loop = loop_of(node)
        return builder.loop(with_body(loop, change(loop.body)), operands, node.span)

    return rule


def copy(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Node:
    """The same operation on new operands."""
    if node.operation == "constant":
        value = node.attribute("value")
        assert isinstance(value, (int, float))
        return builder.constant(value, node.type.dtype, node.span)
    return builder.apply(node.operation, operands, node.span, **dict(node.attributes))


def loop_of(node: Node) -> Loop:
    """What a `loop` node holds."""
    assert node.loop is not None
    return node.loop


def place_of(node: Node) -> int:
    """Which result of its loop a `result` node is."""
    place = node.attribute("place")
    assert isinstance(place, int)
    return place


def with_body(loop: Loop, body: Graph) -> Loop:
    """The same turns of another body."""
    return Loop(loop.count, loop.carried, loop.slices, body, loop.backward)
