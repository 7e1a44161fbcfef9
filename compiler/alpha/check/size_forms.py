"""Operations that take sizes or a shape literal: `repeat`, `pad`, `reshape`, `fill`, `positions`."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.check import errors_shapes
from alpha.check.axes import resolve
from alpha.check.context import scalar
from alpha.check.form_parts import Form, Made
from alpha.check.operations import NUMBERS
from alpha.check.sizes import shape_literal, size
from alpha.check.solver import INT
from alpha.core import term
from alpha.core.dim import Answer, Dim
from alpha.core.types import Function, Index, Shape, Tensor
from alpha.diagnostics.diagnostic import Diagnostic, Label


def repeat(form: Form) -> term.Term:
    cx = form.cx
    count = size(cx, form.written[0])
    if count is None:
        return form.fault()
    axis, axis_span = form.axes[0]

    def rule(operand: Tensor) -> Made | None:
        shape = operand.shape
        rank = len(shape.axes) + 1
        at = axis + rank if isinstance(axis, int) and axis < 0 else axis
        if not isinstance(at, int) or not 0 <= at < rank or (shape.lead is not None and axis == at):
            form.refuse(
                errors_shapes.axis_form(axis_span)
                if not isinstance(axis, int)
                else errors_shapes.axis_number(axis_span, axis, cx.shower.shape(shape))
            )
            return None
        made = Shape((*shape.axes[:at], count, *shape.axes[at:]), shape.lead)
        return (at - rank if shape.lead is not None else at,), Tensor(operand.element, made)

    return form.waiting(rule, (count,))


def pad(form: Form) -> term.Term:
    cx = form.cx
    low, high = (size(cx, node, least=0) for node in form.written)
    if low is None or high is None:
        return form.fault()

    def rule(operand: Tensor) -> Made | None:
        places = resolve(cx, form.axes, operand.shape)
        if places is None:
            return None
        cx.require_dtype(operand.element, NUMBERS, False, form.name, form.place)
        sizes = list(operand.shape.axes)
        at = places[0] % len(sizes)
        sizes[at] = sizes[at] + low + high
        return places, Tensor(operand.element, Shape(tuple(sizes), operand.shape.lead))

    return form.waiting(rule, (low, high))


def reshape(form: Form) -> term.Term:
    cx, span = form.cx, form.span
    sizes = shape_literal(cx, form.written[0], form.name)
    if sizes is None:
        return form.fault()

    def refuse(left: Dim, right: Dim, answer: Answer) -> Diagnostic | None:
        labels = (Label(form.written[0].span, f"the new shape has {right} elements"),)
        return errors_shapes.counts(span, left, right, answer is Answer.NO, labels)

    def rule(operand: Tensor) -> Made | None:
        if operand.shape.lead is not None:
            shown = cx.shower.shape(operand.shape), cx.shower.shape(Shape(sizes))
            form.refuse(errors_shapes.ranks(span, *shown, ()))
            return None
        if not cx.unify_dims(_product(operand.shape.axes), _product(sizes), span, (), refuse):
            return None
        return None, Tensor(operand.element, Shape(sizes))

    return form.waiting(rule, shape=sizes)


def _product(sizes: Sequence[Dim]) -> Dim:
    product = Dim.constant(1)
    for item in sizes:
        product = product * item
    return product


def fill(form: Form) -> term.Term:
    sizes = shape_literal(form.cx, form.written[0], form.name)
    if sizes is None:
        return form.fault()
    element = form.cx.solver.element(form.span)
    type_ = Function(scalar(element), Tensor(element, Shape(sizes)))
    return form.applied(term.Intrinsic(form.name, shape=sizes, span=form.place, type=type_))


def positions(form: Form) -> term.Term:
    count = size(form.cx, form.written[0])
    if count is None:
        return form.fault()
    type_ = Function(INT, Tensor(Index(count), Shape((count,))))
    return form.applied(term.Intrinsic(form.name, span=form.place, type=type_), (count,))
