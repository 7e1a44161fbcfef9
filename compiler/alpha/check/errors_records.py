"""Faults of records: fields that are missing, unknown, or of no known type."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.diagnostics.closest import guesses
from alpha.diagnostics.diagnostic import Diagnostic, Label

Labels = tuple[Label, ...]


def no_record(
    span: Span, fields: Sequence[str], nearest: str, missing: Sequence[str], extra: Sequence[str]
) -> Diagnostic:
    parts = []
    if missing:
        parts.append(f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if extra:
        parts.append(f"it has no {_listed(extra)}")
    cause = (
        f"the nearest is `{nearest}`: {', and '.join(parts)}"
        if nearest and parts
        else "no record type fits"
    )
    return Diagnostic(
        "E0305",
        f"no record in scope has exactly the {'field' if len(fields) == 1 else 'fields'} {_listed(fields)}",
        span,
        cause=cause,
    )


def record_fields(
    span: Span,
    name: str,
    missing: Sequence[str],
    extra: Sequence[str],
    known: Sequence[str],
    labels: Labels = (),
) -> Diagnostic:
    parts = []
    if missing:
        parts.append(f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing")
    if extra:
        parts.append(f"it has no field {_listed(extra)}")
    hints = tuple(hint for e in extra for hint in guesses(e, known))[:3]
    return Diagnostic(
        "E0305",
        f"this record is not a `{name}`: {', and '.join(parts)}",
        span,
        labels,
        f"a `{name}` has exactly the fields {_listed(list(known))}",
        hints,
    )


def several_records(span: Span, names: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "E0305",
        f"several records have exactly these fields: {_listed(names)}",
        span,
        cause="nothing here says which one is meant",
        hints=("write a signature, or a type behind the `let`",),
    )


def field_twice(span: Span, name: str, first: Span) -> Diagnostic:
    return Diagnostic(
        "E0305",
        f"the field `{name}` is given twice",
        span,
        (Label(first, "first given here"),),
        "a record has one value for each field",
    )


def no_field(span: Span, name: str, owner: str, known: Sequence[str]) -> Diagnostic:
    shown = _listed(sorted(known)[:12]) if known else ""
    return Diagnostic(
        "E0305",
        f"`{owner}` has no `{name}`",
        span,
        cause=f"it has {shown}" if shown else "it has no fields at all",
        hints=guesses(name, known),
    )


def tensor_field(span: Span, name: str, owner: str, hint: str) -> Diagnostic:
    """`hint` says what to write instead, if that is known."""
    return Diagnostic(
        "E0305",
        f"`{owner}` has no `{name}`",
        span,
        cause="a tensor has no fields",
        hints=(hint,) if hint else (),
    )


def unknown_record(span: Span, name: str, records: Sequence[str]) -> Diagnostic:
    having = (
        f"records with a field `{name}`: {_listed(records)}"
        if records
        else f"no record in scope has `{name}`"
    )
    return Diagnostic(
        "E0306",
        f"it is not known what this is, so `.{name}` cannot be looked up",
        span,
        cause=having,
        hints=("annotate the parameter, as in `fn (x : Type) -> ...`, or write a signature",),
    )


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names]
    return (
        shown[0]
        if len(shown) == 1
        else ", ".join(shown[:-1]) + " and " + shown[-1]
        if shown
        else ""
    )
