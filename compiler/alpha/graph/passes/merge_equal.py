"""Nodes with equal operation, operands, attributes and type become one.

    a = op(x) {k};  b = op(x) {k}   ->  a

Every operation is a function of its operands and attributes, draws included, so no bit changes. It runs after
gradients: while they are taken, evaluating a thing twice and once are different programs.
"""

from __future__ import annotations

from alpha.base.dtype import TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Node
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, rebuild

_Shape = tuple[str, tuple[Node, ...], str, TensorType]


def merge_equal(graph: Graph) -> Graph:
    found: dict[_Shape, Node] = {}

    def rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Node:
        # repr tells 0.0 from -0.0, 1 from 1.0 and True, and makes one NaN of all: constants hold no payload.
        shape = (node.operation, operands, repr(node.attributes), node.type)
        kept = found.get(shape)
        if kept is None:
            kept = found[shape] = copy(builder, node, operands)
        return kept

    return rebuild(graph, rule)


MERGE_EQUAL = Pass("merge_equal", "two equal nodes -> the first", merge_equal)
