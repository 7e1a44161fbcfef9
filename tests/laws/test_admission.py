"""Admission keeps its laws for every list of demands and supplies."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.admission import Admission, Admitted, admit
from alpha.admission.compare import CODES, Verdict
from alpha.admission.errors import leaves
from alpha.admission.nearest import nearest_number, smaller_batches
from alpha.admission.report import Subject, as_object, to_json, to_text
from alpha.admission.sarif import admission_sarif
from alpha.base.span import Source, Span
from alpha.core.term import Amount
from alpha.evaluate.system import Evidence, Fact, Profile
from alpha.plan.plan import Demand, Derivation

SPAN = Span(Source("Main.alpha", "module Main\n"), 0, 6)
SUBJECT = Subject("Main.Run.baseline", "", "x86_64-linux", "direct")
NAMES = {
    "instruction-set": ((0, 0, 0), False),
    "cpu-level": ((0, 0, 0), False),
    "memory-bytes": ((1, 0, 0), False),
    "unified-memory": ((0, 0, 0), True),
    "address-width": ((0, 0, 0), False),
}
CITATIONS = {
    "Architectural": ("manual", ("A manual", "section 1")),
    "Measured": ("run", ("runs/one.json",)),
    "Modelled": ("model", ("sm86",)),
}


def amount(name: str, value: int) -> Amount:
    unit, feature = NAMES[name]
    return Amount(Fraction(min(value, 1) if feature else value), unit, feature)


@st.composite
def derivations(draw: st.DrawFn, total: int, depth: int = 2) -> Derivation:
    if depth == 0 or total < 2 or draw(st.booleans()):
        return Derivation("a leaf", total, draw(st.sampled_from([None, SPAN])))
    first = draw(st.integers(1, total - 1))
    parts = tuple(draw(derivations(part, depth - 1)) for part in (first, total - first))
    return Derivation("a sum", total, None, parts)


@st.composite
def demand_lists(draw: st.DrawFn) -> tuple[Demand, ...]:
    names = draw(st.lists(st.sampled_from(sorted(NAMES)), unique=True, min_size=1))
    result = []
    for name in names:
        needed = amount(name, draw(st.integers(1, 6)))
        result.append(
            Demand(
                name,
                draw(st.sampled_from(["Abi", "Feature", "Resource"])),
                draw(st.sampled_from(["Exactly", "AtLeast"])),
                needed,
                draw(derivations(int(needed.value))),
            )
        )
    return tuple(result)


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    names = draw(st.lists(st.sampled_from(sorted(NAMES)), unique=True))
    supplies = []
    for name in names:
        grade = draw(st.sampled_from(sorted(CITATIONS)))
        kind, citation = CITATIONS[grade]
        value = amount(name, draw(st.integers(0, 6)))
        supplies.append(Fact(name, value, Evidence(grade, kind, citation), SPAN))
    return Profile("Platform.Test.one", (), tuple(supplies), (), SPAN)


def naive_refusal(demands: tuple[Demand, ...], profile: Profile) -> str:
    """`compatibilityRefusal` of the library, written again without verdicts."""
    for demand in demands:
        fact = {fact.name: fact for fact in reversed(profile.supplies)}.get(demand.name)
        if fact is None:
            return demand.name
        assert isinstance(fact.amount, Amount)
        if fact.evidence.grade == "Modelled" and demand.kind != "Resource":
            return demand.name
        have, need = fact.amount.value, demand.amount.value
        if not (have == need if demand.bound == "Exactly" else have >= need):
            return demand.name
    return ""


@given(demand_lists(), profiles())
def test_the_refusal_is_the_first_unmet_row(demands: tuple[Demand, ...], profile: Profile) -> None:
    admission = admit(demands, profile)
    first = next((row for row in admission.rows if row.verdict is not Verdict.MET), None)
    assert admission.refusal == (first.demand.name if first else "")
    assert admission.refusal == naive_refusal(demands, profile)
    assert [row.demand for row in admission.rows] == list(demands)
    assert (admission.admitted is None) == bool(admission.refusal)
    if first is not None:
        (diagnostic,) = admission.diagnostics
        assert diagnostic.code == CODES[first.verdict]
        assert f"`{first.demand.name}`" in diagnostic.message


@given(demand_lists(), profiles(), st.integers(1, 5), st.data())
def test_more_of_an_at_least_supply_never_refuses(
    demands: tuple[Demand, ...], profile: Profile, more: int, data: st.DataObject
) -> None:
    at_least = {demand.name for demand in demands if demand.bound == "AtLeast"}
    grown = tuple(
        replace(fact, amount=replace(fact.amount, value=fact.amount.value + more))
        if fact.name in at_least and isinstance(fact.amount, Amount) and data.draw(st.booleans())
        else fact
        for fact in profile.supplies
    )
    if admit(demands, profile).admitted:
        assert admit(demands, replace(profile, supplies=grown)).admitted


@pytest.mark.slow
@given(demand_lists(), profiles(), st.data())
def test_one_demand_more_never_admits(
    demands: tuple[Demand, ...], profile: Profile, data: st.DataObject
) -> None:
    kept = tuple(demand for demand in demands if data.draw(st.booleans()))
    if admit(demands, profile).admitted:
        assert admit(kept, profile).admitted


@pytest.mark.slow
@given(demand_lists(), profiles())
def test_every_mutant_of_what_was_admitted_is_refused_by_its_name(
    demands: tuple[Demand, ...], profile: Profile
) -> None:
    if not admit(demands, profile).admitted:
        return
    for demand in demands:
        without = tuple(fact for fact in profile.supplies if fact.name != demand.name)
        assert admit(demands, replace(profile, supplies=without)).refusal == demand.name
        need = demand.amount.value
        wrong = [need - 1] if demand.bound == "AtLeast" else [need - 1, need + 1]
        for value in wrong:
            mutant = tuple(
                replace(fact, amount=replace(demand.amount, value=value))
                if fact.name == demand.name
                else fact
                for fact in profile.supplies
            )
            assert admit(demands, replace(profile, supplies=mutant)).refusal == demand.name


@pytest.mark.slow
@given(demand_lists(), profiles(), profiles())
def test_no_estimate_changes_the_answer(
    demands: tuple[Demand, ...], profile: Profile, other: Profile
) -> None:
    with_estimates = replace(profile, estimates=other.supplies)
    assert admit(demands, profile).rows == admit(demands, with_estimates).rows


@settings(max_examples=50)
@given(demand_lists(), profiles())
def test_reports_are_equal_bytes_and_their_leaves_add_up(
    demands: tuple[Demand, ...], profile: Profile
) -> None:
    texts = []
    for _ in range(2):
        admission = admit(demands, profile)
        texts.append(
            (
                to_text(admission, SUBJECT, None),
                to_json(as_object(admission, SUBJECT, None)),
                admission_sarif(admission, SUBJECT.system),
            )
        )
    assert texts[0] == texts[1]
    for row in admit(demands, profile).rows:
        assert sum(leaf.amount for leaf in leaves(row.demand.derivation)) == row.demand.amount.value


def test_only_admission_makes_the_token() -> None:
    with pytest.raises(TypeError):
        Admitted((), "Platform.Test.one", object())


def test_the_token_is_for_its_own_demands_alone() -> None:
    leaf = Derivation("all of it", 1)
    demand = Demand("cpu-level", "Feature", "AtLeast", Amount(Fraction(1)), leaf)
    fact = Fact("cpu-level", Amount(Fraction(1)), Evidence("Architectural", "manual", ("m",)), SPAN)
    admission = admit((demand,), Profile("P.one", (), (fact,), (), SPAN))
    assert admission.admitted is not None
    admission.admitted.require((demand,))
    with pytest.raises(ValueError, match="not the plan"):
        admission.admitted.require(())


def test_a_pairing_may_refuse_what_the_comparison_admits_and_never_the_reverse() -> None:
    profile = Profile("P.one", (), (), (), SPAN)
    refused = admit((), profile, condition=False, condition_span=SPAN)
    assert [item.code for item in refused.diagnostics] == ["A0305"]
    assert refused.admitted is None
    demand = Demand("cpu-level", "Feature", "AtLeast", Amount(Fraction(1)), Derivation("one", 1))
    assert admit((demand,), profile, condition=True).admitted is None


def test_a_short_row_reads_as_written_in_the_documentation() -> None:
    parts = (
        Derivation("6 blocks x 1,280 MiB", 7680 * 2**20, SPAN),
        Derivation("weights", 1024 * 2**20, SPAN),
    )
    needed = sum(part.amount for part in parts)
    demand = Demand(
        "memory-bytes",
        "Resource",
        "AtLeast",
        Amount(Fraction(needed), (1, 0, 0)),
        Derivation("arena", needed, None, parts),
    )
    evidence = Evidence("Architectural", "manual", ("Product specification", "memory"))
    fact = Fact("memory-bytes", Amount(Fraction(8192 * 2**20), (1, 0, 0)), evidence, SPAN)
    admission = admit((demand,), Profile("Platform.Test.card", (), (fact,), (), SPAN))
    assert to_text(admission, SUBJECT, None) == (
        "refused  Main.Run.baseline   1 of 1 demands is not met   exit 3\n"
        "  memory-bytes   at least 8,704.0 MiB   card supplies 8,192.0 MiB   short by 512.0 MiB\n"
        "  |- 6 blocks x 1,280 MiB   7,680.0 MiB   Main.alpha:1:1\n"
        "  `- weights   1,024.0 MiB   Main.alpha:1:1\n"
        "     evidence: Architectural (Product specification, memory)\n"
        "No bytes were written. Alpha does not fall back to another device or to the CPU.\n"
    )


@given(st.integers(2, 400), st.integers(0, 400), st.integers(1, 10_000))
def test_the_nearest_batch_is_the_largest_that_is_admitted(
    batch: int, hold_out: int, memory: int
) -> None:
    def admission(size: int) -> Admission:
        need = 25 * size
        demand = Demand(
            "memory-bytes",
            "Resource",
            "AtLeast",
            amount("memory-bytes", need),
            Derivation("all", need),
        )
        evidence = Evidence("Architectural", "manual", ("m",))
        fact = Fact("memory-bytes", amount("memory-bytes", memory), evidence, SPAN)
        return admit((demand,), Profile("P.one", (), (fact,), (), SPAN))

    sizes = smaller_batches(batch, hold_out)
    assert all(size < batch and hold_out % size == 0 for size in sizes)
    found = nearest_number(sizes, admission)
    fitting = [size for size in sizes if 25 * size <= memory]
    assert (found[0] if found else None) == (max(fitting) if fitting else None)
    assert found is None or found[1].admitted
