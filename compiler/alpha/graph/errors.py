"""Faults of the graph level: wrong operands, and what has no gradient (E0610 to E0613)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic


class OperationError(Exception):
    """An operation was given operands or attributes that its type rule refuses.

    `code` is the diagnostic's code and `message` one sentence in the user's words. The caller knows the place in the
    source better than the graph does, so `diagnostic` takes it; `span` is the graph's own knowledge, if it has any.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        cause: str = "",
        hints: tuple[str, ...] = (),
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.span = span
        self.cause = cause
        self.hints = hints

    def diagnostic(self, span: Span | None = None) -> Diagnostic:
        """This fault as a diagnostic, at `span` unless the graph knows the place itself."""
        return Diagnostic(
            self.code, self.message, self.span or span, cause=self.cause, hints=self.hints
        )


class GraphFault(Exception):
    """The verifier found a graph that breaks the law of its level: a bug in Alpha, never the user's."""


def loss_not_scalar(type_: TensorType, span: Span | None) -> OperationError:
    return OperationError(
        "E0610",
        f"the function to differentiate gives `{type_.written}`, but only a scalar f32 has a gradient",
        span=span,
        cause="the adjoint of the result is 1, so the result is one number",
        hints=("reduce it to one number with `mean` or `sum`",),
    )


def not_differentiable(
    operation: str, operands: Sequence[TensorType], span: Span | None, *, interval: bool = False
) -> OperationError:
    of = ", ".join(f"`{type_.written}`" for type_ in operands)
    return OperationError(
        "E0611",
        f"`{operation}` of {of} stands between a parameter and the loss and has no gradient",
        span=span,
        cause="what a tensor core gives is known within bounds only, and so would be its gradient"
        if interval
        else "its result does not change smoothly with its operand",
        hints=("put it under `stopGradient` if no gradient should flow through it",),
    )


def parameter_unreached(name: str, span: Span | None) -> OperationError:
    return OperationError(
        "E0612",
        f"the loss does not depend on {name}, so it would never train",
        span=span,
        cause="no differentiable path leads from the parameter to the loss",
        hints=("use the parameter in the loss", "remove the parameter"),
    )


def integer_parameter(name: str, type_: TensorType, span: Span | None) -> OperationError:
    return OperationError(
        "E0613",
        f"{name} has type `{type_.written}`, and a gradient exists only for float tensors",
        span=span,
        cause="integers have no derivative",
        hints=("`cast f32` it before it becomes a parameter",),
    )
