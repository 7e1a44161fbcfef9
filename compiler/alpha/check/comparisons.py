"""Comparisons and logic, joining, and `@`."""

from __future__ import annotations

from alpha.check import errors_shapes
from alpha.check.broadcasting import is_settled, same_element
from alpha.check.context import scalar
from alpha.check.entries import Refuse
from alpha.check.operations import (
    ALL,
    BOOL,
    FLOATS,
    NUMBERS,
)
from alpha.check.operator_use import Use
from alpha.check.solver import BOOL as BOOL_TYPE
from alpha.check.solver import TEXT
from alpha.core.dim import Answer, Dim
from alpha.core.types import Constraint, Function, Named, Shape, Tensor, TupleType, Type, TypeVar
from alpha.diagnostics.diagnostic import Diagnostic, Label


def matmul(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    if cx.is_open(left) or cx.is_open(right):
        return False
    if not (isinstance(left, Tensor) and isinstance(right, Tensor)):
        return use.undefined("`@` multiplies float tensors")
    one, two = cx.solver.known_shape(left.shape), cx.solver.known_shape(right.shape)
    if not is_settled(cx, right) or (not one.axes and not is_settled(cx, left)):
        return False
    element = same_element(cx, (use.left, use.right), use.span)
    if element is None:
        return use.refused()
    cx.require_dtype(element, FLOATS, False, "@", use.span)
    labels = tuple(
        Label(o.span, f"this has shape `{cx.shower.shape(s)}`")
        for o, s in ((use.left, one), (use.right, two))
    )
    batched = two.lead is not None or len(two.axes) > 2
    if not one.axes or not two.axes or (batched and (len(one.axes) < 2 or len(two.axes) < 2)):
        texts = cx.shower.shape(one), cx.shower.shape(two)
        return use.refuse(errors_shapes.ranks(use.span, *texts, labels))
    if batched:
        if not is_settled(cx, left):
            return False
        rest = Shape(one.axes[:-2], one.lead), Shape(two.axes[:-2], two.lead)
        if not cx.unify(Tensor(element, rest[0]), Tensor(element, rest[1]), use.span):
            return use.refused()
    inner = two.axes[-1] if len(two.axes) == 1 and not batched else two.axes[-2]
    refuse = _inner_sizes(use, labels, len(two.axes) == 1 and not batched)
    if not cx.unify_dims(one.axes[-1], inner, use.span, labels, refuse):
        return use.refused()
    if len(two.axes) == 1 and not batched:
        return use.gives(Tensor(element, Shape(one.axes[:-1], one.lead)))
    return use.gives(Tensor(element, Shape((*one.axes[:-1], two.axes[-1]), one.lead)))


def _inner_sizes(use: Use, labels: tuple[Label, ...], vector: bool) -> Refuse:
    def refuse(left: Dim, right: Dim, answer: Answer) -> Diagnostic | None:
        if answer is Answer.NO:
            return errors_shapes.inner_sizes(use.span, left, right, labels, vector)
        return None

    return refuse


def append(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    known = right if cx.is_open(left) else left
    if cx.is_open(known):
        return False
    if not (known == TEXT or (isinstance(known, Named) and known.name == "List")):
        return use.undefined("`++` joins two lists or two texts")
    return (
        use.gives(known)
        if cx.unify(use.right.type, use.left.type, use.right.span)
        else use.refused()
    )


def comparison(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    left_literal, right_literal = cx.solver.literal(left), cx.solver.literal(right)
    constraint = Constraint.EQ if use.sign in ("==", "!=") else Constraint.ORD
    if left_literal and right_literal:
        cx.unify(left, right, use.span)
        return use.gives(BOOL_TYPE)
    left_open, right_open = cx.is_open(left), cx.is_open(right)
    tensors = isinstance(left, Tensor) or isinstance(right, Tensor)
    if (left_open and right_open) or (
        tensors and ((left_open and not left_literal) or (right_open and not right_literal))
    ):
        return False
    if (
        tensors
        and not isinstance(left, Named | Function | TupleType)
        and not isinstance(right, Named | Function | TupleType)
    ):
        rigid = next(
            (t for t in (left, right) if isinstance(t, TypeVar) and t.name[0] != "?"), None
        )
        if rigid is None:
            dtypes = ALL if constraint is Constraint.EQ else NUMBERS
            return use.elementwise((use.left, use.right), dtypes, indexes=True, bools=True)
    labels_text = f"`{use.sign}` compares values of one type"
    if not left_open and not right_open and _different_heads(left, right):
        return use.undefined(labels_text)
    if not cx.unify(use.right.type, use.left.type, use.right.span):
        return use.refused()
    known = left if not left_open else right
    cx.require(known, constraint, use.span)
    return use.gives(BOOL_TYPE)


def _different_heads(left: Type, right: Type) -> bool:
    if isinstance(left, Named) and isinstance(right, Named):
        return left.name != right.name
    return type(left) is not type(right)


def logic(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    if cx.is_open(left) or cx.is_open(right):
        return False
    single = use.sign == "not"
    operands = (use.left,) if single else (use.left, use.right)
    for operand in operands:
        item = cx.solver.head(operand.type)
        if not isinstance(item, Tensor) or cx.solver.element_head(item.element) in NUMBERS:
            return use.undefined(f"`{use.sign}` takes `Bool` or `bool` tensors", one=single)
        if not cx.unify(scalar(item.element), BOOL_TYPE, operand.span):
            return use.refused()
    return use.elementwise(operands, BOOL, indexes=False, bools=True)
