"""From rules to nodes: expressions, patterns, types and shapes. `declarations.py` has the rest.

Each function is the action of one rule of `grammar.lark`. The automaton calls it with the rule's span and arguments;
that these are what the node needs is the grammar's promise, so they are `Any` here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from alpha.base.span import Source, Span
from alpha.syntax import numbers, texts
from alpha.syntax import tree as t
from alpha.syntax.lexer import Token

Make = Callable[[Span, list[Any]], Any]


def name(source: Source, token: Token) -> t.Name:
    return t.Name(token.text, span=Span(source, token.start, token.end))


def names(source: Source, tokens: list[Token]) -> tuple[t.Name, ...]:
    return tuple(name(source, token) for token in tokens)


def _place(span: Span, token: Token) -> Span:
    return Span(span.source, token.start, token.end)


def _written_integer(token: Token) -> tuple[int, str]:
    return numbers.integer(token.text), token.text


def _text(token: Token) -> tuple[str, str]:
    return texts.value_of(token.text), token.text


# ---- expressions ---------------------------------------------------------------------------------------------------


def _quantity(span: Span, a: list[Any]) -> t.Quantity:
    value, unit = numbers.quantity(a[0].text)
    return t.Quantity(value, unit, a[0].text, span=span)


def _unary(span: Span, a: list[Any]) -> t.Unary:
    return t.Unary(a[0].text, a[1], span=span)


def _binary(span: Span, a: list[Any]) -> t.Binary:
    left, operator, right = a
    return t.Binary(operator.text, left, right, _place(span, operator), span=span)


def _select(span: Span, a: list[Any]) -> t.Select:
    return t.Select(a[0], name(span.source, a[1]), span=span)


def _access(span: Span, a: list[Any]) -> t.Access:
    return t.Access(a[0], tuple(a[1:]), span=span)


def _record(span: Span, a: list[Any]) -> t.RecordExpr:
    base = cast("Token | None", a[0])
    return t.RecordExpr(base and name(span.source, base), tuple(a[1:]), span=span)


def _body(span: Span, a: list[Any]) -> t.Body:
    return t.Body(tuple(a[:-1]), a[-1], span=span)


def _let(span: Span, a: list[Any]) -> t.Let:
    pattern, annotation, value = a
    return t.Let(pattern, annotation, value, span=span)


def _letfn(span: Span, a: list[Any]) -> t.LetFn:
    return t.LetFn(name(span.source, a[0]), tuple(a[1:-1]), a[-1], span=span)


EXPRESSIONS: dict[str, Make] = {
    "var": lambda span, a: t.Var(a[0].text, span=span),
    "con": lambda span, a: t.Con(a[0].text, span=span),
    "int": lambda span, a: t.Int(*_written_integer(a[0]), span=span),
    "float": lambda span, a: t.Float(numbers.decimal(a[0].text), a[0].text, span=span),
    "quantity": _quantity,
    "text": lambda span, a: t.Text(*_text(a[0]), span=span),
    "accessor": lambda span, a: t.Accessor(a[0].text[1:], span=span),
    "list": lambda span, a: t.ListExpr(tuple(a), span=span),
    "tuple": lambda span, a: t.TupleExpr(tuple(a), span=span),
    "record": _record,
    "field": lambda span, a: t.Field(name(span.source, a[0]), a[1], span=span),
    "select": _select,
    "bracket": lambda span, a: t.Bracket(a[0], tuple(a[1:]), span=span),
    "slice": lambda span, a: t.Slice(a[0], a[1], span=span),
    "apply": lambda span, a: t.Apply(a[0], tuple(a[1:]), span=span),
    "unary": _unary,
    "binary": _binary,
    "pipe": lambda span, a: t.Pipe(a[0], a[1], span=span),
    "fn": lambda span, a: t.Fn(tuple(a[:-1]), a[-1], span=span),
    "if_": lambda span, a: t.If(a[0], a[1], a[2], span=span),
    "match": lambda span, a: t.Match(a[0], tuple(a[1:]), span=span),
    "arm": lambda span, a: t.Arm(a[0], a[1], span=span),
    "einsum": lambda span, a: t.Einsum(tuple(a[:-1]), a[-1], span=span),
    "access": _access,
    "dotted": lambda span, a: names(span.source, a),
    "body": _body,
    "let": _let,
    "letfn": _letfn,
}

# ---- patterns ------------------------------------------------------------------------------------------------------


def _pcon(span: Span, a: list[Any]) -> t.PCon:
    path = [part for part in a if isinstance(part, Token)]
    return t.PCon(names(span.source, path), tuple(a[len(path) :]), span=span)


def _pnegative(span: Span, a: list[Any]) -> t.PInt:
    value, written = _written_integer(a[1])
    return t.PInt(-value, f"-{written}", span=span)


def _pannotated(span: Span, a: list[Any]) -> t.PAnnotated:
    return t.PAnnotated(name(span.source, a[0]), a[1], span=span)


PATTERNS: dict[str, Make] = {
    "pvar": lambda span, a: t.PVar(a[0].text, span=span),
    "pwild": lambda span, a: t.PWild(span=span),
    "pnegative": _pnegative,
    "pint": lambda span, a: t.PInt(*_written_integer(a[0]), span=span),
    "ptext": lambda span, a: t.PText(*_text(a[0]), span=span),
    "ptuple": lambda span, a: t.PTuple(tuple(a), span=span),
    "pcon": _pcon,
    "pannotated": _pannotated,
}

# ---- types and shapes ----------------------------------------------------------------------------------------------


def _tfield(span: Span, a: list[Any]) -> t.TField:
    return t.TField(name(span.source, a[0]), a[1], span=span)


def _dbinary(span: Span, a: list[Any]) -> t.DimBinary:
    left, operator, right = a
    return t.DimBinary(operator.text, left, right, span=span)


def _equation(span: Span, a: list[Any]) -> t.Equation:
    return t.Equation(name(span.source, a[0]), a[1], span=span)


TYPES: dict[str, Make] = {
    "tarrow": lambda span, a: t.TArrow(a[0], a[1], span=span),
    "tapply": lambda span, a: t.TApply(a[0], tuple(a[1:]), span=span),
    "tvar": lambda span, a: t.TVar(a[0].text, span=span),
    "tcon": lambda span, a: t.TCon(names(span.source, a), span=span),
    "tint": lambda span, a: t.TInt(*_written_integer(a[0]), span=span),
    "ttuple": lambda span, a: t.TTuple(tuple(a), span=span),
    "trecord": lambda span, a: t.TRecord(tuple(a), span=span),
    "tfield": _tfield,
    "tdims": lambda span, a: t.TDims(tuple(a), span=span),
    "spread": lambda span, a: t.Spread(a[0].text, span=span),
    "dbinary": _dbinary,
    "dvar": lambda span, a: t.DimVar(a[0].text, span=span),
    "dint": lambda span, a: t.DimInt(*_written_integer(a[0]), span=span),
    "equation": _equation,
    "where": lambda span, a: tuple(a),
}
