"""Formulas over graph nodes with Python's own operators, so that a row of the table reads like the specification.

A `Term` is a node together with the builder that extends its graph. `g * b` emits one `mul` node; Python evaluates
operands from left to right, which is the order the law asks for. Numbers become constants of the term's dtype,
broadcast to its shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.graph.node import Attribute, Node


class Emitter(Protocol):
    """What a formula needs of a builder."""

    def apply(
        self,
        operation: str,
        operands: Sequence[Node],
        span: Span | None = None,
        **attributes: Attribute | Dtype,
    ) -> Node: ...

    def constant(
        self, value: int | float | bool, dtype: Dtype, span: Span | None = None
    ) -> Node: ...

    def broadcast(self, node: Node, shape: Sequence[int], span: Span | None = None) -> Node: ...


@record
class Term:
    emitter: Emitter
    node: Node
    span: Span | None

    @property
    def type(self) -> TensorType:
        return self.node.type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.node.type.shape

    @property
    def rank(self) -> int:
        return len(self.node.type.shape)

    def apply(self, operation: str, *others: Term, **attributes: Attribute | Dtype) -> Term:
        """`operation` with this term as its first operand."""
        nodes = (self.node, *(other.node for other in others))
        return Term(
            self.emitter, self.emitter.apply(operation, nodes, self.span, **attributes), self.span
        )

    def source(self, operation: str, **attributes: Attribute | Dtype) -> Term:
        """An operation without operands, in the graph of this term."""
        return Term(
            self.emitter, self.emitter.apply(operation, (), self.span, **attributes), self.span
        )

    def like(self, value: int | float) -> Term:
        """`value` in every place of a tensor of this term's dtype and shape."""
        return self.filled(value, self.shape)

    def filled(self, value: int | float, shape: tuple[int, ...]) -> Term:
        scalar = self.emitter.constant(value, self.type.dtype, self.span)
        return Term(self.emitter, self.emitter.broadcast(scalar, shape, self.span), self.span)

    def _operand(self, other: Term | int | float) -> Term:
        return other if isinstance(other, Term) else self.like(other)

    def __add__(self, other: Term | int | float) -> Term:
        return self.apply("add", self._operand(other))

    def __sub__(self, other: Term | int | float) -> Term:
        return self.apply("sub", self._operand(other))

    def __mul__(self, other: Term | int | float) -> Term:
        return self.apply("mul", self._operand(other))

    def __truediv__(self, other: Term | int | float) -> Term:
        return self.apply("div", self._operand(other))

    def __radd__(self, other: int | float) -> Term:
        return self.like(other).apply("add", self)

    def __rsub__(self, other: int | float) -> Term:
        return self.like(other).apply("sub", self)

    def __rmul__(self, other: int | float) -> Term:
        return self.like(other).apply("mul", self)

    def __rtruediv__(self, other: int | float) -> Term:
        return self.like(other).apply("div", self)

    def __neg__(self) -> Term:
        return self.apply("neg")

    def __lt__(self, other: Term | int | float) -> Term:
        return self.apply("less", self._operand(other))

    def __le__(self, other: Term | int | float) -> Term:
        return self.apply("lessEqual", self._operand(other))

    def __gt__(self, other: Term | int | float) -> Term:
        return self.apply("greater", self._operand(other))

    def __ge__(self, other: Term | int | float) -> Term:
        return self.apply("greaterEqual", self._operand(other))

    def equals(self, other: Term | int | float) -> Term:
        """A `Tensor bool`; `==` itself stays identity of terms."""
        return self.apply("equal", self._operand(other))

    def repeated(self, axes: Sequence[int], shape: Sequence[int]) -> Term:
        """The tensor of shape `shape` that repeats this one along `axes` (new axes of the result, ascending)."""
        term = self
        for axis in sorted(axes):
            term = term.apply("repeat", axis=axis, count=shape[axis])
        return term


def select(condition: Term, chosen: Term | int | float, otherwise: Term | int | float) -> Term:
    """`chosen` where `condition`, else `otherwise`; one of the two may be a number."""
    if not isinstance(chosen, Term):
        assert isinstance(otherwise, Term)
        chosen = otherwise.like(chosen)
    other = otherwise if isinstance(otherwise, Term) else chosen.like(otherwise)
    return condition.apply("select", chosen, other)


def exp(x: Term) -> Term:
    return x.apply("exp")


def log(x: Term) -> Term:
    return x.apply("log")


def total(x: Term, axes: Sequence[int]) -> Term:
    """`sum[axes] x`; `x` itself where no axes are named."""
    return x.apply("sum", axes=tuple(axes)) if axes else x
