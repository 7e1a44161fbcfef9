"""Which values a list of patterns leaves out, and which patterns add nothing.

The usefulness algorithm of Maranget, *Warnings for pattern matching* (JFP 17, 2007): a row of patterns is useful
behind a matrix of rows if some row of values fits it and none of the rows before.
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
    rows = [(_simple(p),) for p in patterns]
    return [_text(row[0], 0) for row in _left_out(registry, rows, 1)[:_SHOWN]]


def unreachable(registry: Registry, patterns: Sequence[term.Pattern]) -> list[int]:
    """The places of patterns that fit nothing the earlier ones leave."""
    rows: list[Row] = []
    found: list[int] = []
    for place, item in enumerate(patterns):
        row: Row = (_simple(item),)
        if _useful(registry, rows, row):
            rows.append(row)
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


def _specialise(rows: Sequence[Row], head: Head) -> list[Row]:
    """The rows that fit values with this head, with the head's parts in front."""
    found: list[Row] = []
    for first, *rest in rows:
        if first is None:
            found.append((*([None] * head[2]), *rest))
        elif _head(first) == head:
            found.append((*_parts(first), *rest))
    return found


def _default(rows: Sequence[Row]) -> list[Row]:
    return [tuple(rest) for first, *rest in rows if first is None]


def _heads(registry: Registry, rows: Sequence[Row]) -> tuple[list[Head], bool]:
    """The heads of the first column, and all heads of its type if they are finitely many."""
    seen: list[Head] = []
    for row in rows:
        if row[0] is not None and _head(row[0]) not in seen:
            seen.append(_head(row[0]))
    if not seen or seen[0][0] == "literal":
        return seen, False
    if seen[0][0] == "tuple":
        return seen, True
    owner = registry.constructors[str(seen[0][1])].type_name
    every: list[Head] = [
        ("constructor", c.symbol, c.arity) for c in registry.variants[owner].constructors
    ]
    return every, len(seen) == len(every)


def _useful(registry: Registry, rows: Sequence[Row], row: Row) -> bool:
    if not row:
        return not rows
    first, *rest = row
    if first is not None:
        head = _head(first)
        return _useful(registry, _specialise(rows, head), (*_parts(first), *rest))
    heads, complete = _heads(registry, rows)
    if complete:
        return any(
            _useful(registry, _specialise(rows, head), (*([None] * head[2]), *rest))
            for head in heads
        )
    return _useful(registry, _default(rows), tuple(rest))


def _left_out(registry: Registry, rows: Sequence[Row], width: int) -> list[Row]:
    """Rows of patterns for what `rows` leave out; at most a few."""
    if width == 0:
        return [] if rows else [()]
    heads, complete = _heads(registry, rows)
    found: list[Row] = []
    if complete:
        for head in heads:
            for row in _left_out(registry, _specialise(rows, head), head[2] + width - 1):
                found.append((_build(head, row[: head[2]]), *row[head[2] :]))
                if len(found) >= _SHOWN:
                    return found
        return found
    seen = [_head(row[0]) for row in rows if row[0] is not None]
    absent = [h for h in heads if h not in seen]
    for row in _left_out(registry, _default(rows), width - 1):
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
