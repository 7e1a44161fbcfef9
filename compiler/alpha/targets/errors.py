"""What is refused of a target: unknown, known and not emittable, without a package, or of the wrong kind."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.span import Span
from alpha.diagnostics.closest import did_you_mean
from alpha.diagnostics.diagnostic import Diagnostic

_NO_FALLBACK = "Alpha never falls back to another target, lane or the CPU"


def cannot_emit(name: str, missing: str) -> Diagnostic:
    return Diagnostic(
        code="T0401",
        message=f"`{name}` is known, and Alpha cannot emit for it yet: {missing}",
        cause=_NO_FALLBACK,
    )


def needs_direct(name: str) -> Diagnostic:
    return Diagnostic(
        code="T0401",
        message=f"`{name}` has no scheduled lane yet",
        cause=_NO_FALLBACK,
        hints=("add `--direct`: the direct lane gives the same bits",),
    )


def unknown(
    name: str,
    known: Iterable[str],
    hosts: Iterable[str],
    cards: Iterable[str],
    meant: str = "",
) -> Diagnostic:
    """`meant` is what the name stands for elsewhere, where that is known."""
    guess = f"did you mean `{meant}`?" if meant else did_you_mean(name, known)
    can = f"{_emits(hosts)}, and of a pairing with a card for {_listed(cards)}"
    return Diagnostic(
        code="T0402",
        message=f"there is no target `{name}`",
        cause=(
            "a host is named by its processor and system, such as `x86_64-linux`, "
            "a card by its architecture, such as `sm_86`"
        ),
        hints=(guess, can) if guess else (can,),
    )


def no_package(name: str) -> Diagnostic:
    return Diagnostic(
        code="T0403",
        message=f"`{name}` has no target package",
        cause="the architecture may have profiles, and nothing in Alpha can emit code for it",
        hints=("pair the system with a device of another architecture",),
    )


def no_output_kind(kind: str, target: str, kinds: Iterable[str]) -> Diagnostic:
    return Diagnostic(
        code="T0405",
        message=f"`{target}` has no output of kind `{kind}`",
        cause=f"it can give {', '.join(kinds)}",
    )


def no_derived_host(name: str, kinds: Iterable[str], span: Span | None) -> Diagnostic:
    emits = " or ".join(f"`--emit {kind}`" for kind in kinds)
    return Diagnostic(
        code="T0404",
        message=f"`{name}` has no lowering for the program that drives the card, so there is no executable",
        span=span,
        cause=f"the pairing is admitted, and no host is derived in this version; {_NO_FALLBACK}",
        hints=(f"{emits} writes the code of the kernels, and the plan by which they are launched",),
    )


def needs_pairing(name: str) -> Diagnostic:
    return Diagnostic(
        code="T0405",
        message=f"`{name}` is a target of cards, and the system has no pairing with one",
        cause="a card is named by a pairing, which says what drives it; a card has no default pairing",
        hints=("add a module with a `pairing` to the system's `Build` folder",),
    )


def contradicts(target: str, pairing: str, own: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        code="T0405",
        message=f"`--target {target}` contradicts `{pairing}`, which is for `{own}`",
        span=span,
        cause="a pairing names its device, and the device its target",
        hints=("leave `--target` out", "name the system instead of the pairing"),
    )


def cannot_run(machine: str, emitted: Iterable[str]) -> Diagnostic:
    return Diagnostic(
        code="T0405",
        message=f"this machine is `{machine}`, and no target of Alpha makes programs that it runs",
        cause=f"tests are compiled and run where the command is given; {_emits(emitted)}",
        hints=("run the command on such a machine", "`alpha check` and `alpha prove` run anywhere"),
    )


def _emits(targets: Iterable[str]) -> str:
    return f"Alpha emits for {_listed(targets)}"


def _listed(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
