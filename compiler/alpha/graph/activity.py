"""Which values depend on which others, through the turns of loops too."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from alpha.graph.node import Loop, Node
from alpha.graph.rewrite import loop_of, place_of


def reached(nodes: Iterable[Node], start: Collection[Node]) -> set[Node]:
    """`start`, and every one of `nodes` (operands first) that depends on it.

    A `loop` node is in it if an operand is; a result only if that very result depends on `start`.
    """
    found = set(start)
    outputs: dict[Node, Sequence[bool]] = {}
    for node in nodes:
        if node in found:
            continue
        if node.operation == "result":
            of = node.operands[0]
            if of in found:
                if of not in outputs:
                    loop = loop_of(of)
                    inner = within(loop, [operand in found for operand in of.operands])
                    outputs[of] = [output in inner for _, output in loop.body.outputs]
                if outputs[of][place_of(node)]:
                    found.add(node)
        elif any(operand in found for operand in node.operands):
            found.add(node)
    return found


def within(loop: Loop, operands: Sequence[bool]) -> set[Node]:
    """The nodes of the body that depend, in some turn, on one of the operands that are marked."""
    _, *inputs = loop.body.inputs
    start = {node for node, marked in zip(inputs, operands, strict=True) if marked}
    nodes = list(loop.body.nodes())
    while True:
        found = reached(nodes, start)
        carried = zip(inputs[: loop.carried], loop.body.outputs, strict=False)
        more = {node for node, (_, output) in carried if output in found} - start
        if not more:
            return found
        start |= more
