"""Which modules a build needs, and which policy and profile they pair (specification, section 21).

A name is a pairing's module, or a system: a folder of modules with a module `Run`. For a system, the pairing in its
`Build/` folder whose device has the target is taken; if there is none, the default pairing: the system's policy with
the generic profile of the target.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from alpha.check.modules import SourceRoots, find_systems
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Refused
from alpha.driver import errors
from alpha.driver.errors import UsageError
from alpha.driver.request import Request
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.system import Profile
from alpha.targets.errors import contradicts
from alpha.targets.names import DEFAULT

GENERIC = {
    "x86_64-linux": "Platform.Linux.X8664.generic",
    "aarch64-linux": "Platform.Linux.AArch64.generic",
}
"""The profile of the default pairing, by target."""

SUFFIXES = {"aarch64-linux": "-aarch64"}
"""What the output name of a default pairing has behind the system's name."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The modules to load. `system` is "" where the name is a pairing's module, `pairings` then that module alone."""

    name: str
    system: str
    modules: tuple[str, ...]
    pairings: tuple[str, ...]
    target: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What is built: a policy for a profile. `pairing` is None for the default pairing.

    `output` is the executable's file name, `artifact` that of the artifact module.
    """

    policy: str
    profile: str
    target: str
    pairing: core.Pairing | None
    output: str
    artifact: str


def select(roots: SourceRoots, request: Request) -> Selection:
    """The modules that the request names. Refused with E0102 if there are none of that name."""
    name, target = request.name, request.target or DEFAULT
    known = roots.modules()
    if f"{name}.Run" in known and is_dotted_name(name):
        build = tuple(module for module in known if module.startswith(f"{name}.Build."))
        if request.policy is not None:
            build = ()
        generic = [GENERIC[target].rpartition(".")[0]] if target in GENERIC else []
        return Selection(name, name, (f"{name}.Run", *build, *generic), build, target)
    if name in known:
        if request.policy is not None:
            raise UsageError(
                "`--policy` chooses among the policies of a system; a pairing names its own"
            )
        return Selection(name, "", (name,), (name,), target)
    raise Refused(errors.unknown_system(name, find_systems(roots), known))


def choose(
    program: core.Program, evaluator: Evaluator, selection: Selection, request: Request
) -> Choice:
    """The policy and profile of the request; the pairing's own where one fits."""
    found = list(_pairings(program, evaluator, selection, request))
    if len(found) > 1:
        names = " and ".join(f"`{choice.pairing.symbol}`" for choice in found if choice.pairing)
        raise UsageError(f"{names} are both for `{selection.target}`; name one of them")
    if found:
        return found[0]
    if not selection.system:
        raise Refused(errors.not_a_pairing(selection.name, None))
    policy = _policy(program, selection.system, request.policy)
    target = selection.target
    stem = selection.system.rpartition(".")[2]
    output = stem.lower() + SUFFIXES.get(target, "")
    artifact = "".join(part.capitalize() for part in output.split("-")) + "Artifact.alpha"
    return Choice(policy, GENERIC.get(target, ""), target, None, output, artifact)


def is_dotted_name(name: str) -> bool:
    return all(part[:1].isupper() for part in name.split("."))


def _pairings(
    program: core.Program, evaluator: Evaluator, selection: Selection, request: Request
) -> Iterator[Choice]:
    for module in program.modules:
        if module.name not in selection.pairings:
            continue
        for pairing in module.pairings:
            known = evaluator.pairing(pairing.symbol)
            own = target_of(known.profile)
            if selection.system:
                if own != selection.target:
                    continue
            elif request.target not in (None, own):
                assert request.target is not None
                raise Refused(contradicts(request.target, pairing.symbol, own, pairing.span))
            yield Choice(
                known.policy, known.profile.name, own, pairing, known.output, known.artifact
            )


def target_of(profile: Profile) -> str:
    """The `target` identity of a host profile; for a card, the architecture its code is for."""
    for fact in profile.identity:
        if fact.name == "target" and isinstance(fact.amount, str):
            return fact.amount
    for fact in profile.supplies:
        if fact.name == "instruction-set" and isinstance(fact.amount, core.Amount):
            return f"sm_{fact.amount.value}"
    return ""


def _policy(program: core.Program, system: str, name: str | None) -> str:
    run = next(module for module in program.modules if module.name == f"{system}.Run")
    names = [policy.symbol.rpartition(".")[2] for policy in run.policies]
    if name is not None:
        if name not in names:
            raise UsageError(errors.unknown_policy(system, name, names))
        return f"{run.name}.{name}"
    if len(names) == 1:
        return f"{run.name}.{names[0]}"
    if "baseline" in names:
        return f"{run.name}.baseline"
    if not names:
        raise Refused(errors.no_policy(system))
    listed = ", ".join(f"`{policy}`" for policy in names)
    raise UsageError(f"`{system}.Run` has the policies {listed}; choose one with `--policy`")
