"""Operations with an argument that is part of their type: a size, a shape literal, a dtype, a written list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.span import Span
from alpha.check import errors_shapes, errors_types
from alpha.check.applications import Argument, Ready
from alpha.check.axes import Axis, read_axes
from alpha.check.context import Context
from alpha.check.form_parts import USAGE, fault
from alpha.check.image_forms import conv2d, pool
from alpha.check.operations import FORMS
from alpha.check.size_forms import fill, pad, positions, repeat, reshape
from alpha.check.written_forms import cast, concat, model_value
from alpha.core import term
from alpha.syntax import tree

_WRITTEN = {
    "repeat": 1,
    "pad": 2,
    "reshape": 1,
    "fill": 1,
    "positions": 1,
    "conv2d": 1,
    "maxPool": 1,
    "meanPool": 1,
}
"""How many leading arguments are part of the type."""

_WITH_AXES = ("repeat", "concat", "pad")


def form_of(cx: Context, function: tree.Expr) -> str | None:
    """The form that `function` names, with or without axes."""
    head = function.value if isinstance(function, tree.Bracket) else function
    if isinstance(head, tree.Var) and head.name in FORMS and cx.lookup(head.name) is None:
        return head.name
    return None


def apply(
    cx: Context, name: str, function: tree.Expr, arguments: Sequence[Argument], span: Span
) -> term.Term:
    axes: tuple[Axis, ...] | None = None
    if isinstance(function, tree.Bracket):
        if name not in _WITH_AXES:
            return cx.refuse(function.span, errors_shapes.no_axes(function.span, name))
        axes = read_axes(cx, function.items)
        if axes is None:
            return fault(cx, span)
    if name in _WITH_AXES and (axes is None or len(axes) != 1):
        diagnostic = errors_shapes.axis_count(
            function.span, name, f"exactly one axis: `{USAGE[name]}`"
        )
        return cx.refuse(function.span, diagnostic)
    if name == "cast":
        return cast(cx, function.span, arguments, span)
    if name == "concat":
        return concat(cx, axes, function.span, arguments, span)
    count = _WRITTEN[name]
    written = [a for a in arguments[:count] if not isinstance(a, Ready)]
    if len(written) < count:
        return cx.refuse(span, errors_types.special_arguments(span, name, USAGE[name]))
    return _FORMS[name](cx, name, axes, written, arguments[count:], function.span, span)


_FORMS: dict[str, Callable[..., term.Term]] = {
    "repeat": repeat,
    "pad": pad,
    "reshape": reshape,
    "fill": fill,
    "positions": positions,
    "conv2d": conv2d,
    "maxPool": pool,
    "meanPool": pool,
}


__all__ = ["apply", "form_of", "model_value"]
