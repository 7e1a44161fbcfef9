"""Source lines as a terminal shows them: where a character offset of a line lies in columns of the screen."""

from __future__ import annotations

import unicodedata

from alpha.base.record import record

TAB = 4
WINDOW = 140
ELLIPSIS = "..."


@record
class Shown:
    """A line ready to print. `columns[i]` is the screen column (from 0) where character i begins; one more for its end.

    Tabs are widened, control and invisible characters replaced, and a line wider than the window is cut around the
    characters that matter, so one enormous line cannot flood the screen.
    """

    text: str
    columns: tuple[int, ...]
    first: int

    def column(self, offset: int) -> int:
        """The screen column of a character offset of the original line, kept inside the shown part."""
        place = min(max(offset - self.first, 0), len(self.columns) - 1)
        return self.columns[place]


def show(line: str, low: int = 0, high: int = 0) -> Shown:
    """`line` as shown, keeping the characters from `low` to `high` in view where the window allows."""
    first, last, prefix, suffix = 0, len(line), "", ""
    if len(line) > WINDOW:
        first = max(0, min(low - WINDOW // 3, len(line) - WINDOW))
        last = min(len(line), first + WINDOW)
        prefix = ELLIPSIS if first else ""
        suffix = ELLIPSIS if last < len(line) else ""
    text, columns, at = [prefix], [], len(prefix)
    for character in line[first:last]:
        columns.append(at)
        shown = _shown(character)
        text.append(shown)
        at += sum(map(width, shown))
    columns.append(at)
    return Shown("".join(text) + suffix, tuple(columns), first)


def width(character: str) -> int:
    """Screen columns of one character: 2 for wide ones, 0 for those that combine with the one before."""
    if character.isascii():
        return 1
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def clean(text: str) -> str:
    """Text of a message without characters that would drive the terminal."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character == "\t":
        return " " * TAB
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
