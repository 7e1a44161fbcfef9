"""A loop that reads what another kept of a movement reads what was moved, and moves it again.

    k = loop {keep move v};  loop(k) {... row of k ...}   ->  k = loop {keep v};  loop(k) {... move (row of k) ...}

Bits do not change, and memory holds `v` once and not also its copies: `v` is a slice of the first loop, or is smaller
than what was kept of it, or is kept anyway. What nothing keeps any more, `drop_dead` drops. It runs after gradients:
there a value and a movement of it are two places in the order of contributions.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.graph.builder import Builder
from alpha.graph.loops import body_inputs, body_outputs, clone
from alpha.graph.node import Graph, Loop, Node
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, loop_of, rebuild, with_body

MOVES = frozenset({"repeat", "reshape", "slice", "transpose"})


@record
class _Moved:
    """Kept rows as movements of others: `moves` stand in the order they are made, in the body that kept them."""

    rows: Node
    moves: tuple[Node, ...]


def keep_less(graph: Graph) -> Graph:
    moved: dict[Node, _Moved] = {}

    def rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Sequence[Node]:
        old = loop_of(node)
        loop, given = _moving(with_body(old, keep_less(old.body)), operands, moved)
        sources = _sources(loop)
        extra = [source for source, _ in sources.values() if source not in loop.body.inputs]
        longer = _keeping(loop, list(dict.fromkeys(extra)))
        results = builder.loop(longer, given, node.span)
        rows = {
            output: results[place]
            for place, (_, output) in enumerate(longer.body.outputs)
            if place >= loop.carried
        }
        rows |= dict(
            zip(
                loop.body.inputs[1 + loop.carried :][: loop.slices],
                given[loop.carried :],
                strict=False,
            )
        )
        for place, (source, moves) in sources.items():
            moved[results[place]] = _Moved(rows[source], moves)
        return results

    return rebuild(graph, copy, rule)


def _sources(loop: Loop) -> dict[int, tuple[Node, tuple[Node, ...]]]:
    """For each kept movement, by its place: what it moves, and the movements from there on."""
    slices = loop.body.inputs[1 + loop.carried :][: loop.slices]
    kept = {
        output for _, output in loop.body.outputs[loop.carried :] if output.operation not in MOVES
    }
    found: dict[int, tuple[Node, tuple[Node, ...]]] = {}
    for place, (_, output) in enumerate(loop.body.outputs):
        if place < loop.carried:
            continue
        source, moves = output, list[Node]()
        while source.operation in MOVES:
            moves.insert(0, source)
            (source,) = source.operands
            small = source.type.count < output.type.count and source.operation != "constant"
            # An index, an outer value and one that is carried have no rows, unless they are kept.
            own = small and source.operation not in MOVES and source.operation != "input"
            if source in slices or source in kept or own:
                found[place] = source, tuple(moves)
    return found


def _keeping(loop: Loop, more: Sequence[Node]) -> Loop:
    """The loop that keeps these nodes of its body too, where it does not yet."""
    outputs = [output for _, output in loop.body.outputs]
    kept = outputs[loop.carried :]
    kept += [node for node in more if node not in kept]
    named = body_outputs(outputs[: loop.carried], kept)
    return with_body(loop, Graph(loop.body.name, loop.body.inputs, named))


def _moving(
    loop: Loop, operands: Sequence[Node], moved: dict[Node, _Moved]
) -> tuple[Loop, list[Node]]:
    """The loop that moves the rows of some slices itself, and its operands."""
    first, behind = loop.carried, loop.carried + loop.slices
    rows = operands[first:behind]
    if not any(row in moved for row in rows):
        return loop, list(operands)
    # Each tensor is one slice, however many movements of it are read.
    slices = {moved[row].rows if row in moved else row: row for row in rows}
    types = {}
    for input_, row in zip(loop.body.inputs[1 + first :], rows, strict=False):
        source = moved.get(row)
        types[source.rows if source else row] = (
            source.moves[0].operands[0].type if source else input_.type
        )
    body = Builder()
    index, *inputs = loop.body.inputs
    fixed = [index, *inputs[:first]]
    outers = inputs[behind:]
    new = body_inputs(
        body,
        [
            *(node.type for node in fixed),
            *(types[row] for row in slices),
            *(node.type for node in outers),
        ],
        first,
        len(slices),
    )
    made = dict(zip(fixed, new, strict=False))
    made |= dict(zip(outers, new[len(fixed) + len(slices) :], strict=True))
    places = dict(zip(slices, new[len(fixed) :], strict=False))
    for input_, row in zip(inputs[first:behind], rows, strict=True):
        source = moved.get(row)
        value = places[source.rows if source else row]
        for move in source.moves if source else ():
            value = copy(body, move, (value,))
        made[input_] = value
    clone(body, (node for node in loop.body.nodes() if node not in made), made)
    outputs = [made[node] for _, node in loop.body.outputs]
    graph = Graph("body", new, body_outputs(outputs[:first], outputs[first:]))
    result = Loop(loop.count, first, len(slices), graph, loop.backward)
    return result, [*operands[:first], *slices, *operands[behind:]]


KEEP_LESS = Pass(
    "keep_less",
    "a row that another loop kept of a movement -> the movement of what it moved",
    keep_less,
)
