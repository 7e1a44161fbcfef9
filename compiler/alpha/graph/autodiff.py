"""Reverse-mode gradients as a source transformation (language page, section 14).

The sweep visits the nodes between the parameters and the loss from the last evaluated to the first and applies each
row's gradient formula. The laws it keeps, because they fix the bits:

* a value used several times gets the sum of its contributions in the order the sweep meets them, last use first; two
  operands of one operation count left first;
* a `broadcast` is part of the operand it widens, not a place of its own in that order: its `sum` is taken where the
  contribution is made;
* an adjoint carries a mask. `select` narrows it, an elementwise formula under it is `select mask formula 0`, and where
  contributions meet, or at an operation that is not elementwise, it is applied and dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.graph.builder import Builder
from alpha.graph.errors import (
    integer_parameter,
    loss_not_scalar,
    not_differentiable,
    parameter_unreached,
)
from alpha.graph.formula import Term, select, total
from alpha.graph.node import Node
from alpha.graph.ops import TABLE, Use


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


def gradients(
    builder: Builder, loss: Node, parameters: Sequence[Node], names: Sequence[str] = ()
) -> list[Node]:
    """The derivative of `loss` by each parameter, as new nodes of `builder`, one a parameter in order.

    `loss` is a scalar f32. Parameters are independent of each other: the sweep stops at them. Where a parameter's value
    is also used outside the function that is differentiated, pass `builder.fresh(value)` to both. `names` are what the
    messages call the parameters. Refuses with `OperationError`: E0610 loss not a scalar f32, E0611 an operation without
    a gradient on the way, E0612 a parameter the loss does not depend on, E0613 an integer parameter.
    """
    called = [
        names[place] if names else f"parameter {place + 1}" for place in range(len(parameters))
    ]
    if loss.type != TensorType(Dtype.F32, ()):
        raise loss_not_scalar(loss.type, loss.span)
    for name, parameter in zip(called, parameters, strict=True):
        if not parameter.type.dtype.is_float:
            raise integer_parameter(name, parameter.type, parameter.span)
    sweep = _Sweep(builder, frozenset(parameters))
    one = builder.constant(1.0, Dtype.F32, loss.span)
    sweep.add(loss, Adjoint(Term(builder, one, loss.span)))
    for node in sorted(sweep.between(loss), key=lambda node: -node.serial):
        sweep.visit(node)
    found: list[Node] = []
    for name, parameter in zip(called, parameters, strict=True):
        adjoint = sweep.adjoints.get(parameter)
        if adjoint is None:
            raise parameter_unreached(name, parameter.span)
        found.append(adjoint.dropped().value.node)
    return found


class _Sweep:
    def __init__(self, builder: Builder, parameters: frozenset[Node]) -> None:
        self.builder = builder
        self.parameters = parameters
        self.adjoints: dict[Node, Adjoint] = {}
        self.active: set[Node] = set()

    def between(self, loss: Node) -> set[Node]:
        """The nodes that depend on a parameter and that the loss depends on; parameters themselves end the walk."""
        ordered: set[Node] = set()
        pending = [loss]
        while pending:
            node = pending.pop()
            if node not in ordered:
                ordered.add(node)
                if node not in self.parameters:
                    pending.extend(node.operands)
        for node in sorted(ordered, key=lambda node: node.serial):
            if node in self.parameters or any(operand in self.active for operand in node.operands):
                self.active.add(node)
        return self.active - self.parameters

    def add(self, node: Node, contribution: Adjoint) -> None:
        """One contribution to the adjoint of `node`, met after those it already has."""
        while node.operation == "broadcast" and node not in self.parameters:
            added = tuple(range(len(node.type.shape) - len(node.operands[0].type.shape)))
            contribution = Adjoint(total(contribution.dropped().value, added))
            node = node.operands[0]
        earlier = self.adjoints.get(node)
        if earlier is not None:
            contribution = Adjoint(earlier.dropped().value + contribution.dropped().value)
        self.adjoints[node] = contribution

    def visit(self, node: Node) -> None:
        adjoint = self.adjoints.get(node)
        if adjoint is None or node.operation == "broadcast":
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
            raise not_differentiable(node.operation, types, node.span, interval=row.interval)
        masks = self._masks(node, operands, adjoint.mask)
        for operand, contribution, mask in zip(node.operands, contributions, masks, strict=True):
            if contribution is None or not self._reaches(operand):
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

    def _reaches(self, operand: Node) -> bool:
        """Whether a parameter's adjoint comes through `operand`."""
        return operand in self.active and operand.type.dtype.is_float
