"""What the operations with a written-out argument share: their usage, and how they wait for a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.record import record
from alpha.base.span import Span
from alpha.check import errors_types
from alpha.check.applications import Argument, Ready, apply_term
from alpha.check.axes import Axis
from alpha.check.broadcasting import is_settled
from alpha.check.context import Context, scalar
from alpha.check.entries import Hole, Waiting
from alpha.check.solver import INT
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.types import Function, Tensor, Type
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.syntax import tree

USAGE = {
    "repeat": "repeat[k] n x",
    "concat": "concat[k] [a, b]",
    "pad": "pad[k] lo hi x",
    "reshape": "reshape [n, m] x",
    "fill": "fill [n, m] c",
    "positions": "positions n",
    "conv2d": "conv2d p x w",
    "maxPool": "maxPool k x",
    "meanPool": "meanPool k x",
    "cast": "cast f32 x",
}

Made = tuple[tuple[int, ...] | None, Type]
"""The axes of an operation, and the type of its result."""


@record
class Form:
    """One use of an operation with a written-out argument.

    `axes` are those in brackets, none where the operation takes none. `written` are the arguments that are part of the
    type, `operands` the ones behind them. `place` is the span of the operation's name, `span` that of the whole.
    """

    cx: Context
    name: str
    axes: tuple[Axis, ...]
    written: Sequence[tree.Expr]
    operands: Sequence[Argument]
    place: Span
    span: Span

    def fault(self) -> term.Term:
        """What stands for the form where something in it was just reported."""
        return self.cx.faulty(self.span)

    def misused(self) -> term.Term:
        usage = USAGE[self.name]
        return self.cx.refuse(
            self.span, errors_types.special_arguments(self.span, self.name, usage)
        )

    def refuse(self, diagnostic: Diagnostic) -> None:
        """Reports why a rule makes nothing."""
        self.cx.fault = self.cx.report(diagnostic)

    def applied(self, head: term.Term, sizes: Sequence[Dim] = ()) -> term.Term:
        """`head` applied to the sizes that `written` stand for, then to the operands."""
        ready = [
            Ready(term.DimValue(size, span=node.span, type=INT), node.span)
            for size, node in zip(sizes, self.written, strict=bool(sizes))
        ]
        if not ready and not self.operands:
            return head
        arguments = [*ready, *self.operands]
        return apply_term(self.cx, head, self.place, arguments, self.span, None, None)

    def waiting(
        self,
        rule: Callable[[Tensor], Made | None],
        sizes: Sequence[Dim] = (),
        shape: tuple[Dim, ...] | None = None,
    ) -> term.Term:
        """The form over one tensor whose type `rule` makes from the tensor's, once that is known.

        A rule that gives None has called `refuse`. `shape` is the shape literal of the operation.
        """
        cx, span = self.cx, self.place
        parameter, result = cx.solver.type(span), cx.solver.type(span)
        type_: Type = Function(parameter, result)
        for _ in sizes:
            type_ = Function(INT, type_)
        hole = Hole(span, type_)
        operand = self.operands[-1].span if self.operands else span

        def attempt() -> bool:
            item = cx.solver.head(parameter)
            if cx.is_poisoned(item):
                cx.unify(result, item, span)
                return True
            if cx.is_open(item):
                if not cx.solver.literal(item):
                    return False
                cx.unify(item, scalar(cx.solver.element(span)), span)
                item = cx.solver.head(item)
            if not isinstance(item, Tensor):
                cx.unify(item, Tensor(cx.solver.element(span), cx.solver.shape(span)), operand)
                cx.unify(result, self.fault().type, span)
                return True
            if not is_settled(cx, item):
                return False
            found = rule(Tensor(item.element, cx.solver.known_shape(item.shape)))
            if found is None:
                cx.unify(result, self.fault().type, span)
            else:
                places, made = found
                hole.filled = term.Intrinsic(
                    self.name, axes=places, shape=shape, span=span, type=type_
                )
                cx.unify(result, made, span)
            return True

        cx.wait(Waiting(attempt, lambda: self.give_up(result), (parameter, result)))
        return self.applied(hole.term, sizes)

    def give_up(self, result: Type) -> None:
        """Nothing ever said what the operand is."""
        place = self.place
        diagnostic = errors_types.unknown_operand(place, self.name)
        self.cx.unify(result, self.cx.refuse(place, diagnostic).type, place)
