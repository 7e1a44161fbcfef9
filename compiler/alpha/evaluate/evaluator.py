"""The evaluator of one checked program: systems, profiles, pairings and proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.core.term import Program
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Refused
from alpha.evaluate import demands as platform
from alpha.evaluate import system_errors
from alpha.evaluate.demands import Demands
from alpha.evaluate.files import FileAccess
from alpha.evaluate.hosts import policy_of, target_of
from alpha.evaluate.intrinsics.table import operations
from alpha.evaluate.learners import Trainer
from alpha.evaluate.machine import Machine
from alpha.evaluate.profiles import profile_of, profile_steps
from alpha.evaluate.program import Index
from alpha.evaluate.proofs import REJECTS, TEST, prove
from alpha.evaluate.rejections import reject
from alpha.evaluate.scope import Scope
from alpha.evaluate.system import Profile, System
from alpha.evaluate.systems import make_system
from alpha.evaluate.terms import VISIT
from alpha.evaluate.values import PolicyValue, Record, Scalar, Value

if TYPE_CHECKING:
    from alpha.evaluate.tests import Trial

NO_BATCHES: Mapping[str, int] = {}

PROBE_BATCH = 2
"""The batch at which `check` evaluates a learner that no policy has sized."""


@record
class Pairing:
    """One pairing, evaluated. `system` is the policy's symbol, `device` the profile's; `admit` is its own condition.

    `target` is what the system's own host is compiled for, or the `target` identity of the profile.
    """

    name: str
    system: str
    target: str
    device: str
    admit: bool
    output: str
    artifact: str
    span: Span = field(compare=False, repr=False)
    """Of its `admit`."""
    device_span: Span = field(compare=False, repr=False)


class Evaluator:
    """Evaluates declarations of `program` on demand, each once.

    `demands` gives the demands of a system built for a host target; it stands in for the levels below. Faults are
    raised as `Refused`; `prove` and `check_module` report them to `diagnostics` instead and go on. `batches` replace
    those of policies wherever they are asked for, also by a pairing's `admit`.
    """

    def __init__(
        self,
        program: Program | Index,
        *,
        files: FileAccess,
        diagnostics: Diagnostics,
        demands: Demands,
        batches: Mapping[str, int] = NO_BATCHES,
    ) -> None:
        self._files = files
        self._diagnostics = diagnostics
        rows = operations(files, platform.rows(self.system, demands))
        self._machine = Machine(Index.of(program), rows, VISIT)
        self._systems: dict[tuple[str, int | None], System] = {}
        self._profiles: dict[str, Profile] = {}
        self._batches = batches

    def system(self, symbol: str, batch: int | None = None) -> System:
        """The system of a policy; `batch` replaces its own."""
        batch = self._batches.get(symbol) if batch is None else batch
        if (symbol, batch) not in self._systems:
            self._systems[symbol, batch] = make_system(self._machine, self._files, symbol, batch)
        return self._systems[symbol, batch]

    def profile(self, symbol: str) -> Profile:
        """A device profile as admission reads it."""
        if symbol not in self._profiles:
            declared = self._machine.index.declarations[symbol]
            assert isinstance(declared, core.Profile)
            value = self._machine.finish(profile_steps(declared), declared.span, symbol)
            assert isinstance(value, Record)
            self._profiles[symbol] = profile_of(declared, value)
        return self._profiles[symbol]

    def pairing(self, symbol: str) -> Pairing:
        """A pairing; its condition `admit` may ask for the demands of its system."""
        declared = self._machine.index.declarations[symbol]
        assert isinstance(declared, core.Pairing)
        entries = dict(declared.entries)
        for name in ("system", "device", "admit", "output", "artifact"):
            if name not in entries:
                raise Refused(
                    system_errors.entry_missing(symbol.rpartition(".")[2], name, declared.span)
                )
        system, target = self._system_of(symbol, entries)
        device = self._profile_of(entries["device"], symbol)
        admit = self._value(entries["admit"], symbol)
        output, artifact = (self._value(entries[name], symbol) for name in ("output", "artifact"))
        assert isinstance(admit, Scalar)
        assert isinstance(output, str)
        assert isinstance(artifact, str)
        return Pairing(
            symbol,
            system,
            target,
            device,
            bool(admit.value),
            output,
            artifact,
            entries["admit"].span,
            entries["device"].span,
        )

    def target(self, symbol: str) -> str:
        """The target of a pairing, without its condition."""
        declared = self._machine.index.declarations[symbol]
        assert isinstance(declared, core.Pairing)
        entries = dict(declared.entries)
        return self._system_of(symbol, entries)[1]

    def prove(self, module: str) -> bool:
        """Evaluate the proofs of a module. A false one is reported as P0001, a `rejects` without its code as P0002.
        Whether all hold."""
        proofs = self._machine.index.modules[module].proofs
        held = [self.settle(proof)[0] for proof in proofs if proof.kind != TEST]
        return all(held)

    def settle(self, proof: core.Proof) -> tuple[bool, int]:
        """Evaluate a proof or rejection: whether it holds, and the steps that took. What is wrong is reported."""
        account = self._machine.account(proof.symbol.rpartition(".")[0])
        before = account.steps
        if proof.kind.startswith(REJECTS):
            held = self._report(partial(reject, self._machine, proof))
        else:
            held = self._report(partial(prove, self._machine, proof))
        return held, account.steps - before

    def test(self, proof: core.Proof) -> Trial | None:
        """A test, evaluated or staged; None where its expression is refused, which is reported."""
        from alpha.evaluate.tests import make_test  # a check or build runs none

        made: list[Trial] = []
        self._report(lambda: made.append(make_test(self._machine, proof)))
        return made[0] if made else None

    def check_module(self, name: str) -> bool:
        """Evaluate everything that stands alone: definitions without parameters, learners, profiles, policies, proofs,
        pairings. Faults are reported; the rest is evaluated all the same. Whether there was none."""
        module = self._machine.index.modules[name]
        held = True
        for definition in module.definitions:
            if not definition.scheme.variables and definition.value is not None:
                held &= self._report(partial(self._definition, definition))
        for learner in module.learners:
            held &= self._report(partial(self._learner, learner.symbol))
        for profile in module.profiles:
            held &= self._report(partial(self.profile, profile.symbol))
        for policy in module.policies:
            held &= self._report(partial(self.system, policy.symbol))
        held &= self.prove(name)
        for pairing in module.pairings:
            held &= self._report(partial(self.pairing, pairing.symbol))
        return held

    # ---- parts ---------------------------------------------------------------------------------------------------

    def _system_of(self, symbol: str, entries: Mapping[str, core.Term]) -> tuple[str, str]:
        """The policy of a pairing and its target. A policy is for a host processor, a host value for a device."""
        name = symbol.rpartition(".")[2]
        system = self._value(entries["system"], symbol)
        profile = self.profile(self._profile_of(entries["device"], symbol))
        own = next((str(fact.amount) for fact in profile.identity if fact.name == "target"), "")
        if isinstance(system, PolicyValue):
            if not own:
                raise Refused(system_errors.needs_host(name, entries["system"].span))
            return system.symbol, own
        assert isinstance(system, Record)
        if own:
            raise Refused(system_errors.needs_policy(name, own, entries["system"].span))
        return policy_of(system), target_of(system)

    def _profile_of(self, device: core.Term, owner: str) -> str:
        """The symbol of the profile that a term stands for. A changed copy states facts that no profile holds."""
        value = self._value(device, owner)
        for symbol, made in self._machine.constants.items():
            declared = self._machine.index.declarations.get(symbol)
            if made is value and isinstance(declared, core.Profile):
                return symbol
        raise Refused(system_errors.device_is_no_profile(owner.rpartition(".")[2], device.span))

    def _value(self, term: core.Term, owner: str) -> Value:
        return self._machine.evaluate(term, Scope({}), owner)

    def _definition(self, definition: core.Definition) -> None:
        reference = core.Global(
            symbol=definition.symbol, type=definition.scheme.type, span=definition.span
        )
        if not isinstance(definition.value, core.Lambda):
            self._value(reference, definition.symbol)

    def _learner(self, symbol: str) -> None:
        trainer = Trainer.of(self._machine, symbol, PROBE_BATCH, symbol)
        trainer.initial(0)
        trainer.step()
        trainer.evaluate()
        trainer.predict()

    def _report(self, evaluate: Callable[[], object]) -> bool:
        """Report the faults of an evaluation, each place once: a learner is evaluated again for each of its policies,
        and everything of a module fails when its budget is used up. Whether there was none."""
        faults: tuple[Diagnostic, ...] = ()
        try:
            result = evaluate()
            if isinstance(result, Diagnostic):
                faults = (result,)
        except Refused as refused:
            faults = refused.diagnostics
        reported = {(item.code, item.span) for item in self._diagnostics.items}
        exhausted = {item.message for item in self._diagnostics.items if item.code == "E0502"}
        for fault in faults:
            if (fault.code, fault.span) not in reported and fault.message not in exhausted:
                self._diagnostics.report(fault)
        return not faults
