"""Words, numbers, texts and symbols (specification, section 3).

Most tokens are known by their text. Four are not, and the parser's state decides: a soft keyword or a name, a tight `[`
or a plain one, the name of a fact (`video-memory-bytes`), and a diagnostic's code behind `rejects`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, Protocol

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Refused
from alpha.syntax import errors, numbers
from alpha.syntax.texts import check_text
from alpha.syntax.tree import Comment

HARD_KEYWORDS = frozenset({
    "module", "exposing", "import", "as", "type", "alias", "let", "if", "then", "else", "match", "with", "fn",
    "and", "or", "not", "einsum", "source", "proof", "rejects", "where",
})  # fmt: skip

SYMBOLS: Mapping[str, str] = {
    "(": "_LPAR", ")": "_RPAR", "[": "_LSQB", "]": "_RSQB", "{": "_LBRACE", "}": "_RBRACE",
    "=": "_EQUAL", ":": "_COLON", ",": "_COMMA", "|": "_BAR", "|>": "_PIPE", "->": "_ARROW", "...": "_ELLIPSIS",
    "==": "CMP", "!=": "CMP", "<": "CMP", "<=": "CMP", ">": "CMP", ">=": "CMP",
    "+": "PLUS", "-": "MINUS", "++": "CAT", "*": "MULOP", "/": "MULOP", "//": "MULOP", "%": "MULOP", "@": "MULOP",
    "^": "POWER",
}  # fmt: skip

NEWLINE = "newline"
END = "$END"

_PATTERN = re.compile(
    r"""
      (?P<space>[ ]+)
    | (?P<newline>(?:\n[ ]*(?:--(?!\|)[^\n]*)?)+)
    | (?P<doc>--\|[^\n]*)
    | (?P<comment>--[^\n]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*'*)
    | (?P<number>[0-9])
    | (?P<text>"(?:\\.|[^"\\\n])*")
    | (?P<accessor>(?<![A-Za-z0-9_')\]}])\.[a-z][A-Za-z0-9_]*'*)
    | (?P<symbol>\.\.\.|\|>|->|\+\+|==|!=|<=|>=|//|[-+*/%@^<>=:,|()\[\]{}])
    | (?P<dot>\.)
    """,
    re.VERBOSE,
)
_COMMENT = re.compile(r"--[^\n]*")
_FACT = re.compile(r"[a-z][A-Za-z0-9_]*(?:-[a-z][A-Za-z0-9_]*)*")
_CODE = re.compile(r"E[0-9]{4}(?![A-Za-z0-9_'])")
_TIGHT = re.compile(r"[A-Za-z0-9_')\]}]")
_CONTINUES = re.compile(r"\||(?:and|or|then|else)(?![A-Za-z0-9_'])|[)\]},]")


class Token(NamedTuple):
    """A terminal of the grammar with its place. Layout terminals have no text; a newline's text is the whole gap."""

    kind: str
    text: str
    start: int
    end: int


class Acceptor(Protocol):
    """What the lexer asks of the parser: whether a terminal may come next."""

    def accepts(self, kind: str) -> bool: ...


class Lexer:
    """Reads the tokens of one stretch of a source. `comments` fills as it goes."""

    __slots__ = ("_end", "_keywords", "_parser", "_place", "_previous", "_source", "comments")

    def __init__(
        self, source: Source, start: int, end: int, parser: Acceptor, keywords: Mapping[str, str]
    ) -> None:
        self._source = source
        self._place = start
        self._end = end
        self._parser = parser
        self._keywords = keywords
        self._previous: Token | None = None
        self.comments: list[Comment] = []

    def next(self) -> Token:
        """The next token; newlines that lead to the end are left out, and the end is `$END`."""
        text = self._source.text
        while self._place < self._end:
            start = self._place
            match = _PATTERN.match(text, start, self._end)
            if match is None:
                raise Refused(errors.no_token(self._source, start))
            self._place = match.end()
            kind = match.lastgroup
            if kind == "space":
                continue
            if kind == "comment":
                self._comment(start, match.end(), own_line=False)
                continue
            if kind == "newline":
                for comment in _COMMENT.finditer(text, start, match.end()):
                    self._comment(comment.start(), comment.end(), own_line=True)
                if match.end() < self._end:
                    return Token(NEWLINE, match.group(), start, match.end())
                continue
            token = self._token(kind or "", match.group(), start, match.end())
            self._place = token.end
            self._previous = token
            return token
        return Token(END, "", self._end, self._end)

    def continues(self) -> bool:
        """True if the line that begins here can only continue an expression or close a bracket."""
        return _CONTINUES.match(self._source.text, self._place, self._end) is not None

    def _token(self, kind: str, text: str, start: int, end: int) -> Token:
        match kind:
            case "word":
                return self._word(text, start, end)
            case "symbol":
                if text == "[" and self._tight(start) and self._parser.accepts("_TLSQB"):
                    return Token("_TLSQB", text, start, end)
                return Token(SYMBOLS[text], text, start, end)
            case "number":
                found, length = numbers.read(self._source, start, self._end)
                return Token(
                    found, self._source.text[start : start + length], start, start + length
                )
            case "text":
                check_text(self._source, start, end)
                return Token("STRING", text, start, end)
            case "accessor":
                return Token("ACCESSOR", text, start, end)
            case "doc":
                return Token("DOC", text, start, end)
            case _:
                if self._tight(start):
                    return Token("_TDOT", text, start, end)
                raise Refused(errors.lonely_dot(self._source, start))

    def _word(self, text: str, start: int, end: int) -> Token:
        source, accepts = self._source, self._parser.accepts
        if accepts("FACT") and (fact := _FACT.match(source.text, start, self._end)):
            return Token("FACT", fact.group(), start, fact.end())
        if accepts("CODE") and (code := _CODE.match(source.text, start, self._end)):
            return Token("CODE", code.group(), start, code.end())
        if text.startswith("_"):
            if text == "_":
                return Token("_WILD", text, start, end)
            raise Refused(errors.underscore_name(Span(source, start, end)))
        keyword = self._keywords.get(text)
        if text in HARD_KEYWORDS:
            assert keyword is not None
            return Token(keyword, text, start, end)
        if keyword is not None and accepts(keyword):
            return Token(keyword, text, start, end)
        self._check_unit(text, start, end)
        if text[0].islower():
            return Token("NAME", text, start, end)
        if text.endswith("'"):
            raise Refused(errors.primed_type_name(Span(source, start, end)))
        return Token("CON", text, start, end)

    def _check_unit(self, text: str, start: int, end: int) -> None:
        """A word behind a number that was meant as its unit, and a unit where a name belongs."""
        place = Span(self._source, start, end)
        previous = self._previous
        if previous is not None and previous.kind in ("INT", "FLOAT"):
            between = self._source.text[previous.end : start]
            if "\n" not in between and (meant := numbers.meant_unit(text)) is not None:
                raise Refused(errors.unknown_unit(place, previous.text, meant))
        if text in numbers.SPACED_UNITS:
            raise Refused(errors.unit_as_name(place))

    def _tight(self, start: int) -> bool:
        return start > 0 and _TIGHT.match(self._source.text, start - 1) is not None

    def _comment(self, start: int, end: int, own_line: bool) -> None:
        text = self._source.text[start:end].rstrip(" ")
        span = Span(self._source, start, start + len(text))
        self.comments.append(Comment(text, own_line, span=span))
