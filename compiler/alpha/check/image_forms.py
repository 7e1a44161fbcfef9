"""Operations on images: `conv2d`, `maxPool`, `meanPool`."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check import errors_shapes
from alpha.check.applications import Argument
from alpha.check.context import Context
from alpha.check.form_parts import fault, finish, size_term, waiting
from alpha.check.operations import FLOATS, NUMBERS
from alpha.check.sizes import size
from alpha.check.solver import INT
from alpha.core import term
from alpha.core.dim import Answer, Dim, nonnegative
from alpha.core.types import Function, Shape, Tensor, Type
from alpha.syntax import tree


def conv2d(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    padding = size(cx, written[0], least=0)
    if padding is None:
        return fault(cx, span)
    fresh = cx.solver.dim
    batch, high, wide, inputs = (fresh(span, h) for h in ("n", "h", "w", "i"))
    kernel_high, kernel_wide, outputs = (fresh(span, h) for h in ("kh", "kw", "o"))
    element = cx.solver.element(span)
    cx.require_dtype(element, FLOATS, False, name, place)
    one = Dim.constant(1)
    result = Shape(
        (
            batch,
            high + padding + padding - kernel_high + one,
            wide + padding + padding - kernel_wide + one,
            outputs,
        )
    )
    image = Tensor(element, Shape((batch, high, wide, inputs)))
    weights = Tensor(element, Shape((kernel_high, kernel_wide, inputs, outputs)))
    type_ = Function(INT, Function(image, Function(weights, Tensor(element, result))))
    head = term.Intrinsic(name, span=place, type=type_)
    found = finish(cx, head, [size_term(padding, written[0].span)], rest, place, span)
    for kernel in (kernel_high, kernel_wide):
        room = cx.solver.known_dim(kernel) - padding - one
        if not any(n[0] in "?!" for n in room.names) and nonnegative(room) is not Answer.YES:
            decided = nonnegative(room) is Answer.NO
            cx.report(
                errors_shapes.bounds(
                    written[0].span, f"a padding of {padding}", cx.shower.dim(kernel), decided
                )
            )
    return found


def pool(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    window = size(cx, written[0])
    if window is None:
        return fault(cx, span)
    divisor = window.value
    if divisor is None:
        return cx.refuse(written[0].span, errors_shapes.size_expression(written[0].span))

    def rule(operand: Tensor) -> tuple[None, Type] | None:
        shape = operand.shape
        if shape.lead is not None or len(shape.axes) != 4:
            cx.fault = cx.report(
                errors_shapes.ranks(span, cx.shower.shape(shape), "[n, h, w, c]", ())
            )
            return None
        cx.require_dtype(
            operand.element, NUMBERS if name == "maxPool" else FLOATS, False, name, place
        )
        batch, high, wide, channels = shape.axes
        parts = [side.divided(divisor) for side in (high, wide)]
        for part, side in zip(parts, (high, wide), strict=True):
            if part is None:
                cx.fault = cx.report(
                    errors_shapes.does_not_divide(span, cx.shower.dim(side), divisor)
                )
                return None
        made = tuple(p for p in (batch, *parts, channels) if p is not None)
        return None, Tensor(operand.element, Shape(made))

    head = waiting(cx, name, None, 1, place, rule, rest)
    return finish(cx, head, [size_term(window, written[0].span)], rest, place, span)
