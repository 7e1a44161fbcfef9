"""Documents and their layout: where lines may break, and where they do.

After Wadler, "A prettier printer" (2003), with one addition: a group may be broken because its author broke it. A group
that was laid out flat has no line end in its gaps when it is read again, one that was broken has; so laying out the
result once more changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from alpha.base.record import record

WIDTH = 100


@record
class Word:
    """Text without a line end. `start` and `end` are its place in the source, -1 if it has none of its own."""

    text: str
    start: int = -1
    end: int = -1
    forced: bool = False


@record
class Break:
    """A line end in a broken group, `flat` in a flat one."""

    flat: str = " "
    forced: bool = False


@record
class Hard:
    """A line end always. `gap` says what may stand above the next line: see `Line`."""

    gap: str = "none"
    forced: bool = True


@record
class Either:
    """One text in a flat group, another in a broken one."""

    flat: str
    broken: str
    start: int = -1
    end: int = -1
    forced: bool = False


@record
class Nest:
    """Lines in `doc` are `by` columns deeper; with `broken` only where the group around it is broken."""

    by: int
    doc: Doc
    broken: bool
    forced: bool


@record
class Group:
    """All breaks directly in it are line ends, or none is: none if it fits and is not `broken`."""

    doc: Doc
    broken: bool
    forced: bool


@record
class Concat:
    docs: tuple[Doc, ...]
    forced: bool


Doc = Word | Break | Hard | Either | Nest | Group | Concat
"""`forced` is true of a document that cannot be laid out without a line end."""


def concat(*docs: Doc | str) -> Concat:
    made = tuple(Word(doc) if isinstance(doc, str) else doc for doc in docs)
    return Concat(made, any(doc.forced for doc in made))


def joined(separator: Doc | str, docs: Iterable[Doc]) -> Concat:
    parts: list[Doc | str] = []
    for doc in docs:
        parts += [separator, doc] if parts else [doc]
    return concat(*parts)


def nest(by: int, doc: Doc, broken: bool = False) -> Nest:
    return Nest(by, doc, broken, doc.forced)


def group(doc: Doc, broken: bool = False) -> Group:
    return Group(doc, broken, broken or doc.forced)


@record(frozen=False)
class Line:
    """A line of the result. `start` and `end` span the places of its words in the source, -1 if it has none.

    `gap` says what may stand above it: `none` (it belongs to the line above), `join` (it does too, but a comment may
    come between), `author` (a blank line if there was one), `blank` (a blank line).
    """

    indent: int
    text: str
    gap: str
    start: int = -1
    end: int = -1
    last: int = -1
    """Where its last word starts in the source."""


_Entry = tuple[int, bool, "Doc"]


def lay_out(doc: Doc, gap: str, width: int = WIDTH) -> list[Line]:
    """The lines of a document. Lines that nothing allows to break may be longer than `width`."""
    lines = [Line(0, "", gap)]
    pending: list[_Entry] = [(0, True, doc)]  # indentation, broken, document
    while pending:
        indent, broken, item = pending.pop()
        line = lines[-1]
        match item:
            case Word(text, start, end):
                _write(line, text, start, end)
            case Either(flat, text, start, end):
                _write(line, text if broken else flat, start, end)
            case Break(flat):
                if broken:
                    lines.append(Line(indent, "", "none"))
                else:
                    line.text += flat
            case Hard(gap_above):
                lines.append(Line(indent, "", gap_above))
            case Nest(by, inner, only_broken):
                deeper = by if broken or not only_broken else 0
                pending.append((indent + deeper, broken, inner))
            case Concat(docs):
                pending += [(indent, broken, part) for part in reversed(docs)]
            case Group(inner, must_break):
                room = width - line.indent - len(line.text)
                breaks = must_break or not _fits(inner, pending, room)
                pending.append((indent, breaks, inner))
    for line in lines:
        line.text = line.text.rstrip(" ")
    return lines


def flat_width(doc: Doc) -> int:
    """The width of a document on one line; what is forced to break counts to its first line end."""
    width = 0
    pending: list[Doc] = [doc]
    while pending:
        match pending.pop():
            case Word(text) | Either(text) | Break(text):
                width += len(text)
            case Hard():
                return width
            case Nest(_, inner) | Group(inner):
                pending.append(inner)
            case Concat(docs):
                pending += reversed(docs)
    return width


def flattened(doc: Doc) -> Doc:
    """The document without places to break. Only for one that is not forced."""
    match doc:
        case Break(flat) | Either(flat):
            return Word(flat)
        case Nest(_, inner) | Group(inner):
            return flattened(inner)
        case Concat(docs):
            return concat(*[flattened(part) for part in docs])
        case _:
            return doc


def words(doc: Doc) -> set[str]:
    """All its words."""
    found: set[str] = set()
    pending: list[Doc] = [doc]
    while pending:
        match pending.pop():
            case Word(text):
                found.add(text)
            case Nest(_, inner) | Group(inner):
                pending.append(inner)
            case Concat(docs):
                pending += docs
            case _:
                pass
    return found


def _write(line: Line, text: str, start: int, end: int) -> None:
    line.text += text
    if start >= 0:
        line.start = start if line.start < 0 else line.start
        line.last = max(line.last, start)
        line.end = max(line.end, end)


def _fits(doc: Doc, rest: Sequence[_Entry], room: int) -> bool:
    """Whether `doc`, flat, and what follows it up to the next line end fit into `room` columns."""
    pending: list[tuple[bool, Doc]] = [(False, doc)]
    behind = len(rest)
    while room >= 0:
        if not pending:
            if behind == 0:
                return True
            behind -= 1
            pending.append(rest[behind][1:])
        broken, item = pending.pop()
        match item:
            case Word(text):
                room -= len(text)
            case Either(flat, text):
                room -= len(text if broken else flat)
            case Break(flat):
                if broken:
                    return True
                room -= len(flat)
            case Hard():
                return True
            case Nest(_, inner):
                pending.append((broken, inner))
            case Group(inner, must_break):
                pending.append((must_break, inner))
            case Concat(docs):
                pending += [(broken, part) for part in reversed(docs)]
    return False
