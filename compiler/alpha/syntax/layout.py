"""Layout: from line ends to `_INDENT`, `_DEDENT` and `_NEWLINE` (specification, section 4).

The rule, in full:

* A line ending in an opener (`=`, `->`, `then`, `else`, `with`), or the header line of a `repeat` act, opens a block if
  the next line is deeper; the column of that next line is the column of the block.
* A line at the block's column begins the next item of the block.
* A deeper line continues the line above.
* A line that begins with `|`, `and`, `or`, `then`, `else`, `,` or a closing bracket never begins an item.
* A shallower line closes blocks until its column is the column of an open block; if there is none it is E0004.
* Inside brackets lines are free, except that an opener still opens a block there; the bracket's end closes it.

Each decision is made at the line end, from the text alone, before the first token of the next line is read: what that
token is may depend on the parser, and the layout tokens must have moved the parser first.
"""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Refused
from alpha.syntax import errors
from alpha.syntax.lexer import END, NEWLINE, Lexer, Token

OPENERS = frozenset({"_EQUAL", "_ARROW", "THEN", "ELSE", "WITH"})
_BLOCK_HEADER = "REPEAT"
_CLOSES = {"_RPAR": ("_LPAR",), "_RSQB": ("_LSQB", "_TLSQB"), "_RBRACE": ("_LBRACE",)}
_OPENS = frozenset({"_LPAR", "_LSQB", "_TLSQB", "_LBRACE"})


class Layout:
    """The tokens of one declaration with its layout. The stack holds the columns of blocks and the open brackets."""

    __slots__ = ("_first", "_firsts", "_lexer", "_source", "_stack", "previous")

    def __init__(self, source: Source, lexer: Lexer) -> None:
        self._source = source
        self._lexer = lexer
        self._stack: list[int | Token] = [0]
        self._first: Token | None = None  # of the logical line
        self._firsts: list[Token | None] = []  # of the lines around the open brackets
        self.previous: Token | None = None  # the last token that was read, newlines left out

    def tokens(self) -> Iterator[Token]:
        """All tokens up to and with `$END`. Raises `Refused` with E0001 to E0010 other than E0009's general form."""
        for token in self._lexer.tokens():
            kind = token.kind
            if kind == NEWLINE:
                yield from self._newline(token)
                continue
            if kind == END:
                break
            if kind in _CLOSES:
                yield from self._close(token)
            self.previous = token
            if self._first is None:
                self._first = token
            if kind in _OPENS:
                if len(self._firsts) == errors.MOST_DEPTH:
                    raise Refused(errors.too_deep(self._span(token)))
                self._stack.append(token)
                self._firsts.append(self._first)
            yield token
        for level in reversed(self._stack):
            if isinstance(level, Token):
                raise Refused(errors.unclosed_bracket(self._span(level), None))
        for _ in self._stack[1:]:
            yield _layout_token("_DEDENT", token)
        yield token

    def open_bracket(self) -> Token | None:
        """The innermost bracket that is open."""
        return next((level for level in reversed(self._stack) if isinstance(level, Token)), None)

    def _newline(self, token: Token) -> Iterator[Token]:
        column = len(token.text.rsplit("\n", 1)[1])
        item = not self._lexer.continues()
        top, previous, first = self._stack[-1], self.previous, self._first
        opens = previous is not None and (
            previous.kind in OPENERS
            or (first is not None and first.kind == _BLOCK_HEADER and isinstance(top, int))
        )
        if opens and item and (isinstance(top, Token) or column > top):
            self._stack.append(column)
            self._first = None
            yield _layout_token("_INDENT", token)
            return
        if isinstance(top, Token) or column > top:
            return  # free inside brackets; a deeper line continues
        # The target must exist above the innermost bracket, or the message would be about a token.
        columns = self._open_columns()
        outside = len(columns) < len(self._stack) and column < columns[0]
        if item and column not in columns and not outside:
            place = Span(self._source, token.end, token.end + 1)
            raise Refused(errors.no_block(place, column, columns))
        while isinstance(level := self._stack[-1], int) and column < level and len(self._stack) > 1:
            self._stack.pop()
            yield _layout_token("_DEDENT", token)
        if item and isinstance(self._stack[-1], int) and previous is not None:
            self._first = None
            yield _layout_token("_NEWLINE", token)

    def _close(self, token: Token) -> Iterator[Token]:
        while isinstance(self._stack[-1], int):
            if len(self._stack) == 1:
                raise Refused(errors.stray_bracket(self._span(token)))
            if self.open_bracket() is None:
                raise Refused(errors.stray_bracket(self._span(token)))
            self._stack.pop()
            yield _layout_token("_DEDENT", token)
        opening = self._stack.pop()
        self._first = self._firsts.pop()
        assert isinstance(opening, Token)
        if opening.kind not in _CLOSES[token.kind]:
            raise Refused(errors.wrong_bracket(self._span(token), self._span(opening)))

    def _open_columns(self) -> list[int]:
        """Columns of the blocks above the innermost open bracket, outermost first."""
        columns: list[int] = []
        for level in reversed(self._stack):
            if not isinstance(level, int):
                break
            columns.append(level)
        return columns[::-1]

    def _span(self, token: Token) -> Span:
        return Span(self._source, token.start, token.end)


def _layout_token(kind: str, at: Token) -> Token:
    return Token(kind, "", at.end, at.end)
