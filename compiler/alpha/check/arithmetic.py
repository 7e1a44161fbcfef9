"""Arithmetic: whole numbers, amounts and tensors; literals stay literals until their context is known."""

from __future__ import annotations

from alpha.check import errors_types
from alpha.check.context import scalar
from alpha.check.entries import Waiting
from alpha.check.operations import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
)
from alpha.check.operator_use import Use
from alpha.check.solver import AMOUNT, INT, U32
from alpha.core.types import Constraint, Named, Tensor, Type, TypeVar


def arithmetic(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    left_literal, right_literal = cx.solver.literal(left), cx.solver.literal(right)
    if left_literal and right_literal:
        if use.sign == "/":
            cx.solver.make_float(left)
        if use.sign in ("//", "%"):
            cx.unify(left, INT, use.left.span)
        return _literals(use)
    if (cx.is_open(left) and not left_literal) or (cx.is_open(right) and not right_literal):
        return False
    known = right if left_literal else left
    if use.sign in ("//", "%") and isinstance(left, Tensor):
        return _integer_division(use, left, right, right_literal)
    if isinstance(known, Tensor) and (left_literal or right_literal or isinstance(right, Tensor)):
        dtypes = FLOATS if use.sign == "/" else INTEGERS if use.sign in ("//", "%") else NUMBERS
        return use.elementwise((use.left, use.right), dtypes, indexes=False, bools=False)
    if _is(left, "Int", left_literal) and _is(right, "Int", right_literal):
        if use.sign == "/":
            return use.undefined(
                "`/` divides amounts and floats; `//` divides `Int`, and `toFloat` makes an `f32` of one"
            )
        cx.unify(use.left.type, INT, use.left.span)
        return use.gives(INT) if cx.unify(use.right.type, INT, use.right.span) else use.refused()
    if isinstance(left, Named | TypeVar) and isinstance(right, Named | TypeVar):
        amounts = _amounts(use, left, right, left_literal, right_literal)
        if amounts is not None:
            return amounts
        number = next(
            (t for t in (left, right) if isinstance(t, TypeVar) and t.constraint is Constraint.NUM),
            None,
        )
        if number is not None and use.sign in ("+", "-", "*"):
            good = use.equal(use.left, number) and use.equal(use.right, number)
            return use.gives(number) if good else use.refused()
    plain = next((t for t in (left, right) if isinstance(t, TypeVar)), None)
    if plain is not None and left == right:
        shown = cx.show(plain)
        return use.refuse(errors_types.constraint(use.span, shown, Constraint.NUM))
    return use.undefined(_ALLOWED[use.sign])


def _literals(use: Use) -> bool:
    """Arithmetic of two literals is a literal: it takes the dtype of its context."""
    use.cx.unify(use.left.type, use.right.type, use.span)
    return use.gives(use.left.type)


def _is(item: Type, name: str, literal: str | None) -> bool:
    return literal == "int" or (isinstance(item, Named) and item.name == name)


def _amounts(
    use: Use, left: Type, right: Type, left_literal: str | None, right_literal: str | None
) -> bool | None:
    cx = use.cx
    left_amount = isinstance(left, Named) and left.name == "Amount"
    right_amount = isinstance(right, Named) and right.name == "Amount"
    if not (left_amount or right_amount) or use.sign in ("//", "%"):
        return None
    if use.sign in ("+", "-"):
        good = use.equal(use.left, AMOUNT) and use.equal(use.right, AMOUNT)
        return use.gives(AMOUNT) if good else use.refused()
    if use.sign == "/" and not left_amount and not left_literal:
        return None
    for operand, amount, literal in (
        (use.left, left_amount, left_literal),
        (use.right, right_amount, right_literal),
    ):
        if literal and not cx.unify(operand.type, AMOUNT, operand.span):
            return use.refused()
        if not amount and not literal and not _is(cx.solver.head(operand.type), "Int", None):
            return None
    return use.gives(AMOUNT)


def _integer_division(use: Use, left: Tensor, right: Type, literal: str | None) -> bool:
    """An integer tensor by a known number: a literal, an `Int`, or a scalar of the same dtype."""
    cx = use.cx
    cx.require_dtype(left.element, INTEGERS, False, use.sign, use.span)
    if literal or isinstance(right, Named):
        good = use.equal(use.right, scalar(left.element) if literal else INT)
    else:
        good = use.equal(use.right, scalar(left.element))
    return use.gives(left) if good else use.refused()


def power(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    if cx.is_open(right):
        if not cx.solver.literal(right):
            return False
        cx.unify(use.right.type, INT, use.right.span)
        right = INT
    counts = isinstance(right, Tensor)
    if counts and not use.equal(use.right, U32):
        return use.refused()
    if not counts and not use.equal(use.right, INT):
        return use.refused()
    if cx.is_open(left):
        if not cx.solver.literal(left):
            return False
        if counts:
            cx.solver.make_float(left)
        elif use.exponent is not None and use.exponent < 0:
            cx.wait(Waiting(lambda: _no_integer(use), lambda: None, (left,)))
        return use.gives(left)
    if isinstance(left, Tensor):
        cx.require_dtype(left.element, FLOATS, False, "^", use.span)
        return use.gives(left)
    if left == INT:
        if counts:
            return use.undefined("an `Int` is raised to an `Int`")
        _no_integer(use)
        return use.gives(INT)
    return use.undefined(
        "`^` raises an `Int` to an `Int`, or a float tensor to an `Int` or a `u32` scalar"
    )


def _no_integer(use: Use) -> bool:
    """Whether the base of a negative power is known; an `Int` is refused."""
    cx = use.cx
    base = cx.solver.head(use.left.type)
    if base == INT and use.exponent is not None and use.exponent < 0:
        cause = "an `Int` has no negative powers"
        cx.fault = cx.report(errors_types.power_undefined(use.span, cause))
    return not cx.is_open(base)


def negative(use: Use) -> bool:
    cx = use.cx
    item = cx.solver.head(use.left.type)
    if cx.is_open(item):
        return use.gives(item) if cx.solver.literal(item) else False
    if isinstance(item, Tensor):
        cx.require_dtype(item.element, SIGNED, False, "-", use.span)
        return use.gives(item)
    number = isinstance(item, TypeVar) and item.constraint is Constraint.NUM
    if number or item in (INT, AMOUNT):
        return use.gives(item)
    return use.undefined("`-` negates numbers, amounts and numeric tensors", one=True)


_ALLOWED = {
    **dict.fromkeys(
        ("+", "-", "*"), "both sides are `Int`, or `Amount`, or tensors of one numeric dtype"
    ),
    "/": "`/` divides amounts, or float tensors",
    **dict.fromkeys(("//", "%"), "both sides are `Int`, or an integer tensor and a known number"),
}
