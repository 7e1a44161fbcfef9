"""Profiles: the value a program sees, and the plain record that admission reads."""

from __future__ import annotations

from alpha.check.builtin import ESTIMATES, GRADES, SUPPLIES
from alpha.core import term as core
from alpha.core.term import Amount
from alpha.core.types import Named
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import profile_errors
from alpha.evaluate.amounts import count
from alpha.evaluate.machine import Force, Steps
from alpha.evaluate.scope import Scope
from alpha.evaluate.system import Evidence, Fact, Profile
from alpha.evaluate.values import ListValue, Record, SourceValue, Value, Variant

ADMISSION = "Alpha.Admission"
LISTS = {"identity": "identity", "supply": "supplies", "estimate": "estimates"}
TYPES = {"identity": "Identity", "supply": "Supply", "estimate": "Estimate"}


def profile_steps(profile: core.Profile) -> Steps:
    """The record of a profile: its facts by kind, in the order written."""
    lists: dict[str, list[Value]] = {"identity": [], "supply": [], "estimate": []}
    for fact in profile.facts:
        amount = yield Force(fact.amount, Scope({}))
        source = yield Force(fact.source, Scope({}))
        if isinstance(amount, int):
            amount = count(amount)
        _check(fact, amount, source)
        evidence = Variant(f"{ADMISSION}.{fact.grade}", (source,))
        field = "value" if fact.kind == "identity" else "amount"
        lists[fact.kind].append(
            Record(
                f"{ADMISSION}.{TYPES[fact.kind]}",
                {"name": fact.name, field: amount, "evidence": evidence},
            )
        )
    name = profile.type.name if isinstance(profile.type, Named) else ""
    return Record(name, {LISTS[kind]: ListValue(tuple(items)) for kind, items in lists.items()})


def _check(fact: core.Fact, amount: Value, source: Value) -> None:
    """E0706 unless the amount is whole, not negative and of the fact's unit; E0708 unless the grade fits the source."""
    assert isinstance(source, SourceValue)
    if source.kind not in GRADES[fact.grade]:
        raise Refused(profile_errors.grade_differs(fact.name, fact.grade, source.kind, fact.span))
    units = SUPPLIES if fact.kind == "supply" else ESTIMATES
    wanted = units.get(fact.name)
    if fact.kind == "identity" or wanted is None:
        return
    assert isinstance(amount, Amount)
    if amount.unit != wanted.unit or amount.feature != wanted.feature:
        raise Refused(profile_errors.unit_differs(fact.name, amount, wanted, fact.amount.span))
    base = amount.value * 10**9 if amount.unit == _SECONDS else amount.value
    if base < 0 or base.denominator != 1:
        raise Refused(profile_errors.not_whole(fact.name, fact.amount.span))


_SECONDS = (0, 1, 0)


def profile_of(profile: core.Profile, value: Record) -> Profile:
    """The plain record of an evaluated profile."""
    facts = {kind: iter(_items(value, name)) for kind, name in LISTS.items()}
    plain: dict[str, list[Fact]] = {kind: [] for kind in LISTS}
    for written in profile.facts:
        record = next(facts[written.kind])
        amount = record.fields["value" if written.kind == "identity" else "amount"]
        assert isinstance(amount, Amount | str)
        evidence = record.fields["evidence"]
        assert isinstance(evidence, Variant)
        (source,) = evidence.arguments
        assert isinstance(source, SourceValue)
        plain[written.kind].append(
            Fact(
                written.name,
                amount,
                Evidence(evidence.name, source.kind, source.citation),
                written.span,
            )
        )
    return Profile(
        profile.symbol,
        tuple(plain["identity"]),
        tuple(plain["supply"]),
        tuple(plain["estimate"]),
        profile.span,
    )


def _items(value: Record, name: str) -> tuple[Record, ...]:
    found = value.fields[name]
    assert isinstance(found, ListValue)
    return tuple(item for item in found.items if isinstance(item, Record))
