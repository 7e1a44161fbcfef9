"""E0011, which every phase may give: the language has the construct, and this version of Alpha does not build it."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic


def not_yet(what: str, span: Span | None) -> Diagnostic:
    """`what` is the construct in the user's words, as the subject of a sentence: `a signature inside a learner`."""
    return Diagnostic(
        "E0011",
        f"{what} is part of the language, but not of this version yet",
        span,
        cause="Alpha refuses what it cannot build, and does nothing else in its place",
    )
