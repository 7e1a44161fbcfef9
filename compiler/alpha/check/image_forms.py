"""Operations on images: `conv2d`, `maxPool`, `meanPool`."""

from __future__ import annotations

from alpha.check import errors_shapes
from alpha.check.form_parts import Form, Made
from alpha.check.operations import FLOATS, NUMBERS
from alpha.check.sizes import size
from alpha.check.solver import INT
from alpha.core import term
from alpha.core.dim import Answer, Dim, nonnegative
from alpha.core.types import Function, Shape, Tensor


def conv2d(form: Form) -> term.Term:
    cx, span = form.cx, form.span
    (written,) = form.written
    padding = size(cx, written, least=0)
    if padding is None:
        return form.fault()
    fresh = cx.solver.dim
    batch, high, wide, inputs = (fresh(span, h) for h in ("n", "h", "w", "i"))
    kernel_high, kernel_wide, outputs = (fresh(span, h) for h in ("kh", "kw", "o"))
    element = cx.solver.element(span)
    cx.require_dtype(element, FLOATS, False, form.name, form.place)
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
    found = form.applied(term.Intrinsic(form.name, span=form.place, type=type_), (padding,))
    for kernel in (kernel_high, kernel_wide):
        room = cx.solver.known_dim(kernel) - padding - one
        if not any(n[0] in "?!" for n in room.names) and nonnegative(room) is not Answer.YES:
            decided = nonnegative(room) is Answer.NO
            cx.report(
                errors_shapes.bounds(
                    written.span, f"a padding of {padding}", cx.shower.dim(kernel), decided
                )
            )
    return found


def pool(form: Form) -> term.Term:
    cx, span = form.cx, form.span
    (written,) = form.written
    window = size(cx, written)
    if window is None:
        return form.fault()
    divisor = window.value
    if divisor is None:
        return cx.refuse(written.span, errors_shapes.size_expression(written.span))
    dtypes = NUMBERS if form.name == "maxPool" else FLOATS

    def rule(operand: Tensor) -> Made | None:
        shape = operand.shape
        if shape.lead is not None or len(shape.axes) != 4:
            form.refuse(errors_shapes.ranks(span, cx.shower.shape(shape), "[n, h, w, c]", ()))
            return None
        cx.require_dtype(operand.element, dtypes, False, form.name, form.place)
        batch, high, wide, channels = shape.axes
        parts = [side.divided(divisor) for side in (high, wide)]
        for part, side in zip(parts, (high, wide), strict=True):
            if part is None:
                form.refuse(errors_shapes.does_not_divide(span, cx.shower.dim(side), divisor))
                return None
        made = tuple(p for p in (batch, *parts, channels) if p is not None)
        return None, Tensor(operand.element, Shape(made))

    return form.waiting(rule, (window,))
