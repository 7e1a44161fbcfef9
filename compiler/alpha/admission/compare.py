"""The comparison: one verdict for each demand, from the first rule that applies (specification, section 20).

| verdict | when |
|---|---|
| `absent` | the profile has no such fact, or has it with amount zero |
| `weak` | the evidence is Modelled and the kind is not Resource |
| `short` | AtLeast, and less is supplied |
| `differs` | Exactly, and another amount is supplied |
| `met` | otherwise |

Pure: nothing but the demands and the supplies takes part. Estimates are not passed in, so none can change a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from alpha.admission.evidence import allowed
from alpha.base.record import record
from alpha.core.term import Amount
from alpha.evaluate.system import Fact
from alpha.plan.plan import Demand


class Verdict(Enum):
    ABSENT = "absent"
    WEAK = "weak"
    SHORT = "short"
    DIFFERS = "differs"
    MET = "met"


CODES = {
    Verdict.ABSENT: "A0302",
    Verdict.WEAK: "A0303",
    Verdict.SHORT: "A0301",
    Verdict.DIFFERS: "A0304",
}


@record
class Row:
    """A demand with what was found for it. `supply` is None if the profile has no fact of that name."""

    demand: Demand
    supply: Fact | None
    verdict: Verdict

    @property
    def margin(self) -> Fraction | None:
        """Supplied minus demanded, in base units; None for an exact bound and where nothing is supplied."""
        if self.supply is None or self.demand.bound != "AtLeast":
            return None
        return supplied(self.supply).value - self.demand.amount.value


def compare(demands: Sequence[Demand], supplies: Sequence[Fact]) -> tuple[Row, ...]:
    """One row for every demand, in the order of the demands, which is observable and fixed."""
    return tuple(_row(demand, supplies) for demand in demands)


def refusal(rows: Sequence[Row]) -> str:
    """The name of the first unmet demand; "" if there is none."""
    for row in rows:
        if row.verdict is not Verdict.MET:
            return row.demand.name
    return ""


def supplied(fact: Fact) -> Amount:
    """The amount of a supply. A text there would be a fault of evaluation, which checks it (E0706)."""
    if not isinstance(fact.amount, Amount):
        raise TypeError(f"the supply {fact.name} is a text")
    return fact.amount


def _row(demand: Demand, supplies: Sequence[Fact]) -> Row:
    supply = next((fact for fact in supplies if fact.name == demand.name), None)
    if supply is None:
        return Row(demand, None, Verdict.ABSENT)
    return Row(demand, supply, _verdict(demand, supplied(supply), supply.evidence.grade))


def _verdict(demand: Demand, amount: Amount, grade: str) -> Verdict:
    if (amount.unit, amount.feature) != (demand.amount.unit, demand.amount.feature):
        raise TypeError(f"{demand.name} is demanded and supplied in different units")
    if amount.value == 0:
        return Verdict.ABSENT
    if not allowed(demand.kind, grade):
        return Verdict.WEAK
    if demand.bound == "AtLeast":
        return Verdict.MET if amount.value >= demand.amount.value else Verdict.SHORT
    return Verdict.MET if amount.value == demand.amount.value else Verdict.DIFFERS
