"""What admission refuses, in the user's words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from alpha.admission import amounts
from alpha.admission.compare import CODES, Row, Verdict, supplied
from alpha.admission.evidence import citation
from alpha.base.span import Span
from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Diagnostic, Label
from alpha.evaluate.system import Profile
from alpha.plan.plan import Derivation

LEAVES = 4
"""So many of the largest leaves of a derivation stand as labels in the message; the report holds all of them."""


def unmet(row: Row, profile: Profile, others: int, device: Span | None = None) -> Diagnostic:
    """The refusal: the first demand that `profile` does not meet, and how many more there are.

    It stands where most of the demand comes from, or at the pairing's `device`.
    """
    largest = sorted(leaves(row.demand.derivation), key=lambda leaf: -leaf.amount)
    placed = [leaf for leaf in largest if leaf.span is not None]
    labels = tuple(Label(leaf.span, _leaf(row, leaf)) for leaf in placed[:LEAVES] if leaf.span)
    span = labels[0].span if labels else device
    hints = _hints(row, profile)
    if others:
        more = "demand is" if others == 1 else "demands are"
        hints = (*hints, f"{others} more {more} not met; the report lists them")
    return Diagnostic(
        code=CODES[row.verdict],
        message=_sentence(row, profile),
        span=span,
        labels=labels,
        cause=_cause(row, profile),
        hints=hints,
    )


def condition_false(span: Span | None) -> Diagnostic:
    return Diagnostic(
        code="A0305",
        message="every demand is met, but the pairing's own `admit` is False",
        span=span,
        cause="a pairing may ask for more than its demands; what it asks for does not hold here",
        hints=("evaluate the parts of `admit` in a proof to see which one is False",),
    )


def empty_artifact(name: str) -> Diagnostic:
    return Diagnostic(
        code="A0306",
        message=f"the build of `{name}` produced no bytes",
        cause="an empty artifact would look like a success; a host that yields nothing is refused",
    )


def leaves(derivation: Derivation) -> Iterator[Derivation]:
    """The leaves of a derivation, in order; they add up to its amount."""
    if not derivation.parts:
        yield derivation
    for part in derivation.parts:
        yield from leaves(part)


def shortfall(row: Row) -> Amount:
    """How much more would be needed, in the demand's unit."""
    have = supplied(row.supply).value if row.supply else Fraction(0)
    needed = row.demand.amount
    return Amount(needed.value - have, needed.unit)


def spelled(row: Row) -> tuple[str, str]:
    """Needed and supplied amount, written in full where rounding would make them look equal."""
    needed = row.demand.amount
    have = supplied(row.supply) if row.supply else Amount(Fraction(0), needed.unit, needed.feature)
    pair = amounts.text(needed), amounts.text(have)
    if pair[0] == pair[1] and needed.value != have.value:
        return amounts.text(needed, exact=True), amounts.text(have, exact=True)
    return pair


def _sentence(row: Row, profile: Profile) -> str:
    name = row.demand.name
    needed, have = spelled(row)
    match row.verdict:
        case Verdict.ABSENT if row.supply is None:
            return f"the build needs `{name}` {needed}, which `{profile.name}` does not state"
        case Verdict.ABSENT:
            return f"the build needs `{name}` {needed}, and `{profile.name}` says there is none"
        case Verdict.WEAK:
            return f"the build needs `{name}` {needed}, and the evidence for {have} is a model"
        case Verdict.SHORT:
            missing = amounts.text(shortfall(row))
            return (
                f"the build needs `{name}` at least {needed}, and `{profile.name}` supplies "
                f"{have}: short by {missing}"
            )
        case _:
            return (
                f"the build needs `{name}` exactly {needed}, and `{profile.name}` supplies {have}"
            )


def _cause(row: Row, profile: Profile) -> str:
    if row.supply is None:
        return "nobody has established this fact for the device, and an absent fact is not guessed"
    source = f"{row.supply.evidence.grade}: {citation(row.supply.evidence)}"
    match row.verdict:
        case Verdict.ABSENT:
            return f"the device has none, says {source}"
        case Verdict.WEAK:
            return (
                f"modelled evidence may meet a Resource demand, and this one is {row.demand.kind} "
                f"({source})"
            )
        case _:
            return f"the supply is from {source}"


def _hints(row: Row, profile: Profile) -> tuple[str, ...]:
    match row.verdict:
        case Verdict.ABSENT if row.supply is None:
            return (f"state `supply {row.demand.name}` in `{profile.name}`, with its evidence",)
        case Verdict.WEAK:
            return ("cite a manual, a header or a run on the device",)
        case Verdict.SHORT if row.demand.name.endswith("memory-bytes"):
            return ("a smaller `batch` needs less memory", "pair the system with a larger device")
        case _:
            return ("pair the system with a device that supplies it",)


def _leaf(row: Row, leaf: Derivation) -> str:
    return f"{amounts.text(Amount(Fraction(leaf.amount), row.demand.amount.unit))}: {leaf.text}"
