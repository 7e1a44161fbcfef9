"""Faults of the file that a policy starts from (E0904, E0906)."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.span import Span
from alpha.diagnostics.closest import did_you_mean
from alpha.diagnostics.diagnostic import Diagnostic

_SHOWN = 8


def corrupt(path: str, why: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0904",
        f"`{path}` cannot be read: {why}",
        span,
        cause="weights are read from a safetensors file",
    )


def missing(path: str, parameter: str, held: Iterable[str], span: Span) -> Diagnostic:
    return Diagnostic(
        "E0906",
        f"`{path}` has no tensor for the parameter `{parameter}`",
        span,
        cause=_listed(held),
        hints=(f'`rename = [("its name in the file", "{parameter}")]` says which tensor is meant',),
    )


def unknown(path: str, name: str, parameter: str, known: Iterable[str], span: Span) -> Diagnostic:
    names = sorted(known)
    guess = did_you_mean(parameter, names)
    return Diagnostic(
        "E0906",
        f"`{path}` has a tensor `{name}`, but the model has no parameter `{parameter}`",
        span,
        cause="the tensors of the file are the parameters of the model, each once and no other",
        hints=(guess,) if guess else (),
    )


def differs(
    path: str, name: str, found: str, parameter: str, expected: str, span: Span
) -> Diagnostic:
    return Diagnostic(
        "E0906",
        f"the tensor `{name}` of `{path}` is `{found}`, but the parameter `{parameter}` is `{expected}`",
        span,
        cause="shapes and dtypes agree exactly; nothing is converted",
    )


def renamed_unknown(path: str, name: str, held: Iterable[str], span: Span) -> Diagnostic:
    names = list(held)
    guess = did_you_mean(name, names)
    return Diagnostic(
        "E0906",
        f"`rename` names a tensor `{name}` that `{path}` does not have",
        span,
        cause=_listed(names),
        hints=(guess,) if guess else (),
    )


def renamed_twice(name: str, span: Span) -> Diagnostic:
    return Diagnostic("E0906", f"`rename` names the tensor `{name}` twice", span)


def named_twice(path: str, parameter: str, first: str, second: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0906",
        f"both `{first}` and `{second}` of `{path}` would be the parameter `{parameter}`",
        span,
    )


def _listed(held: Iterable[str]) -> str:
    names = list(held)
    shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"its tensors are {shown}{more}" if names else "it has no tensors"
