"""The backward walk of a gradient over one line of nodes, and the adjoints it gathers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.record import field, record
from alpha.graph.activity import reached
from alpha.graph.builder import Builder
from alpha.graph.errors import not_differentiable
from alpha.graph.formula import Term, select, total
from alpha.graph.node import Loop, Node
from alpha.graph.ops import TABLE, Use
from alpha.graph.rewrite import loop_of, place_of


@record
class Adjoint:
    """The derivative of the loss by one node. Places where `mask` is false are zero once it is `applied`."""

    value: Term
    mask: Term | None = None
    applied: bool = True

    def settled(self) -> Adjoint:
        """With the mask applied, and still carried."""
        if self.mask is None or self.applied:
            return self
        return Adjoint(select(self.mask, self.value, 0), self.mask)

    def dropped(self) -> Adjoint:
        """With the mask applied and dropped."""
        return Adjoint(self.settled().value)


@record(frozen=False, eq=False)
class Family:
    """One loop and those that do the same and keep more of it for gradients: `members` share their body and operands.

    To the order of the sweep they are the one that was evaluated first, `root`. `results` has one node for each
    carried value by its place, `kept` one for each kept node of the body.
    """

    root: Node
    members: list[Node] = field(default_factory=list)
    results: dict[int, Node] = field(default_factory=dict)
    kept: dict[Node, Node] = field(default_factory=dict)

    @property
    def loop(self) -> Loop:
        return loop_of(self.root)


LoopVisit = Callable[["Sweep", Family], None]


class Sweep:
    """One sweep: from `ends`, which are given their adjoints with `add`, to `parameters`, where it stops.

    `loops` says how a loop is swept.
    """

    def __init__(
        self, builder: Builder, parameters: frozenset[Node], ends: Sequence[Node], loops: LoopVisit
    ) -> None:
        self.builder = builder
        self.parameters = parameters
        self.loops = loops
        self._adjoints: dict[Node, Adjoint] = {}
        self._families: dict[Node, Family] = {}
        self._same: dict[Node, Node] = {}
        nodes = self._before(ends)
        self._gather(nodes)
        self.active = reached(nodes, parameters.intersection(nodes))
        self._order = sorted(self.active - parameters, key=lambda node: -node.serial)

    def _before(self, ends: Sequence[Node]) -> list[Node]:
        """What `ends` depend on, by serial; parameters themselves end the walk."""
        found: set[Node] = set()
        pending = list(ends)
        while pending:
            node = pending.pop()
            if node not in found:
                found.add(node)
                if node not in self.parameters:
                    pending.extend(node.operands)
        return sorted(found, key=lambda node: node.serial)

    def _gather(self, nodes: Sequence[Node]) -> None:
        """Put loops of one family together, and let one result stand for all that are the same value."""
        known: dict[tuple[tuple[Node, ...], tuple[Node, ...]], Family] = {}
        for node in nodes:
            if node.operation == "loop":
                key = (loop_of(node).body.inputs, node.operands)
                family = known.setdefault(key, Family(node))
                family.members.append(node)
                self._families[node] = family
            elif node.operation == "result" and node not in self.parameters:
                family = self._families[node.operands[0]]
                loop, place = loop_of(node.operands[0]), place_of(node)
                if place < loop.carried:
                    self._same[node] = family.results.setdefault(place, node)
                else:
                    self._same[node] = family.kept.setdefault(loop.body.outputs[place][1], node)

    # ---- adjoints ----

    def same(self, node: Node) -> Node:
        """The node that stands for all that are the same value: loops of one family have the same results."""
        return self._same.get(node, node)

    def at(self, node: Node) -> Adjoint | None:
        """What has been met of the adjoint of `node` so far."""
        return self._adjoints.get(self.same(node))

    def put(self, node: Node, adjoint: Adjoint) -> None:
        """Let `adjoint` be all that has been met so far: it grew from what `at` gave."""
        self._adjoints[self.same(node)] = adjoint

    def add(self, node: Node, contribution: Adjoint) -> None:
        """One contribution to the adjoint of `node`, met after those it already has."""
        while node.operation == "broadcast" and node not in self.parameters:
            added = tuple(range(len(node.type.shape) - len(node.operands[0].type.shape)))
            contribution = Adjoint(total(contribution.dropped().value, added))
            node = node.operands[0]
        earlier = self.at(node)
        if earlier is not None:
            contribution = Adjoint(earlier.dropped().value + contribution.dropped().value)
        self.put(node, contribution)

    def is_kept(self, node: Node) -> bool:
        """Whether `node` holds what a loop kept of each turn."""
        return node.operation == "result" and place_of(node) >= loop_of(node.operands[0]).carried

    def reaches(self, operand: Node) -> bool:
        """Whether a parameter's adjoint comes through `operand`."""
        return operand in self.active and operand.type.dtype.is_float

    # ---- the walk ----

    def run(self) -> None:
        for node in self._order:
            if node.operation == "loop":
                family = self._families[node]
                if node is family.root:
                    self.loops(self, family)
            elif node.operation not in ("broadcast", "result"):
                self._visit(node)

    def _visit(self, node: Node) -> None:
        adjoint = self.at(node)
        if adjoint is None:
            return
        row = TABLE[node.operation]
        if not row.elementwise:
            adjoint = adjoint.dropped()
        operands = tuple(Term(self.builder, operand, node.span) for operand in node.operands)
        use = Use(operands, dict(node.attributes), Term(self.builder, node, node.span))
        value = Term(self.builder, adjoint.value.node, node.span)
        contributions = row.gradient(use, value) if row.gradient is not None else None
        if contributions is None:
            types = [operand.type for operand in node.operands]
            raise not_differentiable(node.operation, types, node.span)
        masks = self._masks(node, operands, adjoint.mask)
        for operand, contribution, mask in zip(node.operands, contributions, masks, strict=True):
            if contribution is None or not self.reaches(operand):
                continue
            made = Adjoint(contribution, mask, applied=mask is None)
            self.add(operand, made if node.operation == "select" else made.settled())

    def _masks(
        self, node: Node, operands: tuple[Term, ...], mask: Term | None
    ) -> tuple[Term | None, ...]:
        """The mask of each operand's contribution."""
        if node.operation != "select":
            return (mask,) * len(operands)
        condition = operands[0]
        if mask is None:
            return None, condition, condition.apply("not")
        return None, mask.apply("and", condition), mask.apply("and", condition.apply("not"))
