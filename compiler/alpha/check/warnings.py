"""Warnings about names: never used (W0002), a key never used (W0003), exported without a signature (W0004)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from alpha.base.span import Span
from alpha.check import errors_names
from alpha.check.definitions import Signed
from alpha.check.module_scope import Work
from alpha.core.type_text import type_text
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.syntax import tree


def warn(work: Work, signatures: dict[str, Signed]) -> None:
    """Warnings are for programs without errors: what is at fault may look unused."""
    if work.loaded.shipped:
        return
    errors = work.diagnostics.errors
    source = work.loaded.source
    if any(error.span is not None and error.span.source is source for error in errors):
        work.diagnostics.withdraw(source, "W0001")
        return
    for warning in _warnings(work, signatures):
        if errors:
            work.diagnostics.unsaid += 1
        else:
            work.report(warning)


def _warnings(work: Work, signatures: dict[str, Signed]) -> Iterator[Diagnostic]:
    for span in dict.fromkeys(work.scope.unused_keys):
        yield errors_names.unused_key(span)
    exported = work.scope.exported
    for item in work.loaded.tree.items:
        if not isinstance(
            item, tree.Define | tree.SourceDecl | tree.OptimizerDecl | tree.LearnerDecl
        ):
            continue
        name = item.name.text
        if exported is not None and name not in exported:
            if work.symbol(name) not in work.scope.used:
                written = _whole(work.loaded.tree.items, item)
                yield errors_names.unused(item.name.span, name, written)
        elif isinstance(item, tree.Define) and name not in signatures:
            scheme = work.scope.values[name].scheme
            if scheme is not None:
                text = type_text(scheme.type)
                sure = _in_scope(work, type_text(scheme.type, qualified=True))
                yield errors_names.no_signature(item.name.span, name, text, sure)


def _in_scope(work: Work, type_: str) -> bool:
    """Whether the last part of each qualified name in a type means that name in this module."""
    names = re.findall(r"[A-Z][\w']*(?:\.[A-Z][\w']*)+", type_)
    return all(
        getattr(work.scope.type(name.rpartition(".")[2]), "symbol", None) == name for name in names
    )


def _whole(items: Sequence[tree.Import | tree.Decl], item: tree.Decl) -> Span:
    """The lines of a declaration, with the signature directly above it."""
    first: tree.Decl = item
    above = items[items.index(item) - 1] if items.index(item) else None
    if isinstance(above, tree.Signature) and above.name.text == item.name.text:
        first = above
    text = item.span.source.text
    start = text.rfind("\n", 0, first.name.span.start) + 1
    end = text.find("\n", item.span.end) + 1 or len(text)
    return Span(item.span.source, start, end)
