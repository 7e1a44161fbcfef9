"""Makes nodes: numbers them in the order of evaluation and gives each the type its row's rule says."""

from __future__ import annotations

import math
from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.span import Span
from alpha.graph.errors import OperationError
from alpha.graph.ieee import nearest
from alpha.graph.node import Attribute, Graph, Loop, Node
from alpha.graph.ops import TABLE
from alpha.graph.scalar import limits


class Builder:
    """Extends one line of nodes. Serial numbers follow the order of the calls, which is the order of evaluation.

    Nodes are never shared silently: the same call twice makes two nodes, since a gradient's bits depend on both.
    """

    __slots__ = ("_inputs", "_serial")

    def __init__(self) -> None:
        self._serial = 0
        self._inputs: dict[str, Node] = {}

    def input(self, name: str, type_: TensorType, span: Span | None = None) -> Node:
        """The tensor `name` from outside; a name is used once."""
        if name in self._inputs:
            raise ValueError(f"the graph already has an input {name!r}")
        node = self._node("input", (), (("name", name),), type_, span)
        self._inputs[name] = node
        return node

    def placeholder(self, type_: TensorType, span: Span | None = None) -> Node:
        """A tensor that one turn of a loop is given; `loops.close` makes an input of the loop's body of it."""
        return self._node("input", (), (("name", "placeholder"),), type_, span)

    def constant(self, value: int | float | bool, dtype: Dtype, span: Span | None = None) -> Node:
        """A known scalar. Floats are rounded to the nearest value of `dtype`; integers must be exact (E0402)."""
        return self._node(
            "constant", (), (("value", exact(value, dtype)),), TensorType(dtype, ()), span
        )

    def apply(
        self,
        operation: str,
        operands: Sequence[Node],
        span: Span | None = None,
        **attributes: Attribute | Dtype,
    ) -> Node:
        """One evaluation of a row of the table. A refused operand is `OperationError`.

        Attributes are those of the row; a dtype may be given as `Dtype` or by name. `deriveKey` has `index` 0 unless
        it is given.
        """
        row = TABLE.get(operation)
        if row is None or row.leaf:
            raise ValueError(f"no operation {operation!r} to apply")
        if operation == "deriveKey":
            attributes.setdefault("index", 0)
        plain: dict[str, Attribute] = {
            name: value.value if isinstance(value, Dtype) else value
            for name, value in sorted(attributes.items())
        }
        if tuple(plain) != tuple(sorted(row.attributes)):
            raise ValueError(
                f"`{operation}` has the attributes {row.attributes}, not {tuple(plain)}"
            )
        type_ = row.rule([operand.type for operand in operands], plain)
        return self._node(operation, tuple(operands), tuple(plain.items()), type_, span)

    def broadcast(self, node: Node, shape: Sequence[int], span: Span | None = None) -> Node:
        """`node` along new leading axes, so that its shape is `shape`; the node itself if it has that shape."""
        if node.type.shape == tuple(shape):
            return node
        return self.apply("broadcast", (node,), span, shape=tuple(shape))

    def fresh(self, node: Node, span: Span | None = None) -> Node:
        """A new node with the value of `node`: what to differentiate by where `node` is also used elsewhere."""
        return self.apply("reshape", (node,), span, shape=node.type.shape)

    def loop(
        self, loop: Loop, operands: Sequence[Node], span: Span | None = None
    ) -> tuple[Node, ...]:
        """A rolled loop (`Loop` says what its operands are); gives its results in order, each a `result` node."""
        node = self._node("loop", tuple(operands), (), TensorType(Dtype.BOOL, ()), span, loop)
        return tuple(
            self._node("result", (node,), (("place", place),), type_, span)
            for place, type_ in enumerate(loop.results)
        )

    def mark(self, behind: int = -1) -> int:
        """A serial that every node made from now on has or exceeds, and none made before; it lies behind `behind`."""
        self._serial = max(self._serial, behind + 1)
        return self._serial

    def graph(self, name: str, outputs: Sequence[tuple[str, Node]]) -> Graph:
        """The function of all inputs made so far that computes `outputs`."""
        return Graph(name, tuple(self._inputs.values()), tuple(outputs))

    def _node(
        self,
        operation: str,
        operands: tuple[Node, ...],
        attributes: tuple[tuple[str, Attribute], ...],
        type_: TensorType,
        span: Span | None,
        loop: Loop | None = None,
    ) -> Node:
        node = Node(self._serial, operation, operands, attributes, type_, span, loop)
        self._serial += 1
        return node


def exact(value: int | float | bool, dtype: Dtype) -> int | float | bool:
    """The constant of `dtype` that `value` stands for, in the one form that attributes have."""
    if dtype is Dtype.BOOL:
        if isinstance(value, bool):
            return value
        raise OperationError("E0401", f"{value} is no bool")
    if isinstance(value, bool):
        raise OperationError("E0401", f"a bool is no {dtype.value}")
    if dtype.is_float:
        rounded = nearest(value, dtype)
        return math.nan if math.isnan(rounded) else rounded
    if isinstance(value, int):
        low, high = limits(dtype)
        if low <= value <= high:
            return value
    raise OperationError("E0402", f"{value} does not fit {dtype.value}")
