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

    `serial` orders nodes by evaluation within one builder; operands always have smaller serials.
    """

    serial: int
    operation: str
    operands: tuple[Node, ...]
    attributes: tuple[tuple[str, Attribute], ...]
    type: TensorType
    span: Span | None = field(repr=False)

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
