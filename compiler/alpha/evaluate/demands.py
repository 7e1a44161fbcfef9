"""Demands, computed by a later level, as values of the language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.evaluate import budget
from alpha.evaluate.hosts import policy_of, target_of
from alpha.evaluate.machine import Machine, Row
from alpha.evaluate.system import System
from alpha.evaluate.values import (
    ListValue,
    Operation,
    PolicyValue,
    Record,
    TraceValue,
    Value,
    Variant,
)

ADMISSION = "Alpha.Admission"

OF_PLANS = frozenset(
    {"instruction-set", "registers-per-thread", "threads-per-block", "shared-bytes-per-block"}
    | {"video-memory-bytes"}
)
"""The demands that follow from a device's kernels and its arena alone."""


class Demand(Protocol):
    """What evaluation reads of a demand of `plan.plan`."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def bound(self) -> str: ...
    @property
    def amount(self) -> Amount: ...
    @property
    def derivation(self) -> object: ...


Demands = Callable[[System, str], Sequence[Demand]]
"""The demands of a system built for a target (`x86_64-linux`, `sm_86`)."""


def rows(system: Callable[[str], System], demands: Demands) -> dict[str, Row]:
    """The intrinsics of platforms. `system` evaluates a policy."""

    def listed(machine: Machine, found: Sequence[Demand]) -> Value:
        machine.allocate(budget.compound(len(found)) + len(found) * budget.compound(5))
        return ListValue(tuple(demand_value(demand) for demand in found))

    def of_target(target: str) -> Row:
        def run(
            machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
        ) -> Value:
            (policy,) = operands
            assert isinstance(policy, PolicyValue)
            return listed(machine, demands(system(policy.symbol), target))

        return Row(1, run)

    def of_plan(
        machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
    ) -> Value:
        (host,) = operands
        assert isinstance(host, Record)
        found = demands(system(policy_of(host)), target_of(host))
        return listed(machine, [demand for demand in found if demand.name in OF_PLANS])

    def no_trace(
        machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
    ) -> Value:
        return TraceValue(None)

    return {
        "x8664Demands": of_target("x86_64-linux"),
        "aarch64Demands": of_target("aarch64-linux"),
        "nvidiaPlanDemands": Row(1, of_plan),
        "noTrace": Row(0, no_trace),
    }


def demand_value(demand: Demand) -> Record:
    """A value of `Alpha.Admission.Demand`."""
    return Record(
        f"{ADMISSION}.Demand",
        {
            "name": demand.name,
            "kind": Variant(f"{ADMISSION}.{demand.kind}"),
            "bound": Variant(f"{ADMISSION}.{demand.bound}"),
            "amount": demand.amount,
            "because": TraceValue(demand.derivation),
        },
    )
