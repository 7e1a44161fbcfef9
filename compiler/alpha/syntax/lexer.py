"""Words, numbers, texts and symbols (specification, section 3).

Most tokens are known by their text. Four are not, and the parser's state decides: a soft keyword or a name, a tight `[`
or a plain one, the name of a fact (`video-memory-bytes`), and a diagnostic's code behind `rejects`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
    [ ]*(?:
      (?P<newline>(?:\n[ ]*(?:--(?!\|)[^\n]*)?)+)
    | (?P<doc>--\|[^\n]*)
    | (?P<comment>--[^\n]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*'*)
    | (?P<number>[0-9])
    | (?P<text>"(?:\\.|[^"\\\n])*")
    | (?P<accessor>(?<![A-Za-z0-9_')\]}])\.[a-z][A-Za-z0-9_]*'*)
    | (?P<symbol>\.\.\.|\|>|->|\+\+|==|!=|<=|>=|//|[-+*/%@^<>=:,|()\[\]{}])
    | (?P<dot>\.)
    | (?P<end>\Z)
    )
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

    def row(self) -> Mapping[str, int]:
        """Has every terminal that may come next, and perhaps others: what is not in it need not be asked for."""
        ...


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

    def tokens(self) -> Iterator[Token]:
        """The tokens; newlines that lead to the end are left out, and the last is `$END`."""
        text, last, place = self._source.text, self._end, self._place
        match_at = _PATTERN.match
        while place < last:
            match = match_at(text, place, last)
            if match is None:
                raise Refused(errors.no_token(self._source, self._visible(place)))
            kind = match.lastgroup
            assert kind is not None
            start, end = match.span(kind)
            if kind == "word":
                token = self._word(match[kind], start, end)
            elif kind == "symbol":
                found = match[kind]
                if found == "[" and self._tight(start) and self._parser.accepts("_TLSQB"):
                    token = Token("_TLSQB", found, start, end)
                else:
                    token = Token(SYMBOLS[found], found, start, end)
            elif kind == "newline":
                gap = match[kind]
                if "-" in gap:
                    for comment in _COMMENT.finditer(text, start, end):
                        self._comment(comment.start(), comment.end(), own_line=True)
                self._place = place = end
                if end < last:
                    yield Token(NEWLINE, gap, start, end)
                continue
            elif kind == "comment":
                self._comment(start, end, own_line=False)
                place = end
                continue
            elif kind == "end":
                break
            else:
                token = self._rarer(kind, match[kind], start, end)
            place = token.end
            self._previous = token
            yield token
        yield Token(END, "", last, last)

    def continues(self) -> bool:
        """True if the line that begins behind the last newline can only continue an expression or close a bracket."""
        return _CONTINUES.match(self._source.text, self._place, self._end) is not None

    def _visible(self, place: int) -> int:
        """The first place from `place` on that is no space."""
        text = self._source.text
        while text[place] == " ":
            place += 1
        return place

    def _rarer(self, kind: str, text: str, start: int, end: int) -> Token:
        match kind:
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
        source, row = self._source, self._parser.row()
        if "FACT" in row or "CODE" in row:
            accepts = self._parser.accepts
            if accepts("FACT") and (fact := _FACT.match(source.text, start, self._end)):
                return Token("FACT", fact.group(), start, fact.end())
            if accepts("CODE") and (code := _CODE.match(source.text, start, self._end)):
                return Token("CODE", code.group(), start, code.end())
        if text[0] == "_":
            if text == "_":
                return Token("_WILD", text, start, end)
            raise Refused(errors.underscore_name(Span(source, start, end)))
        keyword = self._keywords.get(text)
        if keyword is not None and (
            text in HARD_KEYWORDS or (keyword in row and self._parser.accepts(keyword))
        ):
            return Token(keyword, text, start, end)
        previous = self._previous
        if text in numbers.SPACED_UNITS or (
            previous is not None and previous.kind in ("INT", "FLOAT")
        ):
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
