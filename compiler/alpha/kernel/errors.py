"""Faults of the kernel level."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic


class KernelFault(Exception):
    """The verifier found a kernel that breaks the law of its level: a bug in Alpha, never the user's."""


def no_template(operation: str, lane: str, interval: bool, span: Span | None) -> Diagnostic:
    """`interval` says that the operation is one of tensor cores, whose results are intervals."""
    if interval:
        return Diagnostic(
            code="T0404",
            message=f"`{operation}` is an operation of tensor cores, without a lowering in the {lane} lane",
            span=span,
            cause=f"its result is defined within bounds only; the {lane} lane gives bits or nothing",
            hints=("`a @ b` is the contraction with exact bits, and every target has it",),
        )
    return Diagnostic(
        code="T0404",
        message=f"`{operation}` has no lowering in the {lane} lane",
        span=span,
        cause="a target that cannot give an operation its defined bits refuses it",
    )
