"""Rebuilding a graph node by node: the one walk that every pass uses."""

from __future__ import annotations

from collections.abc import Callable

from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Node

Rule = Callable[[Builder, Node, tuple[Node, ...]], Node]
"""Gives the new node for an old one whose operands are already new."""


def rebuild(graph: Graph, rule: Rule) -> Graph:
    """The graph that `rule` makes, operands first. Inputs keep their names, order and types, used or not."""
    builder = Builder()
    made: dict[Node, Node] = {}
    for node in graph.inputs:
        made[node] = builder.input(str(node.attribute("name")), node.type, node.span)
    for node in graph.nodes():
        if node not in made:
            made[node] = rule(builder, node, tuple(made[operand] for operand in node.operands))
    return builder.graph(graph.name, [(name, made[node]) for name, node in graph.outputs])


def copy(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Node:
    """The same operation on new operands."""
    if node.operation == "constant":
        value = node.attribute("value")
        assert isinstance(value, (int, float))
        return builder.constant(value, node.type.dtype, node.span)
    return builder.apply(node.operation, operands, node.span, **dict(node.attributes))
