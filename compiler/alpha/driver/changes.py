"""Searches, for a refused build, the changes that its policy allows (`mayMove`) and that would be admitted."""

from __future__ import annotations

from alpha.admission import Admission, admit
from alpha.admission.nearest import Change, nearest_number, smaller_batches
from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Refused
from alpha.driver.outcome import Build


def nearest_changes(work: Build, admission: Admission) -> tuple[Change, ...]:
    """The largest smaller batch that is admitted, where the policy lets the batch move and memory is what is short."""
    demand = admission.refusal
    if "Batch" not in work.system.may_move or not demand.endswith("memory-bytes"):
        return ()

    def with_batch(batch: int) -> Admission | None:
        pairing = work.choice.pairing
        evaluator = work.front.with_batch(work.choice.policy, batch)
        try:
            system = evaluator.system(work.choice.policy)
            plan, _ = work.front.planner.plan(system, work.target)
            condition = pairing is None or evaluator.pairing(pairing.name).admit
        except Refused:
            return None
        return admit(plan.demands, work.profile, condition)

    sizes = smaller_batches(work.system.batch, work.system.hold_out)
    found = nearest_number(sizes, with_batch)
    if found is None:
        return ()
    batch, admitted = found
    needed = _needed(admitted, demand)
    return (Change("batch", work.system.batch, batch, demand, needed, _entry(work, "batch")),)


def _needed(admission: Admission, name: str) -> Amount:
    return next(row.demand.amount for row in admission.rows if row.demand.name == name)


def _entry(work: Build, name: str) -> Span | None:
    """Where an entry of the policy stands."""
    for module in work.front.program.modules:
        for policy in module.policies:
            if policy.symbol == work.choice.policy:
                return next((term.span for entry, term in policy.entries if entry == name), None)
    return None
