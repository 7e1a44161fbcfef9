"""Nodes of the tensor graph and the builder that numbers them.

A node is one evaluation of one operation. Nodes compare by identity: evaluating the same expression twice makes two
nodes, because the order and the number of evaluations fix the bits of a gradient. The pass `merge_equal` makes them
one again once gradients are taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.dtype import TensorType
from alpha.base.record import field, record
from alpha.base.span import Span

Attribute = int | float | str | bool | tuple["Attribute", ...]
"""Attributes are plain data. A constant's `value` is an int, or the f32 / f64 value as an exact Python float."""


@record(eq=False, weakref=True)
class Node:
    """`operation` is a row of `graph.ops.TABLE`; `attributes` are sorted by name; `type` is what the row's rule gives.

    `serial` orders nodes by evaluation within one builder; operands always have smaller serials. A node of operation
    `loop` holds what it repeats in `loop`; it has no value of its own (its type is a bool scalar that nothing reads)
    and is an operand of `result` nodes alone.
    """

    serial: int
    operation: str
    operands: tuple[Node, ...]
    attributes: tuple[tuple[str, Attribute], ...]
    type: TensorType
    span: Span | None = field(repr=False)
    loop: Loop | None = field(default=None, repr=False)

    def attribute(self, name: str) -> Attribute:
        for key, value in self.attributes:
            if key == name:
                return value
        raise KeyError(name)


@record
class Graph:
    """A function of named tensors. `inputs` are nodes of operation `input` with the attribute `name`.

    Outputs are computed together; a node may be output under several names.
    """

    name: str
    inputs: tuple[Node, ...]
    outputs: tuple[tuple[str, Node], ...]

    def nodes(self) -> Iterator[Node]:
        """Every node that an output needs, operands first, otherwise by serial; each once."""
        seen: set[Node] = set()
        needed: list[Node] = []
        pending = [node for _, node in self.outputs]
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                needed.append(node)
                pending.extend(node.operands)
        return iter(sorted(needed, key=lambda node: node.serial))


@record(eq=False)
class Loop:
    """A rolled loop: `body` is evaluated `count` times, each turn on what the turn before carried over.

    The inputs of `body` are, in this order: the index (u32 scalar), `carried` values, `slices` values, then values from
    outside that no turn changes. The operands of the `loop` node are their origins, without the index: what the first
    turn is given as carried values; for each slice a tensor with a leading axis of size `count`, of which a turn sees
    the row of its index; the values from outside. The outputs of `body` are the carried values for the next turn, then
    values that are kept of each turn.

    The index runs from 0 to `count - 1`, with `backward` from `count - 1` to 0. Result `k` of the loop is carried value
    `k` after the last turn; the results behind those are the kept values, each with a leading axis of size `count`,
    the row of a turn being that of its index.
    """

    count: int
    carried: int
    slices: int
    body: Graph
    backward: bool = False

    @property
    def results(self) -> tuple[TensorType, ...]:
        """The type of every result."""
        types = [node.type for _, node in self.body.outputs]
        rows = [rows_of(type_, self.count) for type_ in types[self.carried :]]
        return (*types[: self.carried], *rows)


def rows_of(type_: TensorType, count: int) -> TensorType:
    """The type of `count` values of `type_` under one another, along a new leading axis."""
    return TensorType(type_.dtype, (count, *type_.shape), type_.bound)
