"""One dtype and one shape of several operands: a scalar with anything, else equal trailing axes.

Source: specification, section 9.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.base.span import Span
from alpha.check import errors_shapes, errors_types
from alpha.check.context import Context
from alpha.check.conversions import cast_of, repeat_of, repeated, wider_of
from alpha.check.entries import Refuse
from alpha.check.solver import Mismatch
from alpha.check.unify import Unifier
from alpha.core.dim import Answer, Dim
from alpha.core.types import Element, Shape, Tensor, Type
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label


@record
class Operand:
    type: Type
    span: Span


def is_settled(cx: Context, item: Tensor) -> bool:
    """Its rank is known, but for a rigid axes variable."""
    lead = cx.solver.known_shape(item.shape).lead
    return lead is None or lead[0] != "?"


def same_element(cx: Context, operands: Sequence[Operand], span: Span) -> Element | None:
    """The common dtype; None if a difference was reported."""
    first: tuple[Element, Operand] | None = None
    for operand in operands:
        tensor = cx.solver.head(operand.type)
        if not isinstance(tensor, Tensor):
            continue
        if first is None:
            first = (tensor.element, operand)
            continue
        try:
            unifier = Unifier(cx.solver)
            unifier.elements(first[0], tensor.element)
        except Mismatch:
            labels = tuple(
                Label(o.span, f"this is `{cx.show(o.type)}`") for o in (first[1], operand)
            )
            left, right = (cx.shower.element(e) for e in (first[0], tensor.element))
            fixes = _cast(cx, first, (tensor.element, operand))
            cx.fault = cx.report(errors_types.dtypes(span, left, right, labels, fixes))
            return None
        for one, two in unifier.later:
            cx.unify_dims(one, two, span)
    assert first is not None
    return first[0]


def _cast(
    cx: Context, first: tuple[Element, Operand], second: tuple[Element, Operand]
) -> tuple[Fix, ...]:
    """The narrower operand cast to the dtype of the wider."""
    elements = tuple(cx.solver.element_head(element) for element, _ in (first, second))
    target = wider_of(*elements)
    if target is None:
        return ()
    narrow = first[1] if elements[1] is target else second[1]
    return cast_of(narrow.span, target, argument=False)


def broadcast(cx: Context, operands: Sequence[Operand], span: Span) -> Shape | None:
    """The shape of the result; None if a fault was reported. All operands are settled tensors."""
    result: Shape | None = None
    widest = operands[0]
    for operand in operands:
        tensor = cx.solver.head(operand.type)
        assert isinstance(tensor, Tensor)
        shape = cx.solver.known_shape(tensor.shape)
        if result is None:
            result = shape
            continue
        joined = _join(cx, result, shape, widest, operand, span)
        if joined is None:
            return None
        if joined is not result:
            widest = operand
        result = joined
    return result


def _join(
    cx: Context, left: Shape, right: Shape, first: Operand, second: Operand, span: Span
) -> Shape | None:
    if left.lead is None and not left.axes:
        return right
    if right.lead is None and not right.axes:
        return left
    for shape in (left, right):
        if shape.lead is not None and shape.lead[0] == "!":
            return shape
    labels = (
        Label(first.span, f"this has shape `{cx.shower.shape(left)}`"),
        Label(second.span, f"this has shape `{cx.shower.shape(right)}`"),
    )
    count = min(len(left.axes), len(right.axes))
    if left.lead is not None and right.lead is not None:
        fits = left.lead == right.lead and len(left.axes) == len(right.axes)
    elif left.lead is not None:
        fits = len(right.axes) <= len(left.axes)
    elif right.lead is not None:
        fits = len(left.axes) <= len(right.axes)
    else:
        fits = True
    if not fits:
        texts = cx.shower.shape(left), cx.shower.shape(right)
        cx.fault = cx.report(errors_shapes.ranks(span, *texts, labels))
        return None
    good = True
    for place in range(1, count + 1):
        one, two = left.axes[-place], right.axes[-place]
        good = (
            cx.unify_dims(one, two, span, labels, _stretch(cx, span, labels, place, (left, right)))
            and good
        )
    if not good:
        return None
    if left.lead is not None or (right.lead is None and len(left.axes) >= len(right.axes)):
        return left
    return right


def _stretch(
    cx: Context, span: Span, labels: tuple[Label, ...], place: int, shapes: tuple[Shape, Shape]
) -> Refuse:
    def refuse(left: Dim, right: Dim, answer: Answer) -> Diagnostic | None:
        if 1 in (left.value, right.value):
            thin, wanted = (0, right) if left.value == 1 else (1, left)
            fixes = repeat_of(labels[thin].span, shapes[thin], place, wanted)
            return errors_shapes.stretch(span, wanted, labels, place, fixes)
        lost = _lost_axis(*(cx.solver.known_shape(shape) for shape in shapes))
        if lost is None:
            return None
        thin, axis, size = lost
        fixes = repeated(labels[thin].span, axis, cx.shower.dim(size))
        return errors_shapes.lost_axis(
            span, left, right, labels, fixes, decided=answer is Answer.NO
        )

    return refuse


def _lost_axis(left: Shape, right: Shape) -> tuple[int, int, Dim] | None:
    """Which operand is the other without one inner axis, as a reduction leaves it; the axis from the end; its size."""
    if left.lead is not None or right.lead is not None:
        return None
    thin = 0 if len(left.axes) < len(right.axes) else 1
    few, many = (left.axes, right.axes) if thin == 0 else (right.axes, left.axes)
    if len(few) + 1 != len(many):
        return None
    for place in range(1, len(many)):
        at = len(many) - place
        if many[:at] + many[at + 1 :] == few:
            return thin, -place, many[at]
    return None
