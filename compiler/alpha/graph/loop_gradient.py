"""The sweep of a rolled loop: a second loop that goes through its turns backwards.

Its turn is the sweep of one turn of the first. It carries the adjoint of every carried value, and that of every value
from outside, to which each turn adds; of each turn it keeps the adjoints of that turn's rows. What the formulas read of
a forward turn is kept there as rows (a new member of the loop's family, which the pass `join_loops` makes one loop
again) unless it is a number, a draw, or something else that no float has entered: that is evaluated again.

The bits are those of the turns written out one after the other, where

* every carried value is a value of its own at the start of each turn, and so are the results: contributions to it add
  up first, and go on as one (carried values in descending place);
* the rows of a slice are written into their layers, without additions of zeros, and are one contribution, met when
  the whole loop has been swept and before those to the initial carried values;
* a value from outside gets the contributions of all turns in the order the sweep meets them. Where there were none
  before, they start from -0, which changes no bit of what is added to it.

A carried value whose adjoint is absent in some turn (nothing reads what the last turn gives) has a mask that is false
there; so has one that ever carries a mask. What would reach the result in more turns than there are counts as reached:
it gets a gradient of zero, not E0612.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.graph.activity import reached, within
from alpha.graph.builder import Builder
from alpha.graph.formula import Term
from alpha.graph.loops import Turn, body_outputs, close, costs_nothing
from alpha.graph.node import Graph, Loop, Node
from alpha.graph.rewrite import loop_of, with_body
from alpha.graph.sweep import Adjoint, Family, Sweep


@record
class _Given:
    """An adjoint as placeholders of a turn, and what the outer sweep has met of it, if anything."""

    inner: Adjoint
    outside: Adjoint | None


@record
class _Swept:
    """One turn, swept: placeholders made on the way, and the adjoints of the body's inputs by their place."""

    mark: int
    rows: dict[Node, _Given]
    carried: dict[int, _Given]
    totals: dict[int, _Given]
    found: dict[int, Adjoint]


def sweep_loop(sweep: Sweep, family: Family) -> None:
    """Add what the turns of a loop contribute to the adjoints of its operands."""
    _LoopSweep(sweep, family).run()


