"""A source text to the tree of its module.

A file is read declaration by declaration: a line that starts at column 1 begins one, unless it can only continue an
expression or close a bracket. So a fault stays within its declaration, and one reading reports the faults of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.syntax import errors, token_errors
from alpha.syntax.declarations import ACTIONS, Header
from alpha.syntax.lalr import Parser
from alpha.syntax.layout import OPENERS, Layout
from alpha.syntax.lexer import END, Lexer, Token
from alpha.syntax.source import check_source
from alpha.syntax.tables import tables
from alpha.syntax.tree import Comment, Decl, Import, Module

_BEGINS = re.compile(
    r"^(?![ \n]|--(?!\|)|\||(?:and|or|then|else)(?![A-Za-z0-9_'])|[)\]},])[^\n]", re.MULTILINE
)
_DECLARES = re.compile(
    r"--\||(?:import|type|alias|source|proof|test|rejects|facts|profile|model|optimizer|learner|policy|host|pairing) "
    r"|(?!(?:let|if|match|fn|not|einsum)\b)[a-z][\w']*(?: [\w'(), ]+)? ?[:=]"
)
"""What a declaration looks like: behind one that ended too early, only such lines are reported again."""
_DOC = "--|"


def parse_module(source: Source) -> Module:
    """The module that `source` holds.

    Raises `Refused` with E0001 to E0010 or E0701: one diagnostic for each declaration at fault, in their order.
    """
    check_source(source)
    found: list[Diagnostic] = []
    comments: list[Comment] = []
    values: list[object] = []
    rest = False  # whether what follows may be the rest of a declaration that ended too early
    sections = list(_sections(source))
    above = _preamble(source, sections[0][0])
    for number, (start, end) in enumerate(sections):
        reading = _Reading(source, start, end, "item" if number else "header")
        try:
            values.append(reading.value())
            rest = False
        except Refused as refused:
            if not rest or _DECLARES.match(source.text, start):
                found += refused.diagnostics
            rest = rest or reading.ended_too_early
        comments += reading.comments
    if found:
        raise Refused(*found)
    return _module(source, values, above + comments)


class _Reading:
    """The reading of one section of a file: its value, or why there is none."""

    def __init__(self, source: Source, start: int, end: int, kind: str) -> None:
        table = tables()
        self._source = source
        self._kind = kind
        self._parser = Parser(table, ACTIONS, source, kind)
        self._lexer = Lexer(source, start, end, self._parser, table.keywords)
        self._layout = Layout(source, self._lexer)
        self.ended_too_early = False

    @property
    def comments(self) -> list[Comment]:
        return self._lexer.comments

    def value(self) -> object:
        try:
            return self._read()
        except Refused as refused:
            self.ended_too_early |= refused.diagnostics[0].code == "E0005"
            raise

    def _read(self) -> object:
        tokens = self._layout.tokens()
        before: Token | None = None
        for token in tokens:
            if not self._parser.push(token):
                self.ended_too_early = token.kind == END or (
                    before is not None and before.kind in OPENERS
                )
                raise Refused(self._refusal(token, before, tokens))
            if token.text:
                before = token
        return self._parser.result

    def _refusal(self, token: Token, before: Token | None, rest: Iterator[Token]) -> Diagnostic:
        expected = self._parser.expected()
        if self._kind == "header" and before is None and token.kind != "DOC":
            return errors.no_header(Span(self._source, token.start, token.end))
        if self._layout.open_bracket() is not None:
            try:  # an unclosed bracket explains whatever follows it
                for _ in rest:
                    pass
            except Refused as refused:
                if refused.diagnostics[0].code == "E0005":
                    return refused.diagnostics[0]
        if token.end > token.start:
            place = Span(self._source, token.start, token.end)
        else:
            place = (
                Span(self._source, before.start, before.end) if before else Span(self._source, 0, 0)
            )
        return token_errors.unexpected(token, before, expected, place)


def _sections(source: Source) -> Iterator[tuple[int, int]]:
    """The stretches of the header and of each declaration, doc comments with what they document."""
    starts: list[int] = []
    documented = False
    for match in _BEGINS.finditer(source.text):
        if not documented:
            starts.append(match.start())
        documented = source.text.startswith(_DOC, match.start())
    if not starts:
        _preamble(source, len(source.text))
        raise Refused(errors.no_header(Span(source, 0, 0)))
    yield from zip(starts, [*starts[1:], len(source.text)], strict=True)


def _preamble(source: Source, end: int) -> list[Comment]:
    """The comments above the header, which begins at `end`."""
    text = source.text[:end]
    comments = []
    for match in re.finditer(r"^( *)(.+?) *$", text, re.MULTILINE):
        span = Span(source, match.start(2), match.end(2))
        if not match[2].startswith("--"):
            raise Refused(errors.indented_declaration(span))
        comments.append(Comment(match[2], own_line=True, span=span))
    return comments


def _module(source: Source, values: list[object], comments: list[Comment]) -> Module:
    header, *items = values
    assert isinstance(header, Header)
    return Module(
        header.path,
        header.exposing,
        header.budget,
        tuple(cast("list[Import | Decl]", items)),
        tuple(comments),
        docs=header.docs,
        span=header.span,
    )
