"""Operators: each waits for the types of its operands, then has one meaning (specification, section 6)."""

from __future__ import annotations

from collections.abc import Callable

from alpha.check import errors_types
from alpha.check.arithmetic import arithmetic, negative, power
from alpha.check.broadcasting import Operand
from alpha.check.comparisons import append, comparison, logic, matmul
from alpha.check.context import Context
from alpha.check.entries import Blame, Waiting
from alpha.check.operations import (
    COMPARISONS,
    OPERATORS,
)
from alpha.check.operator_use import Use
from alpha.core import term
from alpha.core.types import Function, Type
from alpha.syntax import tree


def binary(cx: Context, node: tree.Written) -> term.Term:
    """Chains lean to the left: the spine is walked, not recursed into."""
    spine: list[tree.Binary] = []
    first = node
    while isinstance(first, tree.Binary):
        spine.append(first)
        first = first.left
    last = spine[-1]
    right: term.Term | None = None
    if (
        isinstance(first, _WRITTEN_OUT)
        and last.operator in _SAME
        and not isinstance(last.right, _WRITTEN_OUT)
    ):
        # `[{ ... }] ++ rest`: the side that says its type helps the side that does not.
        right = cx.infer(last.right)
        found = _beside(cx, first, right)
    else:
        found = cx.infer(first)
    for part in reversed(spine):
        if part is not last or right is None:
            same = part.operator in _SAME and isinstance(part.right, _WRITTEN_OUT)
            right = _beside(cx, part.right, found) if same else cx.infer(part.right)
        found = _operate(cx, part, found, right)
    return found


_WRITTEN_OUT = (tree.ListExpr, tree.RecordExpr, tree.TupleExpr)
_SAME = ("++", "==", "!=")


def _beside(cx: Context, node: tree.Written, other: term.Term) -> term.Term:
    """An operand that is written out, next to one of the same type."""
    return cx.check(node, other.type, Blame(other.span, lambda: f"this is `{cx.show(other.type)}`"))


def check_binary(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    """What `++` joins is what is expected of it; other operators are inferred first."""
    assert isinstance(node, tree.Binary)
    if node.operator != "++":
        return cx.expect(binary(cx, node), expected, blame)
    spine: list[tree.Binary] = []
    first: tree.Expr = node
    while isinstance(first, tree.Binary) and first.operator == "++":
        spine.append(first)
        first = first.left
    found = cx.check(first, expected, blame)
    for part in reversed(spine):
        found = _operate(cx, part, found, cx.check(part.right, expected, blame))
    return cx.expect(found, expected, blame)


def _operate(cx: Context, node: tree.Binary, left: term.Term, right: term.Term) -> term.Term:
    result = cx.solver.type(node.span)
    use = Use(
        cx,
        node.operator,
        node.span,
        Operand(left.type, left.span),
        Operand(right.type, right.span),
        result,
    )
    if node.operator == "^" and isinstance(node.right, tree.Unary | tree.Int):
        use.exponent = _written_integer(node.right)
    rule = _RULES[node.operator]

    def attempt() -> bool:
        if cx.is_poisoned(left.type) or cx.is_poisoned(right.type):
            poison = left.type if cx.is_poisoned(left.type) else right.type
            cx.unify(result, poison, node.span)
            return True
        return rule(use)

    def give_up() -> None:
        cx.unify(
            result,
            cx.refuse(node.span, errors_types.unknown_operand(node.place, node.operator)).type,
            node.span,
        )

    cx.wait(Waiting(attempt, give_up, (left.type, right.type, result)))
    operator = Function(left.type, Function(right.type, result))
    head = term.Intrinsic(OPERATORS[node.operator], span=node.place, type=operator)
    return term.Apply(head, (left, right), span=node.span, type=result)


def unary(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Unary)
    if node.operator == "-" and isinstance(node.operand, tree.Int | tree.Float | tree.Quantity):
        return _negated(cx, node, node.operand)
    operand = cx.infer(node.operand)
    result = cx.solver.type(node.span)
    use = Use(
        cx,
        node.operator,
        node.span,
        Operand(operand.type, operand.span),
        Operand(operand.type, operand.span),
        result,
    )

    def attempt() -> bool:
        if cx.is_poisoned(operand.type):
            cx.unify(result, operand.type, node.span)
            return True
        return negative(use) if node.operator == "-" else logic(use)

    def give_up() -> None:
        cx.unify(
            result,
            cx.refuse(node.span, errors_types.unknown_operand(node.span, node.operator)).type,
            node.span,
        )

    cx.wait(Waiting(attempt, give_up, (operand.type, result)))
    name = "neg" if node.operator == "-" else "not"
    head = term.Intrinsic(name, span=node.span, type=Function(operand.type, result))
    return term.Apply(head, (operand,), span=node.span, type=result)


def _negated(
    cx: Context, node: tree.Unary, number: tree.Int | tree.Float | tree.Quantity
) -> term.Term:
    """A negated literal is one literal."""
    found = cx.infer(number)
    assert isinstance(found, term.Literal) and not isinstance(found.value, str)
    value = found.value
    if isinstance(value, term.Amount):
        value = term.Amount(-value.value, value.unit, value.feature)
    else:
        value = -value
    return term.Literal(value, span=node.span, type=found.type)


def _written_integer(node: tree.Written) -> int | None:
    if isinstance(node, tree.Int):
        return node.value
    if isinstance(node, tree.Unary) and node.operator == "-" and isinstance(node.operand, tree.Int):
        return -node.operand.value
    return None


_RULES: dict[str, Callable[[Use], bool]] = {
    **dict.fromkeys(("+", "-", "*", "/", "//", "%"), arithmetic),
    **dict.fromkeys(COMPARISONS, comparison),
    **dict.fromkeys(("and", "or"), logic),
    "^": power,
    "@": matmul,
    "++": append,
}
