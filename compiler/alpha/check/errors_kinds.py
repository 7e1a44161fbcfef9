"""Faults of types as written: arguments of the wrong number or kind (E0309)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.core.types import Kind
from alpha.diagnostics.diagnostic import Diagnostic, Label

Labels = tuple[Label, ...]


def takes_no_arguments(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`{name}` takes no type arguments",
        span,
        cause="it is a complete type, or a variable for one",
    )


def argument_count(
    span: Span, name: str, kinds: Sequence[tuple[str, Kind]], given: int
) -> Diagnostic:
    usage = _usage(name, kinds)
    return Diagnostic(
        "E0309",
        f"`{name}` takes {_type_arguments(len(kinds))}, but {given} {'is' if given == 1 else 'are'} given",
        span,
        cause="a type is written with all its arguments",
        hints=(f"write `{usage}`",),
    )


def wrong_kind(span: Span, wanted: str, found: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"{wanted} is expected here, not {found}",
        span,
        cause="each place of a type takes one kind of argument",
    )


def two_kinds(span: Span, name: str, first: str, second: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`{name}` is {first} elsewhere and {second} here",
        span,
        cause="a name in a type stands for one kind of thing",
        hints=("use two names",),
    )


def record_type_here(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0309",
        "a record type can only be written in a `type` declaration",
        span,
        cause="records are nominal: each has a name",
        hints=("declare `type Name = { ... }` and use `Name` here",),
    )


def index_without_size(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0309",
        "`index` needs its size",
        span,
        cause="an index is below a known size",
        hints=("write `index n`",),
    )


def spread_not_first(span: Span, name: str) -> Diagnostic:
    return Diagnostic(
        "E0309",
        f"`...{name}` may only stand first",
        span,
        cause="shapes are matched from the right; the rest goes to the axes variable",
    )


def _usage(name: str, kinds: Sequence[tuple[str, Kind]]) -> str:
    types = [n if k is not Kind.SHAPE else f"[{n}]" for n, k in kinds if k is not Kind.DIM]
    dims = [n for n, k in kinds if k is Kind.DIM]
    if name in ("index", "Stack"):
        return " ".join([name, *[n for n, _ in kinds]])
    return " ".join([name, *types, *([f"[{', '.join(dims)}]"] if dims else [])])


def _type_arguments(count: int) -> str:
    return "no arguments" if count == 0 else "one argument" if count == 1 else f"{count} arguments"
