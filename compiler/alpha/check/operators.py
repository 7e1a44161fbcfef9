"""Operators. Each waits until the types of its operands are known, then has one of the meanings of section 6."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.check import errors_shapes, errors_types
from alpha.check.broadcasting import Operand, broadcast, is_settled, same_element
from alpha.check.context import Blame, Context, Waiting, scalar
from alpha.check.operations import (
    ALL,
    BOOL,
    COMPARISONS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    OPERATORS,
    SIGNED,
)
from alpha.check.solver import AMOUNT, INT, TEXT, U32
from alpha.check.solver import BOOL as BOOL_TYPE
from alpha.core import term
from alpha.core.types import Constraint, Function, Named, Shape, Tensor, TupleType, Type, TypeVar
from alpha.diagnostics.diagnostic import Diagnostic, Label
from alpha.syntax import tree


def binary(cx: Context, node: tree.Expr) -> term.Term:
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


def _beside(cx: Context, node: tree.Expr, other: term.Term) -> term.Term:
    """An operand that is written out, next to one of the same type."""
    return cx.check(node, other.type, Blame(other.span, lambda: f"this is `{cx.show(other.type)}`"))


def check_binary(cx: Context, node: tree.Expr, expected: Type, blame: Blame | None) -> term.Term:
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


def unary(cx: Context, node: tree.Expr) -> term.Term:
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
        return _negative(use) if node.operator == "-" else _logic(use)

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


def _written_integer(node: tree.Expr) -> int | None:
    if isinstance(node, tree.Int):
        return node.value
    if isinstance(node, tree.Unary) and node.operator == "-" and isinstance(node.operand, tree.Int):
        return -node.operand.value
    return None


# ---- rules -----------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Use:
    """One use of an operator. A rule answers False to wait."""

    cx: Context
    sign: str
    span: Span
    left: Operand
    right: Operand
    result: Type
    exponent: int | None = None

    def heads(self) -> tuple[Type, Type]:
        return self.cx.solver.head(self.left.type), self.cx.solver.head(self.right.type)

    def gives(self, type_: Type) -> bool:
        self.cx.unify(self.result, type_, self.span)
        return True

    def refused(self) -> bool:
        assert self.cx.fault is not None
        return self.gives(self.cx.solver.poisoned(self.cx.fault))

    def refuse(self, diagnostic: Diagnostic) -> bool:
        self.cx.fault = self.cx.report(diagnostic)
        return self.refused()

    def undefined(self, allowed: str, *, one: bool = False) -> bool:
        show = self.cx.show
        labels = tuple(
            Label(o.span, f"this is `{show(o.type)}`")
            for o in ((self.left,) if one else (self.left, self.right))
        )
        right = None if one else show(self.right.type)
        return self.refuse(
            errors_types.operator(
                self.span, self.sign, show(self.left.type), right, allowed, labels
            )
        )

    def equal(self, left: Operand, right: Type) -> bool:
        return self.cx.unify(left.type, right, left.span)

    def elementwise(
        self, operands: tuple[Operand, ...], dtypes: frozenset[Dtype], indexes: bool, bools: bool
    ) -> bool:
        """All operands are tensors, or literals that become scalars of their dtype."""
        cx = self.cx
        tensors = [o for o in operands if isinstance(cx.solver.head(o.type), Tensor)]
        if not all(
            is_settled(cx, t) for o in tensors if isinstance(t := cx.solver.head(o.type), Tensor)
        ):
            return False
        element = same_element(cx, tensors, self.span)
        if element is None:
            return self.refused()
        for operand in operands:
            if operand not in tensors and not cx.unify(operand.type, scalar(element), operand.span):
                return self.refused()
        cx.require_dtype(element, dtypes, indexes, self.sign, self.span)
        shape = broadcast(cx, operands, self.span)
        if shape is None:
            return self.refused()
        return self.gives(Tensor(Dtype.BOOL if bools else element, shape))


def _arithmetic(use: Use) -> bool:
    cx = use.cx
    left, right = use.heads()
    left_literal, right_literal = cx.solver.literal(left), cx.solver.literal(right)
    if left_literal and right_literal:
        if use.sign == "/":
            cx.solver.unknowns[left.name].literal = "float"  # type: ignore[union-attr]
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


def _power(use: Use) -> bool:
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
            cx.solver.unknowns[left.name].literal = "float"  # type: ignore[union-attr]
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


def _matmul(use: Use) -> bool:
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
    if not cx.unify_dims(one.axes[-1], inner, use.span, labels):
        return use.refused()
    if len(two.axes) == 1 and not batched:
        return use.gives(Tensor(element, Shape(one.axes[:-1], one.lead)))
    return use.gives(Tensor(element, Shape((*one.axes[:-1], two.axes[-1]), one.lead)))


def _append(use: Use) -> bool:
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


def _comparison(use: Use) -> bool:
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


def _logic(use: Use) -> bool:
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


def _negative(use: Use) -> bool:
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


_RULES: dict[str, Callable[[Use], bool]] = {
    **dict.fromkeys(("+", "-", "*", "/", "//", "%"), _arithmetic),
    **dict.fromkeys(COMPARISONS, _comparison),
    **dict.fromkeys(("and", "or"), _logic),
    "^": _power,
    "@": _matmul,
    "++": _append,
}

_ALLOWED = {
    **dict.fromkeys(
        ("+", "-", "*"), "both sides are `Int`, or `Amount`, or tensors of one numeric dtype"
    ),
    "/": "`/` divides amounts, or float tensors",
    **dict.fromkeys(("//", "%"), "both sides are `Int`, or an integer tensor and a known number"),
}
