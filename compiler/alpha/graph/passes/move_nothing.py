"""Movements that move nothing disappear, and two in a row become one.

reshape x (to the shape of x)                 ->  x            (so does a transpose, slice, pad or concat of that kind)
reshape (reshape x)                           ->  reshape x
transpose[p] (transpose[q] x)                 ->  transpose[q after p] x
broadcast (broadcast x)                       ->  broadcast x
cast d x, x : d                               ->  x
a carried value that no turn changes          ->  what the first turn was given, from outside
what a loop keeps of a slice                  ->  the tensor that the slice is a row of
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.graph.builder import Builder
from alpha.graph.loops import Parts, restricted
from alpha.graph.node import Attribute, Graph, Node
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, loop_of, rebuild, with_body

IDENTITIES = frozenset({"reshape", "broadcast", "slice", "pad", "concat", "cast"})
"""With one operand and an unchanged type, these give their operand."""


def move_nothing(graph: Graph) -> Graph:
    return rebuild(graph, _rule, _loop_rule)


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


def _loop_rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Sequence[Node]:
    old = loop_of(node)
    loop = with_body(old, move_nothing(old.body))
    _, *inputs = loop.body.inputs
    outputs = [output for _, output in loop.body.outputs]
    first_outer = loop.carried + loop.slices
    found: dict[int, Node] = {
        place: operands[place] for place in range(loop.carried) if outputs[place] is inputs[place]
    }
    rows = {inputs[place]: operands[place] for place in range(loop.carried, first_outer)}
    for place in range(loop.carried, len(outputs)):
        if outputs[place] in rows:
            found[place] = rows[outputs[place]]
    if not found:
        return builder.loop(loop, operands, node.span)
    left = tuple(place for place in range(len(outputs)) if place not in found)
    if left:
        parts = Parts(
            tuple(place for place in left if place < loop.carried),
            tuple(range(loop.carried, first_outer)),
            (
                *(place for place in found if place < loop.carried),
                *range(first_outer, len(inputs)),
            ),
            tuple(place for place in left if place >= loop.carried),
        )
        new = builder.loop(
            restricted(loop, parts, [outputs[place] for place in parts.outputs]),
            [operands[place] for place in parts.inputs],
            node.span,
        )
        found.update(zip(left, new, strict=True))
    return [found[place] for place in range(len(outputs))]


def _order(node: Node) -> tuple[int, ...]:
    order = node.attribute("order")
    assert isinstance(order, tuple)
    return tuple(axis for axis in order if isinstance(axis, int))


MOVE_NOTHING = Pass("move_nothing", "a movement that moves nothing -> its operand", move_nothing)
