"""Which modules a build needs, and which policy and profile they pair (specification, section 21).

A name is a pairing's module, or a system: a folder of modules with a module `Run`. For a system, the pairing in its
`Build/` folder whose device has the target is taken; if there is none, the default pairing: the system's policy with
the generic profile of the target.
"""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.device import DeviceTarget, Target
from alpha.base.record import record
from alpha.check.modules import SourceRoots
from alpha.core import term as core
from alpha.diagnostics.diagnostic import Refused
from alpha.driver import errors
from alpha.driver.errors import UsageError
from alpha.driver.packages import is_dotted_name, unknown
from alpha.driver.request import Request
from alpha.evaluate.evaluator import Evaluator, Pairing
from alpha.targets import HOSTS
from alpha.targets.errors import contradicts, needs_pairing
from alpha.targets.names import DEFAULT


@record
class Selection:
    """The modules to load. `system` is "" where the name is a pairing's module, `pairings` then that module alone."""

    name: str
    system: str
    modules: tuple[str, ...]
    pairings: tuple[str, ...]
    target: str


@record
class Choice:
    """What is built: a policy for a profile. `pairing` is None for the default pairing, which admits by demands alone.

    `output` is the executable's file name, `artifact` that of the artifact module, `condition` the pairing's `admit`.
    """

    policy: str
    profile: str
    output: str
    artifact: str
    pairing: Pairing | None = None

    @property
    def condition(self) -> bool:
        return self.pairing is None or self.pairing.admit


def select(roots: SourceRoots, request: Request) -> Selection:
    """The modules that the request names. Refused with E0102 if there are none of that name."""
    name = request.name
    target = DEFAULT if request.target is None else request.target
    known = roots.modules()
    if f"{name}.Run" in known and is_dotted_name(name):
        build = tuple(module for module in known if module.startswith(f"{name}.Build."))
        if request.policy is not None:
            build = ()
        generic = [host.profile.rpartition(".")[0] for host in HOSTS if host.name == target]
        return Selection(name, name, (f"{name}.Run", *build, *generic), build, target)
    if name in known:
        if request.policy is not None:
            raise UsageError(
                "`--policy` chooses among the policies of a system; a pairing names its own"
            )
        return Selection(name, "", (name,), (name,), target)
    raise Refused(unknown(roots, name, known))


def choose(
    program: core.Program, evaluator: Evaluator, selection: Selection, request: Request
) -> tuple[str, core.Pairing | None]:
    """The target of the request, and the pairing that fits it; None for the default pairing."""
    found = []
    for pairing in _pairings(program, selection):
        own = evaluator.target(pairing.symbol)
        if not selection.system and request.target not in (None, own):
            raise Refused(contradicts(str(request.target), pairing.symbol, own, pairing.span))
        if not selection.system or own == selection.target:
            found.append((own, pairing))
    if len(found) > 1:
        names = " and ".join(f"`{pairing.symbol}`" for _, pairing in found)
        raise UsageError(f"{names} are both for `{selection.target}`; name one of them")
    if found:
        return found[0]
    if not selection.system:
        raise Refused(errors.not_a_pairing(selection.name))
    return selection.target, None


def paired(
    program: core.Program,
    evaluator: Evaluator,
    selection: Selection,
    request: Request,
    pairing: core.Pairing | None,
    host: Target,
) -> Choice:
    """The pairing as it is declared, its condition evaluated; or the default pairing of `host`, if it is one."""
    if pairing is not None:
        known = evaluator.pairing(pairing.symbol)
        return Choice(known.system, known.device, known.output, known.artifact, known)
    if isinstance(host, DeviceTarget):
        raise Refused(needs_pairing(host.name))
    policy = policy_of(program, selection, request)
    output = selection.system.rpartition(".")[2].lower() + host.suffix
    artifact = "".join(part.capitalize() for part in output.split("-")) + "Artifact.alpha"
    return Choice(policy, host.profile, output, artifact)


def policy_of(program: core.Program, selection: Selection, request: Request) -> str:
    """The policy of a system: the one asked for, the only one of its module `Run`, or `baseline`."""
    system, name = selection.system, request.policy
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


def _pairings(program: core.Program, selection: Selection) -> Iterator[core.Pairing]:
    for module in program.modules:
        if module.name in selection.pairings:
            yield from module.pairings
