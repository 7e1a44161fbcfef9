"""The one canonical style (specification, section 4): a tree back to text, comments kept.

Two spaces for each level, leading commas, 100 columns, one space around operators and none inside brackets, and columns
for neighbours that are alike. What an author decided and the style leaves open stays: a line end behind `=`, a list or
a chain with a line for each part, one blank line between items. `parse (format x) == x`, and twice is once.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

from alpha.syntax import tree as t
from alpha.syntax.format_decl import aligned, defines, header, items
from alpha.syntax.format_doc import Line, lay_out

_BLANK = re.compile(r"\n *\n")
_FRAMES = 20_000
"""Enough for the deepest tree that E0010 lets through, several frames a level."""


def format_module(module: t.Module) -> str:
    """The canonical text of a module. Comments come from `module.comments`, author's choices from the source."""
    with _deep_recursion():
        lines = _lines(module)
    return _with_comments(module, lines)


def _lines(module: t.Module) -> list[Line]:
    before: t.Node = module
    before_lines = lay_out(header(module), "join")
    lines = list(before_lines)
    for node, doc in zip(module.items, items(module.items), strict=True):
        shown = lay_out(doc, "none")
        shown[0].gap = _gap(before, before_lines, node, shown)
        lines += shown
        before, before_lines = node, shown
    return lines


def _gap(before: t.Node, above: Sequence[Line], node: t.Node, shown: Sequence[Line]) -> str:
    """What stands between two declarations: nothing, a blank line, or what the author had between like lines."""
    if defines(before, node):
        return "join"
    if aligned(before, node):
        return "author"
    alike = type(before) is type(node) and len(above) == 1 and len(shown) == 1
    imports = isinstance(before, t.Import) and isinstance(node, t.Import)
    return "author" if alike or imports else "blank"


def _with_comments(module: t.Module, lines: Sequence[Line]) -> str:
    """The lines with comments: one behind code stays behind the word before it, others above the word after."""
    source = module.span.source.text
    above, behind = _placed(module.comments, lines)
    result: list[str] = []
    end = -1
    for number, line in enumerate(lines):
        group = sorted(above.get(number, []), key=lambda comment: comment.span.start)
        indents = _comment_indent(group, lines, number, source)
        result += _gap_lines(source, end, group, line, indents, bool(result))
        text = " " * line.indent + line.text
        if number in behind:
            text += "  " + behind[number].text
            end = max(end, behind[number].span.end)
        result.append(text)
        end = max(end, line.end)
    if group := above.get(len(lines), []):
        indents = _comment_indent(group, lines, len(lines), source)
        result += _gap_lines(source, end, group, None, indents, bool(result))
    return "\n".join(result) + "\n"


def _placed(
    comments: Sequence[t.Comment], lines: Sequence[Line]
) -> tuple[dict[int, list[t.Comment]], dict[int, t.Comment]]:
    """The comments above and behind each line by the line's number; those above number `len(lines)` end the file."""
    lasts = list(accumulate([line.last for line in lines], max))
    starts: list[int] = []  # of each line that has a place, with its number beside it
    numbers: list[int] = []
    for number, line in enumerate(lines):
        if line.start >= 0:
            starts.append(max(line.start, starts[-1] if starts else 0))
            numbers.append(number)
    above: dict[int, list[t.Comment]] = {}
    behind: dict[int, t.Comment] = {}
    for comment in sorted(comments, key=lambda comment: comment.span.start):
        place = comment.span.start
        if comment.own_line:
            above.setdefault(bisect_right(lasts, place), []).append(comment)
            continue
        number = numbers[max(bisect_left(starts, place) - 1, 0)]
        if number in behind:  # a line has room for one: the earlier goes above it
            above.setdefault(number, []).append(behind[number])
        behind[number] = comment
    return above, behind


def _gap_lines(
    source: str,
    end: int,
    comments: Sequence[t.Comment],
    line: Line | None,
    indents: Sequence[int],
    any_above: bool,
) -> Iterator[str]:
    """The blank lines and comments above a line, or behind the last one."""
    places = [(comment.span.start, comment.span.end) for comment in comments]
    gap = "author" if line is None else line.gap
    blanks = []
    here = end
    for start, stop in places:
        blanks.append(here >= 0 and _BLANK.search(source, here, start) is not None)
        here = stop
    if line is not None:
        known = here >= 0 and line.start >= 0
        blanks.append(known and _BLANK.search(source, here, line.start) is not None)
    if gap == "none" or (gap == "join" and not comments):
        blanks = [False] * len(blanks)
    if gap == "blank" and not any(blanks):
        blanks[0] = True
    if not any_above and blanks:
        blanks[0] = False
    for comment, indent, blank in zip(comments, indents, blanks, strict=False):
        if blank:
            yield ""
        yield " " * indent + comment.text
    if line is not None and blanks[-1]:
        yield ""


def _comment_indent(
    comments: Sequence[t.Comment], lines: Sequence[Line], number: int, source: str
) -> list[int]:
    """Comments stand at the column of the line below, or of the line above if they were deeper than the one below."""
    below = lines[number].indent if number < len(lines) else 0
    over = lines[number - 1].indent if number else 0
    column = 0
    if number < len(lines) and lines[number].start >= 0:
        # Of the whole line: an opening bracket before the first node belongs to no node.
        first = source.rfind("\n", 0, lines[number].start) + 1
        while source.startswith(" ", first + column):
            column += 1
    indents = []
    for comment in comments:
        own = comment.span.start - (source.rfind("\n", 0, comment.span.start) + 1)
        indents.append(over if comment.own_line and own > column and over > below else below)
    return indents


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Room for walks over deep trees. Python's own limit is for runaway recursion; E0010 bounds ours."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