class _LoopSweep:
    def __init__(self, sweep: Sweep, family: Family) -> None:
        self.sweep = sweep
        self.builder: Builder = sweep.builder
        self.family = family
        self.loop: Loop = family.loop
        self.operands = family.root.operands
        self.index, *self.inputs = self.loop.body.inputs
        self.first_slice = self.loop.carried
        self.first_outer = self.loop.carried + self.loop.slices
        self.outputs = [node for _, node in self.loop.body.outputs[: self.loop.carried]]
        self.span: Span | None = family.root.span
        marked = [sweep.reaches(operand) for operand in self.operands]
        active: set[Node] = set()
        for member in family.members:
            active |= within(loop_of(member), marked)
        self.active = [
            place
            for place, node in enumerate(self.inputs)
            if node in active and node.type.dtype.is_float
        ]

    # ---- the whole ----

    def run(self) -> None:
        outside = {
            place: adjoint
            for place, node in self.family.results.items()
            if (adjoint := self.sweep.at(node)) is not None
        }
        kept = {
            body: adjoint
            for body, node in self.family.kept.items()
            if (adjoint := self.sweep.at(node)) is not None
        }
        if not outside and not kept:
            return
        masked = {place for place, adjoint in outside.items() if adjoint.mask is not None}
        present = set(outside)
        while True:
            swept = self._turn(present, masked, outside, kept)
            received = {place for place in swept.found if place < self.loop.carried}
            more = present | received
            holes = {
                place
                for place in more
                if place not in outside
                or place not in swept.found
                or swept.found[place].mask is not None
            }
            if more == present and holes <= masked:
                break
            present, masked = more, masked | holes
        self._close(swept)

    def _turn(
        self,
        present: set[int],
        masked: set[int],
        outside: dict[int, Adjoint],
        kept: dict[Node, Adjoint],
    ) -> _Swept:
        """The sweep of one turn, in which the carried values in `present` have an adjoint."""
        ends = [*self.outputs, *kept]
        mark = self.builder.mark(max(node.serial for node in self._body_nodes()))
        inner = Sweep(
            self.builder,
            frozenset(self.inputs[place] for place in self.active),
            ends,
            self.sweep.loops,
        )
        totals: dict[int, _Given] = {}
        for place in self.active:
            if place >= self.first_slice:
                given = self._total(place)
                if given is not None:
                    totals[place] = given
                    inner.put(self.inputs[place], given.inner)
        rows = {
            node: _Given(self._placeholders(node.type, adjoint.mask is not None), adjoint)
            for node, adjoint in kept.items()
            if inner.reaches(node)
        }
        for node, given in rows.items():
            inner.add(node, given.inner)
        carried = {
            place: _Given(
                self._placeholders(self.outputs[place].type, place in masked), outside.get(place)
            )
            for place in sorted(present)
        }
        for place in sorted(carried, reverse=True):
            if inner.reaches(self.outputs[place]):
                inner.add(self.outputs[place], carried[place].inner)
        inner.run()
        found: dict[int, Adjoint] = {}
        for place in self.active:
            adjoint = inner.at(self.inputs[place])
            before = totals.get(place)
            if adjoint is not None and not (before is not None and adjoint is before.inner):
                found[place] = adjoint.settled()
        return _Swept(mark, rows, carried, totals, found)

    def _body_nodes(self) -> Iterable[Node]:
        for member in self.family.members:
            yield from loop_of(member).body.inputs
            yield from loop_of(member).body.nodes()

    def _placeholders(self, type_: TensorType, masked: bool) -> Adjoint:
        value = Term(self.builder, self.builder.placeholder(type_, self.span), self.span)
        if not masked:
            return Adjoint(value)
        truth = TensorType(Dtype.BOOL, type_.shape)
        return Adjoint(
            value, Term(self.builder, self.builder.placeholder(truth, self.span), self.span)
        )

    def _total(self, place: int) -> _Given | None:
        """What the turns add to, if they do: for an outer value always; for a slice where its rows are those that
        another loop kept, which in turns that are written out are the very values that this loop reads."""
        operand = self.operands[place]
        outer = place >= self.first_outer
        # Contributions of slices and initial values come after those to outer values, and to those.
        others = [
            self.sweep.same(node) for node in self.operands[self.first_outer if outer else 0 :]
        ]
        part = operand.operation == "broadcast" and operand not in self.sweep.parameters
        alone = others.count(self.sweep.same(operand)) == 1 and not part
        earlier = self.sweep.at(operand) if alone else None
        type_ = self.inputs[place].type
        if outer:
            return _Given(self._placeholders(type_, False), earlier)
        if earlier is not None and self.sweep.is_kept(operand):
            return _Given(self._placeholders(type_, earlier.mask is not None), earlier)
        return None

    # ---- the backward loop ----

    def _close(self, swept: _Swept) -> None:
        carried: list[tuple[Node, Node]] = []
        slices: list[tuple[Node, Node]] = []
        after: list[Node] = []
        kept: list[Node] = []
        values: list[tuple[int, bool]] = []
        for place, given in swept.carried.items():
            type_ = self.outputs[place].type
            outside = given.outside.settled() if given.outside is not None else None
            start = outside.value.node if outside is not None else self._filled(0.0, type_)
            carried.append((given.inner.value.node, start))
            found = swept.found.get(place)
            after.append(found.value.node if found is not None else self._filled(0.0, type_))
            values.append((place, False))
            if given.inner.mask is not None:
                mask = outside.mask if outside is not None else None
                whole = self._truth(outside is not None, type_)
                carried.append((given.inner.mask.node, mask.node if mask is not None else whole))
                mask = found.mask if found is not None else None
                whole = self._truth(found is not None, type_)
                after.append(mask.node if mask is not None else whole)
                values.append((place, True))
        for place in sorted(swept.found):
            if place >= self.first_outer:
                given = swept.totals[place]
                start = (
                    given.outside.dropped().value.node
                    if given.outside is not None
                    else self._filled(-0.0, self.inputs[place].type)
                )
                carried.append((given.inner.value.node, start))
                after.append(swept.found[place].dropped().value.node)
                values.append((place, False))
        rows = [*swept.rows.values()]
        rows += [swept.totals[p] for p in swept.found if p < self.first_outer and p in swept.totals]
        for given in rows:
            assert given.outside is not None
            slices.extend(_pairs(given.inner, given.outside.settled()))
        for place in sorted(swept.found):
            if self.first_slice <= place < self.first_outer:
                found = swept.found[place]
                if found.mask is not None and not self.sweep.is_kept(self.operands[place]):
                    found = found.dropped()
                kept.append(found.value.node)
                values.append((place, False))
                if found.mask is not None:
                    kept.append(found.mask.node)
                    values.append((place, True))
        placeholders = {inner for inner, _ in (*carried, *slices)}
        parts = _Parts(self, swept.mark, placeholders, (*after, *kept))
        slices.extend(parts.rows())
        outers = zip(
            self.inputs[self.first_outer :], self.operands[self.first_outer :], strict=True
        )
        turn = Turn(
            self.loop.count,
            self.index,
            tuple(carried),
            tuple(slices),
            tuple(after),
            tuple(kept),
            tuple(outers),
            not self.loop.backward,
        )
        results = close(self.builder, turn, parts.again, self.span)
        self._contribute(swept, dict(zip(values, results, strict=True)))

    def _filled(self, value: float, type_: TensorType) -> Node:
        scalar = self.builder.constant(value, type_.dtype, self.span)
        return self.builder.broadcast(scalar, type_.shape, self.span)

    def _truth(self, value: bool, type_: TensorType) -> Node:
        scalar = self.builder.constant(value, Dtype.BOOL, self.span)
        return self.builder.broadcast(scalar, type_.shape, self.span)

    def _contribute(self, swept: _Swept, results: dict[tuple[int, bool], Node]) -> None:
        """Outer values first, then the rows of slices, then what the first turn was given."""
        parts = (
            range(self.first_outer, len(self.inputs)),
            reversed(range(self.first_slice, self.first_outer)),
            reversed(range(self.first_slice)),
        )
        for place in (place for part in parts for place in part):
            if place not in swept.found:
                continue
            mask = results.get((place, True))
            adjoint = Adjoint(
                Term(self.builder, results[place, False], self.span),
                Term(self.builder, mask, self.span) if mask is not None else None,
            )
            given = swept.totals.get(place)
            operand = self.operands[place]
            if given is not None and given.outside is not None:
                self.sweep.put(operand, adjoint)
            elif self.sweep.reaches(operand):
                self.sweep.add(operand, adjoint)


