"""A source text to the tree of its module.

A file is read declaration by declaration: a line that starts at column 1 begins one, unless it can only continue an
expression or close a bracket. So a fault stays within its declaration, and one reading reports the faults of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import cast

from alpha.base.record import record
from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.syntax import errors
from alpha.syntax.declarations import ACTIONS, Header
from alpha.syntax.lalr import Automaton, Parser
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
_WORD = re.compile(r"[A-Za-z][\w']*")
_NAMED_BEHIND = frozenset(
    {"alias", "source", "proof", "test", "facts", "profile", "model", "optimizer", "learner", "policy", "pairing"}
    | {"host"}
)  # fmt: skip


@record
class Parsed:
    """What could be read of a file: the module without the declarations at fault, or None if its header is.

    `faults` are E0001 to E0010 and E0701, one a declaration, in their order. `unread` are the names that the
    declarations at fault would have brought: nothing can be said about their uses, nor about a signature or a
    definition of one of them that could be read.
    """

    module: Module | None
    faults: tuple[Diagnostic, ...] = ()
    unread: frozenset[str] = frozenset()


def parse_module(source: Source) -> Module:
    """The module that `source` holds. Raises `Refused` with the faults of `read_module`."""
    parsed = read_module(source)
    if parsed.module is None or parsed.faults:
        raise Refused(*parsed.faults)
    return parsed.module


def read_module(source: Source) -> Parsed:
    """The module that `source` holds, as far as it can be read."""
    try:
        check_source(source)
        sections = list(_sections(source))
        above = _preamble(source, sections[0][0])
    except Refused as refused:
        return Parsed(None, refused.diagnostics)
    found: list[Diagnostic] = []
    comments: list[Comment] = []
    values: list[object] = []
    unread: set[str] = set()
    rest = False  # whether what follows may be the rest of a declaration that ended too early
    for number, (start, end) in enumerate(sections):
        reading = _Reading(source, start, end, "item" if number else "header")
        try:
            values.append(reading.value())
            rest = False
        except Refused as refused:
            if not rest or _DECLARES.match(source.text, start):
                found += refused.diagnostics
            rest = rest or reading.ended_too_early
            unread |= _names(source.text[start:end])
        comments += reading.comments
    if not values or not isinstance(values[0], Header):
        return Parsed(None, tuple(found))
    return Parsed(
        _module(source, values, above + comments, unread), tuple(found), frozenset(unread)
    )


def _names(text: str) -> set[str]:
    """The names that the declaration in `text`, which could not be read, would have brought into scope."""
    code = re.sub(r"--[^\n]*", "", text)
    first, *others = _WORD.findall(code) or [""]
    if first == "import":
        return set(others)
    if first == "type":
        return {name for name in others if name[0].isupper()}
    if first in _NAMED_BEHIND:
        return set(others[:1])
    return {first}


@cache
def _automaton() -> Automaton:
    return Automaton(tables(), ACTIONS)


class _Reading:
    """The reading of one section of a file: its value, or why there is none."""

    def __init__(self, source: Source, start: int, end: int, kind: str) -> None:
        automaton = _automaton()
        self._source = source
        self._kind = kind
        self._parser = Parser(automaton, source, kind)
        self._lexer = Lexer(source, start, end, self._parser, automaton.tables.keywords)
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
        unfit = self._parser.run(tokens)
        if unfit is None:
            return self._parser.result
        before = self._parser.before
        self.ended_too_early = unfit.kind == END or (before is not None and before.kind in OPENERS)
        raise Refused(self._refusal(unfit, before, tokens))

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
        from alpha.syntax import token_errors  # only where something is wrong

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


def _module(
    source: Source, values: list[object], comments: list[Comment], unread: set[str]
) -> Module:
    header, *read = values
    assert isinstance(header, Header)
    items = [item for item in read if isinstance(item, Import) or _name(item) not in unread]
    return Module(
        header.path,
        header.exposing,
        header.budget,
        tuple(cast("list[Import | Decl]", items)),
        tuple(comments),
        docs=header.docs,
        span=header.span,
    )


def _name(item: object) -> str:
    return cast("Decl", item).name.text
