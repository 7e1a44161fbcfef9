"""Closing loops: the nodes that one turn made become the body of a rolled loop.

A turn is written down once, with placeholders for what differs from turn to turn. `close` then looks at what its
results need: nodes of the turn are cloned into a body of their own, placeholders become its inputs, and what was made
before and is used in the turn becomes an operand that no turn changes. Numbers, other nodes without operands, and
broadcasts are cloned and not handed in: they cost nothing, and the gradient of a broadcast is part of its operand's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Loop, Node
from alpha.graph.rewrite import copy, loop_of, place_of

INDEX = TensorType(Dtype.U32, ())

Pair = tuple[Node, Node]
"""The node that stands for a value within the turn, and the value outside."""


@record
class Turn:
    """What one turn is given, each with its origin outside, and what it gives.

    `carried` pairs stand with the first turn's value, `slices` with a tensor that has one more leading axis, of size
    `count`. `after` are the carried values for the next turn, one each, `kept` what is kept of the turn. `outers` are
    values from outside that have a name of their own within the turn; others are found by `close`.
    """

    count: int
    index: Node
    carried: tuple[Pair, ...]
    slices: tuple[Pair, ...]
    after: tuple[Node, ...]
    kept: tuple[Node, ...] = ()
    outers: tuple[Pair, ...] = ()
    backward: bool = False


def close(
    builder: Builder, turn: Turn, inside: Callable[[Node], bool], span: Span | None = None
) -> tuple[Node, ...]:
    """The results of the loop whose turns are like `turn`; `inside` tells which nodes the turn made."""
    given = [turn.index, *(inner for inner, _ in (*turn.carried, *turn.slices))]
    outers = dict(turn.outers)
    needed, captured = _needed((*turn.after, *turn.kept), {*given, *outers}, inside)
    within = [inner for inner, _ in turn.outers if inner in captured]
    within += [node for node in captured if node not in outers and node not in given]
    body = Builder()
    types = [node.type for node in (*given, *within)]
    inputs = body_inputs(body, types, len(turn.carried), len(turn.slices))
    made = dict(zip((*given, *within), inputs, strict=True))
    clone(body, needed, made)
    graph = Graph("body", inputs, body_outputs([made[n] for n in turn.after], _of(made, turn.kept)))
    loop = Loop(turn.count, len(turn.carried), len(turn.slices), graph, turn.backward)
    origins = [
        *(outside for _, outside in (*turn.carried, *turn.slices)),
        *(outers.get(node, node) for node in within),
    ]
    return builder.loop(loop, origins, span)


def _of(made: dict[Node, Node], nodes: Iterable[Node]) -> list[Node]:
    return [made[node] for node in nodes]


def _needed(
    ends: Sequence[Node], given: set[Node], inside: Callable[[Node], bool]
) -> tuple[list[Node], list[Node]]:
    """The nodes to clone and those to hand in, each by serial."""
    needed: set[Node] = set()
    captured: set[Node] = set()
    pending = list(ends)
    while pending:
        node = pending.pop()
        if node in needed or node in captured:
            continue
        made_here = node.operation != "input" and (inside(node) or costs_nothing(node))
        if node in given or not made_here:
            captured.add(node)
        else:
            needed.add(node)
            pending.extend(node.operands)
    by_serial = sorted(needed, key=lambda node: node.serial)
    return by_serial, sorted(captured, key=lambda node: node.serial)


def costs_nothing(node: Node) -> bool:
    """Whether a body clones the node instead of being given its value."""
    return node.operation == "broadcast" or (
        not node.operands and node.operation not in ("input", "loop")
    )


def body_inputs(
    body: Builder, types: Sequence[TensorType], carried: int, slices: int
) -> tuple[Node, ...]:
    """The inputs of a body, named by what they are: equal bodies then have equal texts."""
    names = ["index"]
    names += [f"carried.{place}" for place in range(carried)]
    names += [f"slice.{place}" for place in range(slices)]
    names += [f"outer.{place}" for place in range(len(types) - len(names))]
    return tuple(body.input(name, type_) for name, type_ in zip(names, types, strict=True))


def body_outputs(carried: Sequence[Node], kept: Sequence[Node]) -> tuple[tuple[str, Node], ...]:
    """The outputs of a body, named by what they are."""
    return (
        *((f"carried.{place}", node) for place, node in enumerate(carried)),
        *((f"kept.{place}", node) for place, node in enumerate(kept)),
    )


def clone(builder: Builder, nodes: Iterable[Node], made: dict[Node, Node]) -> None:
    """Nodes, operands first, again in another builder; `made` has what stands for the nodes they rest on.

    A loop's body is closed, so the clone has the same one.
    """
    results: dict[Node, tuple[Node, ...]] = {}
    for node in nodes:
        if node.operation == "result":
            made[node] = results[node.operands[0]][place_of(node)]
            continue
        operands = tuple(made[operand] for operand in node.operands)
        if node.operation == "loop":
            results[node] = builder.loop(loop_of(node), operands, node.span)
        else:
            made[node] = copy(builder, node, operands)


@record
class Parts:
    """Some inputs and outputs of a body, by their places; inputs are counted without the index.

    `outers` may name carried values that no turn changes. The outputs at `carried` go with the inputs there.
    """

    carried: tuple[int, ...]
    slices: tuple[int, ...]
    outers: tuple[int, ...]
    kept: tuple[int, ...]

    @property
    def inputs(self) -> tuple[int, ...]:
        return (*self.carried, *self.slices, *self.outers)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (*self.carried, *self.kept)


def restricted(loop: Loop, parts: Parts, ends: Sequence[Node]) -> Loop:
    """The loop of these parts alone; `ends` are their outputs, made of no other inputs of the body."""
    index, *inputs = loop.body.inputs
    chosen = [index, *(inputs[place] for place in parts.inputs)]
    body = Builder()
    types = [node.type for node in chosen]
    new = body_inputs(body, types, len(parts.carried), len(parts.slices))
    made = dict(zip(chosen, new, strict=True))
    nodes = Graph("body", (), tuple(("", node) for node in ends)).nodes()
    clone(body, (node for node in nodes if node not in made), made)
    outputs = [made[node] for node in ends]
    named = body_outputs(outputs[: len(parts.carried)], outputs[len(parts.carried) :])
    graph = Graph("body", new, named)
    return Loop(loop.count, len(parts.carried), len(parts.slices), graph, loop.backward)