def _pairs(inner: Adjoint, outside: Adjoint) -> list[tuple[Node, Node]]:
    pairs = [(inner.value.node, outside.value.node)]
    if inner.mask is not None and outside.mask is not None:
        pairs.append((inner.mask.node, outside.mask.node))
    return pairs


class _Parts:
    """What a backward turn reads of the forward one: evaluated again, or kept there and read as rows."""

    def __init__(
        self, loop: _LoopSweep, mark: int, placeholders: set[Node], ends: Sequence[Node]
    ) -> None:
        self._loop = loop
        self._mark = mark
        self._given = {loop.index, *loop.inputs[loop.first_outer :], *placeholders}
        walked = _between(ends, self._given)
        floats = [node for node in loop.inputs if node.type.dtype.is_float]
        self._varying = reached(walked, floats)
        self._late = reached(walked, placeholders)
        self._kept: dict[Node, None] = {}
        pending = list(ends)
        seen: set[Node] = set()
        while pending:
            node = pending.pop()
            if node in seen or node in self._given:
                continue
            seen.add(node)
            if self.again(node):
                pending.extend(node.operands)
            else:
                self._kept[node] = None

    def again(self, node: Node) -> bool:
        """Whether the backward turn evaluates the node."""
        if node.operation == "input":
            return False
        # A result that depends on no adjoint belongs here too if something else that its loop does depends on one.
        late = node in self._late or (node.operation == "result" and node.operands[0] in self._late)
        if late or costs_nothing(node):
            return True
        if node.operation in ("loop", "result"):
            return False
        return node.serial >= self._mark or node not in self._varying

    def rows(self) -> list[tuple[Node, Node]]:
        """Each kept value of the turn with its rows; those nobody kept so far are kept by a new member."""
        family, loop = self._loop.family, self._loop.loop
        nodes = sorted(self._kept, key=lambda node: node.serial)
        missing = [node for node in nodes if node not in family.kept]
        rows = dict(family.kept)
        if missing:
            body = loop.body
            outputs = body_outputs(self._loop.outputs, missing)
            member = with_body(loop, Graph(body.name, body.inputs, outputs))
            made = self._loop.builder.loop(member, self._loop.operands, self._loop.span)
            rows.update(zip(missing, made[loop.carried :], strict=True))
        return [(node, rows[node]) for node in nodes]


def _between(ends: Sequence[Node], given: set[Node]) -> list[Node]:
    """What `ends` are made of, up to `given`, by serial."""
    found: set[Node] = set()
    pending = list(ends)
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            if node not in given:
                pending.extend(node.operands)
    return sorted(found, key=lambda node: node.serial)
