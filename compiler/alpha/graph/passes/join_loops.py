"""Loops that carry the same through the same turns become one, which keeps what each of them kept.

    c, k = loop(x) {keep k};  c, m = loop(x) {keep m}   ->  c, k, m = loop(x) {keep k, m}

Taking the gradient of a loop makes a second one that keeps what the backward loop reads; here the forward work becomes
done once. It runs when equal nodes are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.graph.builder import Builder
from alpha.graph.loops import body_inputs, body_outputs
from alpha.graph.node import Graph, Loop, Node
from alpha.graph.passes.merge_equal import Merging
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, loop_of, place_of, rebuild, with_body


def join_loops(graph: Graph) -> Graph:
    groups: dict[tuple[tuple[Node, ...], int, int, int, bool], list[_Joined]] = {}
    joined: dict[Node, _Joined] = {}
    for node in graph.nodes():
        if node.operation != "loop":
            continue
        loop = loop_of(node)
        key = (node.operands, loop.count, loop.carried, loop.slices, loop.backward)
        group = groups.setdefault(key, [])
        for candidate in group:
            if candidate.takes(loop, node):
                joined[node] = candidate
                break
        else:
            joined[node] = _Joined(loop, node)
            group.append(joined[node])
    made: dict[_Joined, Sequence[Node]] = {}

    def rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Sequence[Node]:
        whole = joined[node]
        if whole not in made:
            made[whole] = builder.loop(whole.loop(), operands, node.span)
        return [made[whole][place] for place in whole.places[node]]

    return rebuild(graph, copy, rule)


class _Joined:
    """One loop that is growing: a body of merged nodes, and where the results of each member are among its own."""

    def __init__(self, loop: Loop, node: Node) -> None:
        self._first = loop
        self._body = Builder()
        types = [input_.type for input_ in loop.body.inputs]
        self._inputs = body_inputs(self._body, types, loop.carried, loop.slices)
        self._merging = Merging()
        outputs = self._merged(loop)
        self._carried = outputs[: loop.carried]
        self._kept: list[Node] = []
        self.places: dict[Node, list[int]] = {}
        self._keep(node, outputs)

    def takes(self, loop: Loop, node: Node) -> bool:
        """Whether the loop carries the same, and so is a member from now on."""
        outputs = self._merged(loop)
        if outputs[: loop.carried] != self._carried:
            return False
        self._keep(node, outputs)
        return True

    def loop(self) -> Loop:
        graph = Graph("body", self._inputs, body_outputs(self._carried, self._kept))
        return with_body(self._first, join_loops(graph))

    def _keep(self, node: Node, outputs: Sequence[Node]) -> None:
        places = list(range(len(self._carried)))
        for output in outputs[len(self._carried) :]:
            if output not in self._kept:
                self._kept.append(output)
            places.append(len(self._carried) + self._kept.index(output))
        self.places[node] = places

    def _merged(self, loop: Loop) -> list[Node]:
        """The outputs of the loop's body as nodes of this one."""
        made = dict(zip(loop.body.inputs, self._inputs, strict=True))
        results: dict[Node, Sequence[Node]] = {}
        for node in loop.body.nodes():
            if node in made:
                continue
            if node.operation == "result":
                made[node] = results[node.operands[0]][place_of(node)]
                continue
            operands = tuple(made[operand] for operand in node.operands)
            if node.operation == "loop":
                results[node] = self._merging.loop(self._body, node, operands)
            else:
                made[node] = self._merging.node(self._body, node, operands)
        return [made[node] for _, node in loop.body.outputs]


JOIN_LOOPS = Pass(
    "join_loops", "loops that carry the same through the same turns -> one", join_loops
)
