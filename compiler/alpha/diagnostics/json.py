"""Diagnostics as JSON lines: one object a diagnostic, keys in a fixed order, places from 1 in characters."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TypedDict

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.diagnostics.render import ordered


class Place(TypedDict):
    """`end_line`, `end_column` is the place behind the last character."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


def place(span: Span) -> Place:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(max(span.start, span.end))
    return Place(
        file=span.source.path, line=line, column=column, end_line=end_line, end_column=end_column
    )


def as_object(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "place": None if diagnostic.span is None else place(diagnostic.span),
        "labels": [{"place": place(label.span), "text": label.text} for label in diagnostic.labels],
        "cause": diagnostic.cause,
        "hints": list(diagnostic.hints),
        "fixes": [
            {
                "title": fix.title,
                "place": place(fix.span),
                "replacement": fix.replacement,
                "safe": fix.safe,
            }
            for fix in diagnostic.fixes
        ],
        "explain": f"alpha explain {diagnostic.code}",
    }


def json_lines(diagnostics: Iterable[Diagnostic]) -> str:
    """All of them, errors first; nothing is left out."""
    return "".join(json.dumps(as_object(item)) + "\n" for item in ordered(diagnostics))
