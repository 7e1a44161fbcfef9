"""Faults of policies and learners: entries, initialisers, metrics (E0421, E0503, E0402, E0710)."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.span import Span
from alpha.base.whole import readable
from alpha.diagnostics.closest import guesses
from alpha.diagnostics.diagnostic import Diagnostic


def initialiser_axes(path: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0421",
        f"parameter `{path}` has fewer than two axes, so `glorot` and `he` do not fit",
        span,
        cause="their scale is computed from the sizes of an input and an output axis",
        hints=("use `zeros`, `ones`, `normal` or `uniform`",),
    )


def entry_missing(policy: str, name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"policy `{policy}` has no entry `{name}`",
        span,
        cause="this entry has no default",
    )


def entry_unknown(name: str, known: Iterable[str], span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"a policy has no entry `{name}`",
        span,
        cause="the entries of a policy are fixed",
        hints=guesses(name, known),
    )


def metric_unknown(name: str, known: Iterable[str], span: Span) -> Diagnostic:
    names = sorted(known)
    return Diagnostic(
        "E0710",
        f"the learner has no metric `{name}`",
        span,
        cause="the names are " + ", ".join(f"`{other}`" for other in names),
        hints=guesses(name, names),
    )


def number_below_one(entry: str, value: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0503",
        f"`{entry}` is {readable(value)}",
        span,
        cause="it counts something that happens at least once",
    )


def no_folder_name(folder: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"`checkpoint.folder` {'holds a control character' if folder else 'is empty'}",
        span,
        cause="it names the folder that a run writes checkpoints to",
        hints=('a path like `"runs/mine"` is relative to the folder a run starts in',),
    )


def folder_outside(folder: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"`checkpoint.folder` is `{folder}`, which leaves the folder a run starts in",
        span,
        cause="a policy names no place on one machine, so the path is relative and without `..`",
        hints=("a run may write elsewhere: start it with `--checkpoint DIR`",),
    )


def seed_outside(value: int, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0402",
        f"`seed` is {readable(value)}",
        span,
        cause="a seed is at least 0 and below 2^64",
    )


def rate_not_scalar(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0301", "`rate` must give a scalar f32", span, cause="it is the learning rate"
    )


def device_is_no_profile(pairing: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the device of the pairing `{pairing}` is no declared profile",
        span,
        cause="a copy of a profile with other facts states what nobody established, so no build is admitted on it",
        hints=("declare a `profile` with the evidence of its facts, and name it here",),
    )


def needs_host(pairing: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the pairing `{pairing}` pairs a policy with a device that runs no program by itself",
        span,
        cause="a card is driven by a host: its profile has no `target` identity, which a host processor has",
        hints=("declare a `host` with this policy, and name it here",),
    )


def needs_policy(pairing: str, target: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0710",
        f"the pairing `{pairing}` pairs a host with `{target}`, which is a host processor",
        span,
        cause="a host drives a card; on a host processor the policy runs by itself",
        hints=("name the policy here",),
    )
