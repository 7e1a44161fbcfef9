"""Operations that take sizes or a shape literal: `repeat`, `pad`, `reshape`, `fill`, `positions`."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check import errors_shapes
from alpha.check.applications import Argument
from alpha.check.axes import Axis, resolve
from alpha.check.context import Context, scalar
from alpha.check.entries import Hole
from alpha.check.form_parts import fault, finish, size_term, waiting
from alpha.check.operations import NUMBERS
from alpha.check.sizes import shape_literal, size
from alpha.check.solver import INT
from alpha.core import term
from alpha.core.dim import Answer, Dim
from alpha.core.types import Function, Index, Shape, Tensor, Type
from alpha.diagnostics.diagnostic import Diagnostic, Label
from alpha.syntax import tree


def repeat(
    cx: Context,
    name: str,
    axes: tuple[Axis, ...],
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    count = size(cx, written[0])
    if count is None:
        return fault(cx, span)
    axis, axis_span = axes[0]

    def rule(operand: Tensor) -> tuple[tuple[int, ...], Type] | None:
        shape = operand.shape
        rank = len(shape.axes) + 1
        at = axis + rank if isinstance(axis, int) and axis < 0 else axis
        if not isinstance(at, int) or not 0 <= at < rank or (shape.lead is not None and axis == at):
            cx.fault = cx.report(
                errors_shapes.axis_form(axis_span)
                if not isinstance(axis, int)
                else errors_shapes.axis_number(axis_span, axis, cx.shower.shape(shape))
            )
            return None
        made = Shape((*shape.axes[:at], count, *shape.axes[at:]), shape.lead)
        return (at - rank if shape.lead is not None else at,), Tensor(operand.element, made)

    head = waiting(cx, name, axes, 1, place, rule, rest)
    return finish(cx, head, [size_term(count, written[0].span)], rest, place, span)


def pad(
    cx: Context,
    name: str,
    axes: tuple[Axis, ...],
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    low, high = (size(cx, w, least=0) for w in written)
    if low is None or high is None:
        return fault(cx, span)

    def rule(operand: Tensor) -> tuple[tuple[int, ...], Type] | None:
        places = resolve(cx, axes, operand.shape)
        if places is None:
            return None
        cx.require_dtype(operand.element, NUMBERS, False, "pad", place)
        sizes = list(operand.shape.axes)
        at = places[0] % len(sizes)
        sizes[at] = sizes[at] + low + high
        return places, Tensor(operand.element, Shape(tuple(sizes), operand.shape.lead))

    head = waiting(cx, name, axes, 2, place, rule, rest)
    terms = [size_term(d, w.span) for d, w in zip((low, high), written, strict=True)]
    return finish(cx, head, terms, rest, place, span)


def reshape(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    sizes = shape_literal(cx, written[0], name)
    if sizes is None:
        return fault(cx, span)

    def refuse(left: Dim, right: Dim, answer: Answer) -> Diagnostic | None:
        labels = (Label(written[0].span, f"the new shape has {right} elements"),)
        return errors_shapes.counts(span, left, right, answer is Answer.NO, labels)

    def rule(operand: Tensor) -> tuple[None, Type] | None:
        if operand.shape.lead is not None:
            shown = cx.shower.shape(operand.shape), cx.shower.shape(Shape(sizes))
            cx.fault = cx.report(errors_shapes.ranks(span, *shown, ()))
            return None
        if not cx.unify_dims(_product(operand.shape.axes), _product(sizes), span, (), refuse):
            return None
        return None, Tensor(operand.element, Shape(sizes))

    head = waiting(cx, name, None, 0, place, rule, rest)
    hole: object = head  # a hole is no term, but stands where one does
    assert isinstance(hole, Hole)
    hole.shape = sizes
    return finish(cx, head, [], rest, place, span)


def _product(sizes: Sequence[Dim]) -> Dim:
    product = Dim.constant(1)
    for item in sizes:
        product = product * item
    return product


def fill(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    sizes = shape_literal(cx, written[0], name)
    if sizes is None:
        return fault(cx, span)
    element = cx.solver.element(span)
    type_ = Function(scalar(element), Tensor(element, Shape(sizes)))
    head = term.Intrinsic(name, shape=sizes, span=place, type=type_)
    return finish(cx, head, [], rest, place, span)


def positions(
    cx: Context,
    name: str,
    axes: object,
    written: Sequence[tree.Expr],
    rest: Sequence[Argument],
    place: Span,
    span: Span,
) -> term.Term:
    count = size(cx, written[0])
    if count is None:
        return fault(cx, span)
    type_ = Function(INT, Tensor(Index(count), Shape((count,))))
    head = term.Intrinsic(name, span=place, type=type_)
    return finish(cx, head, [size_term(count, written[0].span)], rest, place, span)
