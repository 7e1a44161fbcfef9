"""What no output needs disappears, and serials close up.

    a = op(x), used by nothing                             ->  (nothing)
    a result of a loop that nothing uses, and no turn reads  ->  (nothing)
    a slice or an outer value of a loop that no turn reads   ->  (nothing)

Inputs of the graph stay: they are the signature.
"""

from __future__ import annotations

from collections.abc import Collection

from alpha.graph.builder import Builder
from alpha.graph.loops import Parts, restricted
from alpha.graph.node import Graph, Loop, Node
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, loop_of, place_of, with_body


def drop_dead(graph: Graph) -> Graph:
    alive: set[Node] = {node for _, node in graph.outputs}
    used: dict[Node, set[int]] = {}
    parts: dict[Node, tuple[Loop, Parts]] = {}
    for node in sorted(graph.nodes(), key=lambda node: -node.serial):
        if node not in alive:
            continue
        if node.operation == "result":
            used.setdefault(node.operands[0], set()).add(place_of(node))
        if node.operation == "loop":
            _, needed = parts[node] = _trimmed(loop_of(node), used[node])
            alive.update(node.operands[place] for place in needed.inputs)
        else:
            alive.update(node.operands)
    builder = Builder()
    made: dict[Node, Node] = {}
    results: dict[Node, dict[int, Node]] = {}
    for node in graph.inputs:
        made[node] = builder.input(str(node.attribute("name")), node.type, node.span)
    for node in graph.nodes():
        if node not in alive or node in made:
            continue
        if node.operation == "result":
            made[node] = results[node.operands[0]][place_of(node)]
        elif node.operation == "loop":
            loop, needed = parts[node]
            operands = [made[node.operands[place]] for place in needed.inputs]
            new = builder.loop(loop, operands, node.span)
            results[node] = dict(zip(needed.outputs, new, strict=True))
        else:
            made[node] = copy(builder, node, tuple(made[operand] for operand in node.operands))
    return builder.graph(graph.name, [(name, made[node]) for name, node in graph.outputs])


def _trimmed(loop: Loop, used: Collection[int]) -> tuple[Loop, Parts]:
    """The loop with the results `used`, and what of it is left."""
    kept = tuple(sorted(place for place in used if place >= loop.carried))
    carried = {place for place in used if place < loop.carried}
    while True:
        outputs = tuple(loop.body.outputs[place] for place in (*sorted(carried), *kept))
        body = drop_dead(Graph(loop.body.name, loop.body.inputs, outputs))
        read = set(body.nodes())
        reads = {place for place, node in enumerate(body.inputs[1:]) if node in read}
        more = {place for place in reads if place < loop.carried} - carried
        if not more:
            break
        carried |= more
    slices = loop.carried + loop.slices
    parts = Parts(
        tuple(sorted(carried)),
        tuple(place for place in sorted(reads) if loop.carried <= place < slices),
        tuple(place for place in sorted(reads) if place >= slices),
        kept,
    )
    return restricted(with_body(loop, body), parts, [node for _, node in body.outputs]), parts


DROP_DEAD = Pass(
    "drop_dead",
    "what no output needs, in and around loops -> nothing",
    drop_dead,
)
