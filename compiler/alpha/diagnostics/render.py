"""Diagnostics as text: a sentence, the place with its source lines underlined, the cause, and what to do.

```
error[E0412]: the sizes differ: 64 on the left, 32 on the right
  --> Digits/Model.alpha:14:13
   |
 9 |   param w1 : Tensor f32 [inputs, hidden]   = glorot
   |                          ------ inputs = 32
   |
14 |     let h = image @ w1
   |             ^^^^^^^^^^
   = cause: ...
   = hint: ...
   = more: alpha explain E0412
```
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import IO

from alpha.base.record import record
from alpha.base.span import Source, Span
from alpha.diagnostics.columns import Shown, clean, show
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Severity

LIMIT = 20
HINTS = 3
WHOLE = 5
"""A span of at most so many lines is shown whole; of a longer one, its first two lines and its last."""


@record
class Paint:
    """Colours where they are wanted, plain text where they are not."""

    colour: bool

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def severity(self, severity: Severity, text: str) -> str:
        return self._in("1;31" if severity is Severity.ERROR else "1;33", text)

    def bold(self, text: str) -> str:
        return self._in("1", text)

    def frame(self, text: str) -> str:
        return self._in("34", text)

    def word(self, text: str) -> str:
        return self._in("36", text)


@record
class Mark:
    """A part of one source line to underline: character offsets within the line; `text` may follow it."""

    start: int
    end: int
    primary: bool
    text: str


def wants_colour(stream: IO[str], environment: Mapping[str, str]) -> bool:
    """Colour on a terminal only; `NO_COLOR` and `FORCE_COLOR` (set and not empty) decide otherwise, the first wins."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def ordered(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Errors before warnings. Within each, the order of the phases: what others follow from was found first."""
    items = list(diagnostics)
    return sorted(items, key=lambda item: item.severity is not Severity.ERROR)


def render_all(diagnostics: Iterable[Diagnostic], colour: bool = False) -> str:
    """Up to `LIMIT` diagnostics, blank lines between them, and a last line that counts them; "" if there are none."""
    items = ordered(diagnostics)
    if not items:
        return ""
    parts = [render(item, colour) for item in items[:LIMIT]]
    return "\n".join(parts) + "\n" + _summary(items) + "\n"


def render(diagnostic: Diagnostic, colour: bool = False) -> str:
    """One diagnostic, each line ended."""
    paint = Paint(colour)
    severity = diagnostic.severity
    head = paint.severity(severity, f"{severity.value}[{diagnostic.code}]")
    lines = [f"{head}{paint.bold(': ' + clean(diagnostic.message))}"]
    gutter = 1
    if diagnostic.span is not None:
        groups = _groups(diagnostic, diagnostic.span)
        gutter = max(len(str(number)) for _, marks in groups for number in marks)
        for place, (source, marks) in enumerate(groups):
            where = diagnostic.span if place == 0 else _first(source, diagnostic)
            arrow = "-->" if place == 0 else ":::"
            lines.append(f"{' ' * gutter}{paint.frame(arrow)} {where}")
            lines += _excerpt(source, marks, gutter, severity, paint)
    lines += _notes(diagnostic, " " * (gutter + 1), paint)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _summary(items: Sequence[Diagnostic]) -> str:
    errors = sum(item.severity is Severity.ERROR for item in items)
    words = [
        f"{count} {name}{'' if count == 1 else 's'}"
        for count, name in ((errors, "error"), (len(items) - errors, "warning"))
        if count
    ]
    rest = len(items) - LIMIT
    return ", ".join(words) + (f" ({rest} more not shown: mend these first)" if rest > 0 else "")


def _notes(diagnostic: Diagnostic, indent: str, paint: Paint) -> list[str]:
    notes = [("cause", diagnostic.cause)] if diagnostic.cause else []
    notes += [("hint", hint) for hint in diagnostic.hints[:HINTS]]
    notes += [("fix", fix_text(fix)) for fix in diagnostic.fixes if not _is_guess(fix, diagnostic)]
    notes.append(("more", f"alpha explain {diagnostic.code}"))
    lines = []
    for word, text in notes:
        first, *rest = map(clean, text.split("\n"))
        lines.append(f"{indent}{paint.frame('=')} {paint.word(word + ':')} {first}")
        lines += [f"{indent}  {' ' * (len(word) + 2)}{line}" for line in rest]
    return lines


def _is_guess(fix: Fix, diagnostic: Diagnostic) -> bool:
    """Whether a hint says the same already."""
    return not fix.safe and f"did you mean `{fix.replacement}`?" in diagnostic.hints


