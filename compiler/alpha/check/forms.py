"""Operations with an argument that is part of their type: a size, a shape literal, a dtype, a written list."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.base.span import Span
from alpha.check import errors_shapes
from alpha.check.applications import Argument, Ready
from alpha.check.axes import Axis, read_axes
from alpha.check.context import Context
from alpha.check.form_parts import USAGE, Form
from alpha.check.image_forms import conv2d, pool
from alpha.check.operations import FORMS
from alpha.check.size_forms import fill, pad, positions, repeat, reshape
from alpha.check.written_forms import cast, concat, model_value
from alpha.core import term
from alpha.syntax import tree

__all__ = ["apply", "form_of", "model_value"]

_RULES: dict[str, tuple[int, Callable[[Form], term.Term]]] = {
    "repeat": (1, repeat),
    "concat": (1, concat),
    "pad": (2, pad),
    "reshape": (1, reshape),
    "fill": (1, fill),
    "positions": (1, positions),
    "conv2d": (1, conv2d),
    "maxPool": (1, pool),
    "meanPool": (1, pool),
    "cast": (1, cast),
}
"""How many leading arguments are part of the type, and the typing rule."""

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
    axes: tuple[Axis, ...] = ()
    if isinstance(function, tree.Bracket):
        if name not in _WITH_AXES:
            return cx.refuse(function.span, errors_shapes.no_axes(function.span, name))
        read = read_axes(cx, function.items)
        if read is None:
            return cx.faulty(span)
        axes = read
    if name in _WITH_AXES and len(axes) != 1:
        diagnostic = errors_shapes.axis_count(
            function.span, name, f"exactly one axis: `{USAGE[name]}`"
        )
        return cx.refuse(function.span, diagnostic)
    count, rule = _RULES[name]
    written = [a for a in arguments[:count] if not isinstance(a, Ready)]
    form = Form(cx, name, axes, written, arguments[count:], function.span, span)
    return form.misused() if len(written) < count else rule(form)
