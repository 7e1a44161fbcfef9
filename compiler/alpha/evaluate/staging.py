"""What belongs to the one graph that is being built: its builder, the keys it used, the loops it is in."""

from __future__ import annotations

from collections.abc import Callable

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.evaluate import errors
from alpha.evaluate.values import KeyValue, Scalar, Staged, Value
from alpha.graph.builder import Builder
from alpha.graph.errors import OperationError
from alpha.graph.node import Attribute, Node

KEY = TensorType(Dtype.U32, (3,))


@record
class KeyUse:
    """One use of a key: `kind` is `drawn`, `split`, `derived`, or `carried` by a loop.

    `labels` are those it was derived with: one number, or the numbers that the index of a loop goes through.
    """

    kind: str
    span: Span
    labels: range = range(0)


@record(frozen=False)
class Staging:
    """`constants` holds module-level values that contain nodes of this graph. `used` tells whether a node was made.

    `loops` are the numbers of the rolled loops whose turn is being evaluated, outer ones first; `turns` says how many
    turns each loop has.
    """

    builder: Builder = field(default_factory=Builder)
    used: bool = False
    inputs: int = 0
    constants: dict[str, Value] = field(default_factory=dict)
    loops: list[int] = field(default_factory=list)
    turns: dict[int, int] = field(default_factory=dict)
    _uses: dict[int, list[KeyUse]] = field(default_factory=dict)
    _keys: int = 0

    def apply(
        self,
        operation: str,
        operands: tuple[Node, ...],
        span: Span,
        **attributes: Attribute | Dtype,
    ) -> Node:
        """A node of the operation. A wrong operand is reported at `span`."""
        self.used = True
        try:
            return self.builder.apply(operation, operands, span=span, **attributes)
        except OperationError as error:
            raise Refused(error.diagnostic(span)) from None

    def input(self, name: str, type: TensorType, span: Span) -> Node:
        self.used = True
        self.inputs += 1
        return self.builder.input(name, type, span)

    def constant(self, scalar: Scalar, span: Span) -> Node:
        self.used = True
        return self.builder.constant(scalar.value, scalar.dtype, span=span)

    def node(self, value: Value, span: Span) -> Node:
        """The node of a tensor, known or staged."""
        match value:
            case Staged(node):
                return node
            case Scalar():
                return self.constant(value, span)
            case KeyValue(node):
                return node
            case _:
                raise TypeError(f"{type(value).__name__} is no tensor")

    def broadcast(self, node: Node, shape: tuple[int, ...], span: Span) -> Node:
        """`node` with axes added before its own until it has `shape`; itself if it has it already."""
        try:
            return self.builder.broadcast(node, shape, span=span)
        except OperationError as error:
            raise Refused(error.diagnostic(span)) from None

    def fresh(self, node: Node, span: Span) -> Node:
        """A new node with the value of `node`."""
        self.used = True
        return self.builder.fresh(node, span)

    # ---- keys ----

    def key(self, node: Node) -> KeyValue:
        """A fresh key whose bits are `node`."""
        self._keys += 1
        return KeyValue(node, self._keys, tuple(self.loops))

    def use(self, key: KeyValue, use: KeyUse, own_index: bool = False) -> None:
        """Record a use of a key; a second one, or one from inside a loop around which it was made, is refused.

        `own_index` says that the label is the index of the innermost loop; the key may be of just outside that one.
        """
        here = tuple(self.loops)
        from_outside = use.kind == "derived" and own_index and key.loops == here[:-1]
        if key.loops != here and not from_outside:
            raise Refused(errors.key_captured(use.span))
        earlier = self._uses.setdefault(key.serial, [])
        for other in earlier:
            fault = self._conflict(other, use)
            if fault is not None:
                raise Refused(fault(other.span, use.span))
        earlier.append(use)

    @staticmethod
    def _conflict(first: KeyUse, second: KeyUse) -> Callable[[Span, Span], Diagnostic] | None:
        kinds = {first.kind, second.kind}
        if kinds == {"derived"}:
            apart = (
                first.labels.stop <= second.labels.start or second.labels.stop <= first.labels.start
            )
            return None if apart else errors.label_used_twice
        if kinds in ({"drawn", "derived"}, {"drawn", "split"}):
            return errors.drawn_and_derived
        return errors.key_used_twice

    # ---- rolled loops ----

    def enter_loop(self, turns: int) -> int:
        """Begin a turn that stands for all of a new loop; the number of that loop."""
        number = len(self.turns) + 1
        self.turns[number] = turns
        self.loops.append(number)
        return number

    def leave_loop(self) -> None:
        self.loops.pop()
