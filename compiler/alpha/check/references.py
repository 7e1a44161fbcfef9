"""The value names that a tree mentions, found without recursion."""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.record import fields
from alpha.base.span import Span
from alpha.syntax import tree

_PARTS: dict[type, tuple[str, ...]] = {}
_NO_NODES = frozenset({"str", "int", "int | None", "bool", "Fraction", "Span", "tuple[str, ...]"})
"""The types of fields that hold no nodes."""


def parts(kind: type) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold nodes."""
    found = _PARTS.get(kind)
    if found is None:
        found = tuple(f.name for f in fields(kind) if str(f.type) not in _NO_NODES)
        _PARTS[kind] = found
    return found


def nodes(root: tree.Node) -> Iterator[tree.Node]:
    """Every node of a tree, in no particular order."""
    pending: list[object] = [root]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is tuple:
            pending.extend(item)  # type: ignore[arg-type]
        elif isinstance(item, tree.Node):
            yield item
            for name in parts(kind):
                value = getattr(item, name)
                if value:
                    pending.append(value)


def mentioned(root: tree.Node) -> dict[str, Span]:
    """Value names that stand as expressions, with one place of each."""
    found: dict[str, Span] = {}
    for node in nodes(root):
        kind = type(node)
        if kind is tree.Var:
            found.setdefault(node.name, node.span)  # type: ignore[attr-defined]
        elif isinstance(node, tree.RecordExpr) and node.base is not None:
            found.setdefault(node.base.text, node.base.span)
        elif isinstance(node, tree.Access):
            found.setdefault(node.path[0].text, node.path[0].span)
    return found


def surely_mentioned(root: tree.Node) -> dict[str, Span]:
    """As `mentioned`, without the names that a pattern or a `let` inside the tree gives a meaning of its own."""
    own: set[str] = set()
    for node in nodes(root):
        if isinstance(node, tree.PVar):
            own.add(node.name)
        elif isinstance(node, tree.PAnnotated | tree.LetFn):
            own.add(node.name.text)
    return {name: span for name, span in mentioned(root).items() if name not in own}


def type_names(root: tree.Node) -> dict[str, Span]:
    """Names of types without a module in front, with one place of each."""
    found: dict[str, Span] = {}
    for node in nodes(root):
        if isinstance(node, tree.TCon) and len(node.path) == 1:
            found.setdefault(node.path[0].text, node.span)
    return found
