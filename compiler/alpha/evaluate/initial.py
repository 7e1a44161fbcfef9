"""The initial values of parameters and slots as nodes (specification, sections 13 and 15)."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.evaluate import system_errors
from alpha.evaluate.models import Parameter
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import Initialiser, Scalar
from alpha.graph.node import Node
from alpha.graph.philox import initialiser_key
from alpha.graph.scalar import evaluate

_CONSTANTS = {"zeros": 0.0, "ones": 1.0}


def initial_parameter(
    staging: Staging, parameter: Parameter, initialiser: Initialiser, seed: int
) -> Node:
    """The value of a parameter before step 1. A draw uses the key of the parameter's path."""
    span, shape = parameter.span, parameter.type.shape
    if parameter.type.dtype is not Dtype.F32:
        raise Refused(not_yet(f"a parameter of dtype {parameter.type.dtype.value}", span))
    match initialiser.kind:
        case "zeros" | "ones" | "filled":
            value = _CONSTANTS.get(initialiser.kind, initialiser.scale)
            return everywhere(staging, value, shape, span)
        case "normal" | "he":
            scale = initialiser.scale
            if initialiser.kind == "he":
                scale = _root(2, _fans(parameter)[0])
            drawn = _draw(staging, "normal", parameter, seed)
            return staging.apply("mul", (everywhere(staging, scale, shape, span), drawn), span)
        case _:
            scale = initialiser.scale
            if initialiser.kind == "glorot":
                scale = _root(6, sum(_fans(parameter)))
            drawn = _draw(staging, "uniform", parameter, seed)
            doubled = staging.apply("add", (drawn, drawn), span)
            one = everywhere(staging, 1.0, shape, span)
            centred = staging.apply("sub", (doubled, one), span)
            return staging.apply("mul", (centred, everywhere(staging, scale, shape, span)), span)


def everywhere(staging: Staging, value: float, shape: tuple[int, ...], span: Span) -> Node:
    """One f32 number in every place of a shape."""
    return staging.broadcast(staging.constant(Scalar(Dtype.F32, value), span), shape, span)


def _draw(staging: Staging, operation: str, parameter: Parameter, seed: int) -> Node:
    k0, k1, step = initialiser_key(seed, parameter.path)
    key = staging.apply("key", (), parameter.span, k0=k0, k1=k1, step=step)
    return staging.apply(operation, (key,), parameter.span, shape=parameter.type.shape)


def _fans(parameter: Parameter) -> tuple[int, int]:
    """fanIn and fanOut: the last axis is out, the one before in, earlier ones multiply both."""
    if len(parameter.axes) < 2:
        raise Refused(system_errors.initialiser_axes(parameter.path, parameter.span))
    *earlier, inner, outer = parameter.axes
    for size in earlier:
        inner, outer = inner * size, outer * size
    return inner, outer


def _root(numerator: int, denominator: int) -> float:
    """sqrt (numerator / denominator), each operation rounded to f32."""
    by = evaluate("cast", (denominator,), {"dtype": "f32"}, Dtype.I64)
    quotient = evaluate("div", (float(numerator), float(by)), {}, Dtype.F32)
    return float(evaluate("sqrt", (quotient,), {}, Dtype.F32))
