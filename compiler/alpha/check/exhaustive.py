"""Which values a list of patterns leaves out, and which patterns add nothing.

The usefulness algorithm of Maranget, *Warnings for pattern matching* (JFP 17, 2007): a row of patterns is useful
behind a matrix of rows if some row of values fits it and none of the rows before. The rows of a matrix are kept by what
they look at first, so that a match of many arms takes time that grows with them.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.check.scope import Registry
from alpha.core import term
from alpha.core.types import Named

Row = tuple[term.Pattern | None, ...]
"""Patterns side by side; None fits everything."""

_SHOWN = 3


def missing(registry: Registry, patterns: Sequence[term.Pattern]) -> list[str]:
    """Up to three patterns, as source, of values that no pattern fits."""
    matrix = _Matrix()
    for pattern in patterns:
        matrix.add((_simple(pattern),))
    return [_text(row[0], 0) for row in _left_out(registry, matrix, 1)[:_SHOWN]]


def unreachable(registry: Registry, patterns: Sequence[term.Pattern]) -> list[int]:
    """The places of patterns that fit nothing the earlier ones leave."""
    matrix = _Matrix()
    found: list[int] = []
    for place, item in enumerate(patterns):
        row: Row = (_simple(item),)
        if _useful(registry, matrix, row):
            matrix.add(row)
        else:
            found.append(place)
    return found


def _simple(item: term.Pattern) -> term.Pattern | None:
    if isinstance(item, term.Bind | term.Ignore):
        return None
    return item


Head = tuple[str, object, int]
"""What a pattern looks at first: its sort, the constructor or literal, and how many parts it has."""


def _head(item: term.Pattern) -> Head:
    if isinstance(item, term.MatchConstructor):
        return "constructor", item.constructor, len(item.arguments)
    if isinstance(item, term.MatchTuple):
        return "tuple", None, len(item.items)
    assert isinstance(item, term.MatchLiteral)
    return "literal", item.value, 0


def _parts(item: term.Pattern) -> Row:
    if isinstance(item, term.MatchConstructor):
        return tuple([_simple(a) for a in item.arguments])
    if isinstance(item, term.MatchTuple):
        return tuple([_simple(a) for a in item.items])
    return ()


class _Matrix:
    """Rows of one width. Those behind a head, and those behind none, are matrices of their own, made when asked for."""

    def __init__(self) -> None:
        self.empty = True
        self.by_head: dict[Head, list[Row]] = {}
        self._open: list[Row] = []
        self._inner: dict[Head | None, _Matrix] = {}
        self._taken: dict[Head | None, tuple[int, int]] = {}

    def add(self, row: Row) -> None:
        self.empty = False
        if not row:
            return
        if row[0] is None:
            self._open.append(row)
        else:
            self.by_head.setdefault(_head(row[0]), []).append(row)

    def behind(self, head: Head | None) -> _Matrix:
        """What is left of the rows that fit values with this head, its parts in front; for None, with any other."""
        inner = self._inner.setdefault(head, _Matrix())
        named, opened = self._taken.get(head, (0, 0))
        rows = self.by_head.get(head, []) if head is not None else []
        for row in rows[named:]:
            assert row[0] is not None
            inner.add((*_parts(row[0]), *row[1:]))
        parts = (None,) * (head[2] if head is not None else 0)
        for row in self._open[opened:]:
            inner.add((*parts, *row[1:]))
        self._taken[head] = len(rows), len(self._open)
        return inner


def _heads(registry: Registry, matrix: _Matrix) -> tuple[list[Head], bool]:
    """The heads of the first column, and all heads of its type if they are finitely many."""
    seen = list(matrix.by_head)
    if not seen or seen[0][0] == "literal":
        return seen, False
    if seen[0][0] == "tuple":
        return seen, True
    owner = registry.constructors[str(seen[0][1])].type_name
    every: list[Head] = [
        ("constructor", c.symbol, c.arity) for c in registry.variants[owner].constructors
    ]
    return every, len(seen) == len(every)


def _useful(registry: Registry, matrix: _Matrix, row: Row) -> bool:
    if not row:
        return matrix.empty
    first, *rest = row
    if first is not None:
        return _useful(registry, matrix.behind(_head(first)), (*_parts(first), *rest))
    heads, complete = _heads(registry, matrix)
    if complete:
        return any(
            _useful(registry, matrix.behind(head), (*([None] * head[2]), *rest)) for head in heads
        )
    return _useful(registry, matrix.behind(None), tuple(rest))


def _left_out(registry: Registry, matrix: _Matrix, width: int) -> list[Row]:
    """Rows of patterns for what the rows of a matrix leave out; at most a few."""
    if width == 0:
        return [()] if matrix.empty else []
    heads, complete = _heads(registry, matrix)
    found: list[Row] = []
    if complete:
        for head in heads:
            for row in _left_out(registry, matrix.behind(head), head[2] + width - 1):
                found.append((_build(head, row[: head[2]]), *row[head[2] :]))
                if len(found) >= _SHOWN:
                    return found
        return found
    absent = [head for head in heads if head not in matrix.by_head]
    for row in _left_out(registry, matrix.behind(None), width - 1):
        if absent:
            found.extend((_build(h, (None,) * h[2]), *row) for h in absent)
        else:
            found.append((None, *row))
        if len(found) >= _SHOWN:
            break
    return found


def _build(head: Head, parts: Row) -> term.Pattern:
    items = tuple([p if p is not None else _ANY for p in parts])
    if head[0] == "constructor":
        return term.MatchConstructor(str(head[1]), items)
    if head[0] == "tuple":
        return term.MatchTuple(items)
    value = head[1]
    assert isinstance(value, int | str)
    return term.MatchLiteral(value)


def _text(item: term.Pattern | None, tightness: int) -> str:
    if item is None or isinstance(item, term.Bind | term.Ignore):
        return "_"
    if isinstance(item, term.MatchLiteral):
        return f'"{item.value}"' if isinstance(item.value, str) else str(item.value)
    if isinstance(item, term.MatchTuple):
        return f"({', '.join(_text(_simple(i), 0) for i in item.items)})"
    name = item.constructor.rpartition(".")[2]
    text = " ".join([name, *[_text(_simple(a), 1) for a in item.arguments]])
    return f"({text})" if tightness and item.arguments else text


_ANY = term.Ignore(Named("Int"))
