"""Places in source text."""

from __future__ import annotations

from bisect import bisect_right

from alpha.base.record import field, record


@record(eq=False)
class Source:
    """One source text. `path` is the name shown to people, never an absolute path of the build machine's own making."""

    path: str
    text: str
    _lines: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        object.__setattr__(self, "_lines", starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1), without its newline; empty behind the end."""
        if not 1 <= number <= len(self._lines):
            return ""
        start = self._lines[number - 1]
        end = self._lines[number] - 1 if number < len(self._lines) else len(self.text)
        return self.text[start:end]


@record
class Span:
    """A half-open range of character offsets in one source."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.source, self.start, max(self.end, other.end))

    def __str__(self) -> str:
        return f"{self.source.path}:{self.line}:{self.column}"
