"""What the operations with a written-out argument share: their usage, and how they wait for a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def fault(cx: Context, span: Span) -> term.Term:
    assert cx.fault is not None
    return cx.poisoned(span, cx.fault)


def finish(
    cx: Context,
    head: term.Term,
    sizes: Sequence[term.Term],
    operands: Sequence[Argument],
    name: Span,
    span: Span,
) -> term.Term:
    ready = [Ready(s, s.span) for s in sizes]
    if not ready and not operands:
        return head
    return apply_term(cx, head, name, [*ready, *operands], span, None, None)


def size_term(dim: Dim, span: Span) -> term.Term:
    return term.DimValue(dim, span=span, type=INT)


def waiting(
    cx: Context,
    name: str,
    axes: tuple[Axis, ...] | None,
    sizes: int,
    span: Span,
    rule: Rule,
    operands: Sequence[Argument],
) -> term.Term:
    """A function of `sizes` numbers and one tensor whose type `rule` makes from the tensor's, once that is known."""
    parameter, result = cx.solver.type(span), cx.solver.type(span)
    type_: Type = Function(parameter, result)
    for _ in range(sizes):
        type_ = Function(INT, type_)
    hole = Hole(span, type_)
    place = operands[-1].span if operands else span

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
            cx.unify(item, Tensor(cx.solver.element(span), cx.solver.shape(span)), place)
            cx.unify(result, fault(cx, span).type, span)
            return True
        if not is_settled(cx, item):
            return False
        found = rule(Tensor(item.element, cx.solver.known_shape(item.shape)))
        if found is None:
            cx.unify(result, fault(cx, span).type, span)
        else:
            places, made = found
            hole.filled = term.Intrinsic(name, axes=places, shape=hole.shape, span=span, type=type_)
            cx.unify(result, made, span)
        return True

    def give_up() -> None:
        cx.unify(result, cx.refuse(span, errors_types.unknown_operand(span, name)).type, span)

    cx.wait(Waiting(attempt, give_up, (parameter, result)))
    return hole  # type: ignore[return-value]


Rule = Callable[[Tensor], "tuple[tuple[int, ...] | None, Type] | None"]
