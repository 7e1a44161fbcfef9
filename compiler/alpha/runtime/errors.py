"""Refusals of systems the runtime cannot run yet."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic


def not_in_this_version(what: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        code="E0011",
        message=f"{what} is known to the language, but not in this version yet",
        span=span,
        cause="The runtime of built executables has no code for it.",
    )
