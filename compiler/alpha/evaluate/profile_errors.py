"""Faults of the facts of a profile that their values show (E0706, E0708)."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.evaluate.errors import unit_name

_FITTING = {
    "manual": "Architectural",
    "header": "Architectural",
    "run": "Measured",
    "model": "Modelled",
}


def grade_differs(name: str, grade: str, source: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0708",
        f"`{name}` claims to be {grade}, but cites a `{source}`",
        span,
        cause="`Architectural` cites a manual or a header, `Measured` a run, `Modelled` a model",
        hints=(f"write `from {_FITTING[source]}`",),
    )


def unit_differs(name: str, found: Amount, wanted: Amount, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0706",
        f"`{name}` is an amount of {unit_name(wanted)}, but this is one of {unit_name(found)}",
        span,
        cause="every fact has its unit",
    )


def not_whole(name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0706",
        f"the amount of `{name}` is negative or not whole",
        span,
        cause="facts are whole numbers of bytes, nanoseconds, hertz, flops or their quotients per second",
    )
