"""Movements that move nothing disappear, and two in a row become one.

reshape x (to the shape of x)                 ->  x            (so does a transpose, slice, pad or concat of that kind)
reshape (reshape x)                           ->  reshape x
transpose[p] (transpose[q] x)                 ->  transpose[q after p] x
broadcast (broadcast x)                       ->  broadcast x
cast d x, x : d                               ->  x
"""

from __future__ import annotations

from alpha.graph.builder import Builder
from alpha.graph.node import Attribute, Graph, Node
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, rebuild

IDENTITIES = frozenset({"reshape", "broadcast", "slice", "pad", "concat", "cast"})
"""With one operand and an unchanged type, these give their operand."""


def move_nothing(graph: Graph) -> Graph:
    return rebuild(graph, _rule)


def _rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Node:
    if len(operands) != 1:
        return copy(builder, node, operands)
    (operand,) = operands
    if node.operation in IDENTITIES and operand.type == node.type:
        return operand
    if node.operation in ("reshape", "broadcast") and operand.operation == node.operation:
        inner = operand.operands[0]
        if inner.type == node.type:
            return inner
        return builder.apply(node.operation, (inner,), node.span, shape=node.type.shape)
    if node.operation == "transpose":
        order = _order(node)
        if operand.operation == "transpose":
            before = _order(operand)
            operand = operand.operands[0]
            order = tuple(before[axis] for axis in order)
        if order == tuple(range(len(order))):
            return operand
        moved: tuple[Attribute, ...] = order
        return builder.apply("transpose", (operand,), node.span, order=moved)
    return copy(builder, node, operands)


def _order(node: Node) -> tuple[int, ...]:
    order = node.attribute("order")
    assert isinstance(order, tuple)
    return tuple(axis for axis in order if isinstance(axis, int))


MOVE_NOTHING = Pass("move_nothing", "a movement that moves nothing -> its operand", move_nothing)
