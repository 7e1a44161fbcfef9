"""Axes in tight brackets: numbers and dimension names, resolved against a shape (specification, section 9)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check import errors_shapes
from alpha.check.context import Context
from alpha.core.dim import Dim
from alpha.core.types import Shape
from alpha.syntax import tree

Axis = tuple[int | str, Span]
"""A number as written, or a name."""


def read_axes(cx: Context, items: Sequence[tree.Expr | tree.Slice]) -> tuple[Axis, ...] | None:
    """The axes as written; None if one is neither a number nor a name."""
    axes: list[Axis] = []
    for item in items:
        if isinstance(item, tree.Int):
            axes.append((item.value, item.span))
        elif (
            isinstance(item, tree.Unary)
            and item.operator == "-"
            and isinstance(item.operand, tree.Int)
        ):
            axes.append((-item.operand.value, item.span))
        elif isinstance(item, tree.Var):
            axes.append((item.name, item.span))
        else:
            cx.fault = cx.report(errors_shapes.axis_form(item.span))
            return None
    return tuple(axes)


def resolve(cx: Context, axes: Sequence[Axis], shape: Shape) -> tuple[int, ...] | None:
    """Places from 0, or from -1 backwards behind an axes variable; None if one is unknown, ambiguous or twice."""
    count = len(shape.axes)
    found: list[int] = []
    for axis, span in axes:
        place = (
            _named(cx, axis, span, shape)
            if isinstance(axis, str)
            else _numbered(cx, axis, span, shape)
        )
        if place is None:
            return None
        if place in found:
            cx.fault = cx.report(errors_shapes.axis_twice(span, span.text))
            return None
        found.append(place)
    return tuple(place - count if shape.lead is not None else place for place in found)


def _numbered(cx: Context, axis: int, span: Span, shape: Shape) -> int | None:
    """The place among the written axes."""
    count = len(shape.axes)
    if axis < 0 and -axis <= count:
        return count + axis
    if 0 <= axis < count and shape.lead is None:
        return axis
    cx.fault = cx.report(errors_shapes.axis_number(span, axis, cx.shower.shape(shape)))
    return None


def _named(cx: Context, name: str, span: Span, shape: Shape) -> int | None:
    wanted = cx.solver.rewritten(Dim.variable(name))
    places = [i for i, axis in enumerate(shape.axes) if cx.solver.rewritten(axis) == wanted]
    if len(places) == 1:
        return places[0]
    shown = [p - len(shape.axes) if shape.lead is not None else p for p in places]
    cx.fault = cx.report(errors_shapes.axis_name(span, name, cx.shower.shape(shape), shown))
    return None
