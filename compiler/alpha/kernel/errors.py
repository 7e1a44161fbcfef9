"""Faults of the kernel level."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic


class KernelFault(Exception):
    """The verifier found a kernel that breaks the law of its level: a bug in Alpha, never the user's."""


def no_template(operation: str, why: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        code="T0404",
        message=f"`{operation}` has no lowering in the direct lane{': ' + why if why else ''}",
        span=span,
        cause="a target that cannot give an operation its defined bits refuses it",
    )