def fix_text(fix: Fix) -> str:
    """What a fix does, in one line."""
    sure = "" if fix.safe else " (look at it first)"
    old = fix.span.text
    if old and fix.title == f"write `{fix.replacement}`":
        return f"{fix.title} instead of `{old}`{sure}"
    if "\n" in old or "\n" in fix.replacement or len(old) + len(fix.replacement) > 60:
        return fix.title + sure
    if not old:
        return f"{fix.title}: insert `{fix.replacement.strip()}`{sure}"
    if not fix.replacement:
        return f"{fix.title}: delete `{old}`{sure}"
    return f"{fix.title}: `{old}` becomes `{fix.replacement}`{sure}"


def _first(source: Source, diagnostic: Diagnostic) -> Span:
    """Where the excerpt of a second file begins: its first label in the order given."""
    return next(label.span for label in diagnostic.labels if label.span.source.path == source.path)


Group = tuple[Source, dict[int, list[Mark]]]


def _groups(diagnostic: Diagnostic, primary: Span) -> list[Group]:
    """The lines to show with their marks, one group a file, the primary's file first."""
    groups: dict[str, Group] = {primary.source.path: (primary.source, {})}
    _place(groups[primary.source.path][1], primary, True, "")
    for label in diagnostic.labels:
        source = label.span.source
        group = groups.setdefault(source.path, (source, {}))
        _place(group[1], label.span, label.span == primary, label.text)
    return list(groups.values())


def _place(lines: dict[int, list[Mark]], span: Span, primary: bool, text: str) -> None:
    source = span.source
    first, start = source.position(span.start)
    last, end = source.position(max(span.start, span.end))
    if last > first and end == 1:  # ends with a newline: the line behind it has no part in it
        last -= 1
        end = len(source.line(last)) + 1
    numbers = range(first, last + 1)
    if len(numbers) > WHOLE:
        numbers_shown = [first, first + 1, last]
    else:
        numbers_shown = list(numbers)
    for number in numbers_shown:
        line = source.line(number)
        low = start - 1 if number == first else len(line) - len(line.lstrip())
        high = end - 1 if number == last else len(line)
        mark = Mark(low, max(high, low), primary, text if number == last else "")
        marks = lines.setdefault(number, [])
        same = next((old for old in marks if (old.start, old.end) == (mark.start, mark.end)), None)
        if same is None:
            marks.append(mark)
        elif mark.text:
            marks[marks.index(same)] = Mark(
                same.start,
                same.end,
                same.primary or primary,
                f"{same.text}; {mark.text}" if same.text else mark.text,
            )


def _excerpt(
    source: Source, lines: dict[int, list[Mark]], gutter: int, severity: Severity, paint: Paint
) -> list[str]:
    bar = paint.frame("|")
    blank = f"{' ' * gutter} {bar}"
    result = [blank]
    before: int | None = None
    for number in sorted(lines):
        if before is not None and number > before + 1:
            result.append(paint.frame("." * max(3, gutter)) if number > before + 2 else blank)
            if number == before + 2:
                between = show(source.line(number - 1)).text
                result[-1] = f"{paint.frame(f'{number - 1:>{gutter}}')} {bar} {between}"
        marks = sorted(lines[number], key=lambda mark: (mark.start, mark.end))
        line = show(source.line(number), marks[0].start, marks[-1].end)
        result.append(f"{paint.frame(f'{number:>{gutter}}')} {bar} {line.text}")
        result += [f"{blank} {row}" for row in _underlines(line, marks, severity, paint)]
        before = number
    return result


def _underlines(line: Shown, marks: list[Mark], severity: Severity, paint: Paint) -> list[str]:
    """The row of marks, the last text behind it, and one row for each other text, right to left below its mark."""
    cells: dict[int, bool] = {}
    for mark in sorted(marks, key=lambda mark: (mark.start - mark.end, mark.primary)):
        low, high = line.column(mark.start), line.column(mark.end)
        for column in range(low, max(high, low + 1)):
            cells[column] = mark.primary
    row, places = "", [cells.get(column) for column in range(max(cells) + 1)]
    for primary, run in groupby(places):
        length = len(list(run))
        row += _row_part(primary, length, severity, paint)
    texts = sorted((m for m in marks if m.text), key=lambda mark: (mark.start, mark.end))
    if texts and line.column(texts[-1].end) >= max(cells):
        row += " " + _coloured(texts.pop(), severity, paint)
    rows = [row]
    while texts:
        here = texts.pop()
        at = line.column(here.start)
        bars = sorted({line.column(mark.start) for mark in texts} - {at})
        lead, column = "", 0
        for bar in (b for b in bars if b < at):
            lead += " " * (bar - column) + paint.frame("|")
            column = bar + 1
        rows.append(lead + " " * (at - column) + _coloured(here, severity, paint))
    return rows


def _row_part(primary: bool | None, length: int, severity: Severity, paint: Paint) -> str:
    if primary is None:
        return " " * length
    return paint.severity(severity, "^" * length) if primary else paint.frame("-" * length)


def _coloured(mark: Mark, severity: Severity, paint: Paint) -> str:
    text = clean(mark.text)
    return paint.severity(severity, text) if mark.primary else paint.frame(text)
