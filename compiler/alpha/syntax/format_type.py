"""Patterns, types and shapes as documents, and the words and gaps that all documents are made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from alpha.syntax import tree as t
from alpha.syntax.format_doc import Break, Doc, Word, concat, group, joined, nest

_COMMENT = re.compile(r"--[^\n]*")


def word(node: t.Node, text: str) -> Word:
    """The whole text of a node."""
    return Word(text, node.span.start, node.span.end)


def opening(node: t.Node, text: str) -> Word:
    """The first word of a node."""
    return Word(text, node.span.start, node.span.start + len(text))


def closing(node: t.Node, text: str) -> Word:
    """The last word of a node."""
    return Word(text, max(node.span.end - len(text), node.span.start), node.span.end)


def broken_between(first: t.Node, second: t.Node, behind: str = "") -> bool:
    """Whether the author ended a line between two nodes; with `behind`, after that word between them."""
    between = _COMMENT.sub("", first.span.source.text[first.span.end : second.span.start])
    return "\n" in (between.rpartition(behind)[2] if behind else between)


def broken_among(nodes: Sequence[t.Node]) -> bool:
    return any(broken_between(a, b) for a, b in pairwise(nodes))


def opened_out(node: t.Node, parts: Sequence[t.Node]) -> bool:
    """Whether the author ended a line between the parts of a node, or between them and its brackets."""
    source = node.span.source.text
    edges = (
        source[node.span.start : parts[0].span.start] + source[parts[-1].span.end : node.span.end]
    )
    return broken_among(parts) or "\n" in _COMMENT.sub("", edges)


# ---- patterns ------------------------------------------------------------------------------------------------------


def pattern(node: t.Pattern, argument: bool = False) -> Doc:
    """A pattern; as an `argument` of a function or constructor, brackets go around what has arguments itself."""
    match node:
        case t.PVar(name):
            return word(node, name)
        case t.PWild():
            return word(node, "_")
        case t.PInt() | t.PText():
            negative = argument and node.written[0] == "-"
            return word(node, f"({node.written})" if negative else node.written)
        case t.PTuple(items):
            return concat(
                opening(node, "("),
                joined(", ", [pattern(item) for item in items]),
                closing(node, ")"),
            )
        case t.PCon(path, arguments):
            head = joined(".", [word(name, name.text) for name in path])
            parts = [head, *[pattern(item, argument=True) for item in arguments]]
            shown = joined(" ", parts)
            return concat("(", shown, ")") if argument and arguments else shown
        case t.PAnnotated(name, type_of):
            return concat(
                opening(node, "("), word(name, name.text), " : ", type_(type_of), closing(node, ")")
            )


# ---- types and shapes ----------------------------------------------------------------------------------------------

_TYPE, _APPLIED, _SINGLE = range(3)


def type_(node: t.Type, at_least: int = _TYPE) -> Doc:
    match node:
        case t.TVar(name):
            return word(node, name)
        case t.TCon(path):
            return joined(".", [word(name, name.text) for name in path])
        case t.TInt():
            return word(node, node.written)
        case t.TDims(items):
            inner = joined(", ", [_dim_or_spread(item) for item in items])
            return concat(opening(node, "["), inner, closing(node, "]"))
        case t.TTuple(items):
            inner = joined(", ", [type_(item) for item in items])
            return concat(opening(node, "("), inner, closing(node, ")"))
        case t.TRecord():
            return record_type(node)
        case t.TApply(head, arguments):
            shown = joined(" ", [type_(part, _SINGLE) for part in (head, *arguments)])
            return concat("(", shown, ")") if at_least > _APPLIED else shown
        case t.TArrow():
            arrows = _arrow(node)
            return concat("(", nest(1, arrows), ")") if at_least > _TYPE else arrows


def _arrow(node: t.TArrow) -> Doc:
    """`a -> b -> c`; a long one breaks before each arrow."""
    parts: list[Doc] = []
    broken = False
    here: t.Type = node
    first: Doc | None = None
    while isinstance(here, t.TArrow):
        shown = type_(here.parameter, _APPLIED)
        broken = broken or shown.forced
        if first is None:
            first = shown
        else:
            parts += [Break(), Word("-> "), shown]
        broken = broken or broken_between(here.parameter, here.result)
        here = here.result
    assert first is not None
    parts += [Break(), Word("-> "), type_(here, _APPLIED)]
    return group(concat(first, nest(2, concat(*parts))), broken)


def record_type(node: t.TRecord) -> Doc:
    fields = [
        concat(word(field.name, field.name.text), " : ", type_(field.type)) for field in node.fields
    ]
    first, *others = [nest(2, field) for field in fields]
    parts: list[Doc] = [opening(node, "{"), Word(" "), first]
    for other in others:
        parts += [Break(""), Word(", "), other]
    broken = opened_out(node, node.fields) or any(field.forced for field in fields)
    return group(concat(*parts, Break(" "), closing(node, "}")), broken)


def _dim_or_spread(node: t.Dim | t.Spread) -> Doc:
    return word(node, f"...{node.name}") if isinstance(node, t.Spread) else dim(node)


def dim(node: t.Dim, at_least: int = 0) -> Doc:
    match node:
        case t.DimInt():
            return word(node, node.written)
        case t.DimVar(name):
            return word(node, name)
        case t.DimBinary(operator, left, right):
            own = 0 if operator in "+-" else 1
            shown = concat(dim(left, own), f" {operator} ", dim(right, own + 1))
            return concat("(", shown, ")") if own < at_least else shown
