"""Nodes with equal operation, operands, attributes and type become one, and so do equal loops.

    a = op(x) {k};  b = op(x) {k}   ->  a

Every operation is a function of its operands and attributes, draws included, so no bit changes. It runs after
gradients: while they are taken, evaluating a thing twice and once are different programs.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Node
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, loop_of, rebuild, with_body
from alpha.graph.text import to_text

_Shape = tuple[str, tuple[Node, ...], str, TensorType]


class Merging:
    """Gives the node that was made first where an equal one is asked for."""

    def __init__(self) -> None:
        self._found: dict[_Shape, Node] = {}
        self._loops: dict[tuple[tuple[Node, ...], int, int, int, bool, str], Sequence[Node]] = {}

    def node(self, builder: Builder, node: Node, operands: tuple[Node, ...]) -> Node:
        # repr tells 0.0 from -0.0, 1 from 1.0 and True, and makes one NaN of all: constants hold no payload.
        shape = (node.operation, operands, repr(node.attributes), node.type)
        kept = self._found.get(shape)
        if kept is None:
            kept = self._found[shape] = copy(builder, node, operands)
        return kept

    def loop(self, builder: Builder, node: Node, operands: tuple[Node, ...]) -> Sequence[Node]:
        loop = loop_of(node)
        body = merge_equal(loop.body)
        shape = (operands, loop.count, loop.carried, loop.slices, loop.backward, to_text(body))
        kept = self._loops.get(shape)
        if kept is None:
            kept = builder.loop(with_body(loop, body), operands, node.span)
            self._loops[shape] = kept
        return kept


def merge_equal(graph: Graph) -> Graph:
    merging = Merging()
    return rebuild(graph, merging.node, merging.loop)


MERGE_EQUAL = Pass("merge_equal", "two equal nodes or loops -> the first", merge_equal)
