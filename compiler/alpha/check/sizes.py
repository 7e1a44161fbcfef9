"""Expressions that are part of a shape: formulas over numbers and dimension names."""

from __future__ import annotations

from alpha.check import errors_names, errors_shapes
from alpha.check.context import Context
from alpha.check.entries import Dimension
from alpha.core.dim import Dim
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.syntax import tree


def plain(node: tree.Written) -> tree.Written:
    """The expression of a body without local definitions; else a body, for which no rule of sizes fits."""
    if isinstance(node, tree.Body) and not node.lets:
        return node.value
    return node


def formula(cx: Context, node: tree.Written) -> Dim | Diagnostic:
    """The polynomial an expression stands for, or why it is none."""
    spine: list[tree.Binary] = []
    first = plain(node)
    while isinstance(first, tree.Binary) and first.operator in ("+", "-", "*", "//"):
        spine.append(first)
        first = plain(first.left)
    found = _atom(cx, first)
    for part in reversed(spine):
        if isinstance(found, Diagnostic):
            return found
        right = formula(cx, part.right)
        if isinstance(right, Diagnostic):
            return right
        if part.operator == "+":
            found = found + right
        elif part.operator == "-":
            found = found - right
        elif part.operator == "*":
            found = found * right
        else:
            divisor = right.value
            if divisor is None:
                return errors_shapes.size_expression(part.right.span)
            quotient = found.divided(divisor)
            if quotient is None:
                return errors_shapes.does_not_divide(part.span, found, divisor)
            found = quotient
    return found


def _atom(cx: Context, node: tree.Written) -> Dim | Diagnostic:
    if isinstance(node, tree.Int):
        return Dim.constant(node.value)
    if isinstance(node, tree.Unary) and node.operator == "-":
        inner = formula(cx, node.operand)
        return inner if isinstance(inner, Diagnostic) else -inner
    if isinstance(node, tree.Var):
        entry = cx.lookup(node.name)
        if isinstance(entry, Dimension):
            return Dim.variable(node.name)
        if entry is None:
            names = [n for n, e in cx.locals.items() if isinstance(e, Dimension)]
            return errors_names.unknown(node.span, node.name, "dimension", names)
    return errors_shapes.size_expression(node.span)


def size(cx: Context, node: tree.Written, least: int = 1) -> Dim | None:
    """A size that an operation takes; None if its fault is reported."""
    found = formula(cx, node)
    if isinstance(found, Diagnostic):
        cx.fault = cx.report(found)
        return None
    if found.value is not None and found.value < least:
        cx.fault = cx.report(errors_shapes.size_below_one(node.span, found.value))
        return None
    return found


def shape_literal(cx: Context, node: tree.Written, name: str) -> tuple[Dim, ...] | None:
    """The sizes of `[n, 4 * m]`; None if a fault is reported."""
    if not isinstance(node, tree.ListExpr):
        cx.fault = cx.report(errors_shapes.shape_literal(node.span, name))
        return None
    sizes = [size(cx, item) for item in node.items]
    good = [s for s in sizes if s is not None]
    return tuple(good) if len(good) == len(sizes) else None
