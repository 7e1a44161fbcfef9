"""Expressions as documents."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.syntax import tree as t
from alpha.syntax.format_doc import (
    Break,
    Doc,
    Either,
    Hard,
    Word,
    concat,
    group,
    joined,
    nest,
)
from alpha.syntax.format_type import (
    broken_among,
    broken_between,
    closing,
    opened_out,
    opening,
    pattern,
    type_,
    word,
)

# Levels of precedence, loosest first; a node of a lower level than its place asks for stands in brackets.
EXPR, PIPE, OR, AND, NOT, COMPARE, CAT, SUM, TERM, SIGN, POWER, APPLY, ATOM = range(13)
_LEVELS = {
    "or": OR, "and": AND, "++": CAT, "+": SUM, "-": SUM, "^": POWER,
    "*": TERM, "/": TERM, "//": TERM, "%": TERM, "@": TERM,
}  # fmt: skip
_SAME_FAMILY = ({"*", "/"}, {"//"}, {"%"}, {"@"})


# A group that is flat must be flat again when its own result is read. So it may hold a part of several lines only at
# its end: what stands behind such a part would be laid out without regard to the group. It breaks if another part does.

# ---- expressions ---------------------------------------------------------------------------------------------------


def level(node: t.Expr) -> int:
    match node:
        case t.Fn() | t.If() | t.Match() | t.Einsum():
            return EXPR
        case t.Pipe():
            return PIPE
        case t.Unary(operator="not"):
            return NOT
        case t.Unary():
            return SIGN
        case t.Binary(operator=operator):
            return _LEVELS.get(operator, COMPARE)
        case t.Apply():
            return APPLY
        case _:
            return ATOM


def expr(node: t.Expr, at_least: int = EXPR) -> Doc:
    """An expression where the grammar wants one of the level `at_least`."""
    if level(node) < at_least:
        inner = _bare(node)
        if isinstance(node, t.Fn | t.Match):
            return concat("(", inner, ")")
        return concat("(", nest(1, inner), ")")
    return _bare(node)


def _bare(node: t.Expr) -> Doc:
    match node:
        case t.Var(name) | t.Con(name):
            return word(node, name)
        case t.Int() | t.Float() | t.Quantity() | t.Text():
            return word(node, node.written)
        case t.Accessor(field):
            return word(node, f".{field}")
        case t.ListExpr(items):
            return _bracketed(node, "[", items, [expr(item) for item in items], "]")
        case t.TupleExpr(items):
            return _bracketed(node, "(", items, [expr(item) for item in items], ")")
        case t.RecordExpr():
            return _record(node)
        case t.Select(value, field):
            return concat(_postfix(value), ".", word(field, field.text))
        case t.Bracket(value, items):
            return concat(
                _postfix(value),
                "[",
                joined(", ", [_index(item) for item in items]),
                closing(node, "]"),
            )
        case t.Apply():
            return _apply(node)
        case t.Unary():
            return _unary(node)
        case t.Binary():
            return _binary(node)
        case t.Pipe():
            return _pipe(node)
        case t.Fn(parameters, inner):
            words = [opening(node, "fn"), *[pattern(item, argument=True) for item in parameters]]
            return concat(joined(" ", words), " ->", body(inner, parameters[-1], "->"))
        case t.If():
            return _if(node)
        case t.Match(value, arms):
            head = concat(opening(node, "match"), " ", expr(value, PIPE), " with")
            lines: list[Doc] = []
            for arm in arms:
                shown = concat(pattern(arm.pattern), " ->", body(arm.body, arm.pattern, "->"))
                lines += [Hard("author" if lines else "none"), shown]
            return concat(head, nest(2, concat(*lines)))
        case t.Einsum():
            return _einsum(node)


def body(node: t.Body, before: t.Node, opener: str) -> Doc:
    """What stands behind an opener: on its line, or deeper below. `before` is the node in front of the opener."""
    if node.lets:
        lines: list[Doc | str] = []
        for let in node.lets:
            lines += [Hard("author" if lines else "none"), _let(let)]
        return nest(2, concat(*lines, Hard("author"), expr(node.value)))
    value = expr(node.value)
    broken = broken_between(before, node.value, opener) or (value.forced and not _hangs(node.value))
    return group(nest(2, concat(Break(), value), broken=True), broken)


def _hangs(node: t.Expr) -> bool:
    """Whether an expression of several lines may begin behind its opener."""
    if isinstance(node, t.Pipe):
        return _hangs(node.value)
    plain = t.ListExpr | t.TupleExpr | t.RecordExpr | t.If | t.Binary | t.Unary | t.Einsum
    return not isinstance(node, plain)


def _let(node: t.Let | t.LetFn) -> Doc:
    if isinstance(node, t.LetFn):
        head: list[Doc] = [opening(node, "let"), word(node.name, node.name.text)]
        head += [pattern(item, argument=True) for item in node.parameters]
        return concat(joined(" ", head), " =", body(node.value, node.parameters[-1], "="))
    shown = concat(opening(node, "let"), " ", pattern(node.pattern))
    if node.annotation is None:
        return concat(shown, " =", body(node.value, node.pattern, "="))
    return concat(
        shown, " : ", type_(node.annotation), " =", body(node.value, node.annotation, "=")
    )


def _bracketed(
    node: t.Node, left: str, nodes: Sequence[t.Node], docs: Sequence[Doc], right: str
) -> Doc:
    """A list, a tuple or the like: `[a, b]`, or a line for each with leading commas."""
    if not docs:
        return word(node, left + right)
    first, *others = [nest(2, doc) for doc in docs]
    parts: list[Doc] = [Either(left, left + " ", node.span.start, node.span.start + 1), first]
    for other in others:
        parts += [Break(""), Word(", "), other]
    broken = opened_out(node, nodes) or any(doc.forced for doc in docs)
    return group(concat(*parts, Break(""), closing(node, right)), broken)


def _field_body(field: t.Field) -> t.Body:
    value: object = field.value
    assert isinstance(value, t.Body), "a parsed field has a body"
    return value


def _record(node: t.RecordExpr) -> Doc:
    fields = [
        concat(word(field.name, field.name.text), " =", body(_field_body(field), field.name, "="))
        for field in node.fields
    ]
    base = concat(word(node.base, node.base.text), " | ") if node.base else Word("")
    first, *others = [nest(2, field) for field in fields]
    parts: list[Doc] = [opening(node, "{"), Word(" "), base, first]
    for other in others:
        parts += [Break(""), Word(", "), other]
    broken = opened_out(node, node.fields) or any(field.forced for field in fields)
    return group(concat(*parts, Break(" "), closing(node, "}")), broken)


def _postfix(value: t.Expr) -> Doc:
    """What a tight `.` or `[` may stand behind; numbers and texts need brackets there."""
    if isinstance(value, t.Int | t.Float | t.Quantity | t.Text):
        return concat("(", _bare(value), ")")
    return expr(value, ATOM)


def _index(item: t.Expr | t.Slice) -> Doc:
    if isinstance(item, t.Slice):
        low = expr(item.low, PIPE) if item.low else Word("")
        high = expr(item.high, PIPE) if item.high else Word("")
        return concat(low, ":", high)
    return expr(item, PIPE)


def _apply(node: t.Apply) -> Doc:
    parts = [node.function, *node.arguments]
    function, *arguments = [expr(part, ATOM) for part in parts]
    lines = concat(*[concat(Break(), argument) for argument in arguments])
    bulky = (
        isinstance(node.arguments[-1], t.ListExpr | t.TupleExpr | t.RecordExpr)
        and arguments[-1].forced
    )
    broken = broken_among(parts) or bulky or any(doc.forced for doc in (function, *arguments[:-1]))
    return group(concat(function, nest(2, lines, broken=True)), broken)


def _unary(node: t.Unary) -> Doc:
    sign = opening(node, node.operator)
    if node.operator == "not":
        level_below = (
            ATOM if isinstance(node.operand, t.Apply) else NOT
        )  # `not (f x)` reads better than `not f x`
        return concat(sign, " ", expr(node.operand, level_below))
    # `--` would begin a comment
    return concat(
        sign, expr(node.operand, ATOM if isinstance(node.operand, t.Unary | t.Apply) else SIGN)
    )


def _binary(node: t.Binary) -> Doc:
    own = level(node)
    if own == POWER:
        return concat(expr(node.left, APPLY), " ^ ", expr(node.right, SIGN))
    chain = [node]
    while (
        own != COMPARE
        and isinstance(chain[-1].left, t.Binary)
        and _same_chain(chain[-1], chain[-1].left)
    ):
        chain.append(chain[-1].left)
    left = chain[-1].left
    first = expr(left, own + 1 if own == COMPARE or _clashes(chain[-1], left) else own)
    parts: list[Doc] = []
    broken = first.forced
    for link in reversed(chain):
        operator = Word(link.operator, link.place.start, link.place.end)
        right = expr(link.right, own + 1)
        broken = broken or right.forced or broken_between(link.left, link.right)
        parts += [Break(), operator, Word(" "), nest(len(link.operator) + 1, right)]
    return group(concat(first, nest(2, concat(*parts))), broken)


def _same_chain(node: t.Binary, left: t.Binary) -> bool:
    return level(left) == level(node) and not _clashes(node, left)


def _clashes(node: t.Binary, left: t.Expr) -> bool:
    """`(a @ b) * c` keeps its brackets: only `*` and `/` are read together without them."""
    if level(node) != TERM or not isinstance(left, t.Binary) or level(left) != TERM:
        return False
    return not any({node.operator, left.operator} <= family for family in _SAME_FAMILY)


def _pipe(node: t.Pipe) -> Doc:
    chain = [node]
    while isinstance(chain[-1].value, t.Pipe):
        chain.append(chain[-1].value)
    first = expr(chain[-1].value, OR)
    parts: list[Doc] = []
    broken = False
    last = first
    for link in reversed(chain):
        broken = broken or last.forced or broken_between(link.value, link.function)
        last = expr(link.function, OR)
        parts += [Break(), Word("|> "), last]
    return group(concat(first, nest(2, concat(*parts))), broken)


def _if(node: t.If) -> Doc:
    parts: list[Doc] = []
    broken = False
    here = node
    while True:
        condition = expr(here.condition, PIPE)
        then = body(here.then, here.condition, "then")
        parts += [
            opening(here, "if"),
            Word(" "),
            condition,
            Word(" then"),
            then,
            Break(),
            Word("else"),
        ]
        broken = (
            broken or condition.forced or then.forced or broken_between(here.then, here.otherwise)
        )
        otherwise = here.otherwise
        after = broken_between(here.then, otherwise, "else")
        if otherwise.lets or not isinstance(otherwise.value, t.If) or after:
            break
        parts.append(Word(" "))
        here = otherwise.value
    last = body(otherwise, here.then, "else")
    return group(concat(*parts, last), broken or last.forced)


def _einsum(node: t.Einsum) -> Doc:
    parts: list[Doc] = []
    for access in node.operands:
        path = joined(".", [word(name, name.text) for name in access.path])
        letters = joined(", ", [_index(letter) for letter in access.letters])
        operand = concat(path, "[", letters, closing(access, "]"))
        parts += [Break(""), Word(", "), operand] if parts else [Word(" "), operand]
    parts += [Break(), Word("to "), expr(node.result)]
    shown = nest(2, concat(*parts))
    return group(
        concat(opening(node, "einsum"), shown),
        shown.forced or broken_among([*node.operands, node.result]),
    )
