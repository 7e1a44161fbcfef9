"""The texts of an artifact: its manifest and its module state the build, and are functions of it alone."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.span import Source, Span
from alpha.core.term import Amount
from alpha.driver.artifact_module import Statement, module_source
from alpha.driver.manifest import Contents, Input, beside, embedded, stated_digests
from alpha.evaluate.system import Evidence, Fact
from alpha.plan.plan import Demand, Derivation
from alpha.syntax.format import format_module
from alpha.syntax.parse import parse_module

SPAN = Span(Source("P.alpha", "module P\n"), 0, 6)
MANUAL = Evidence("Architectural", "manual", ("A manual", "section 1"))
CONTENTS = Contents(
    "digits",
    "1",
    (Input("module", "Digits/Run.alpha", "a" * 64), Input("data", "Digits/data.csv", "b" * 64)),
    (("alpha:target", "x86_64-linux"),),
    (("llvmlite", "0.50.0"),),
)


def test_the_embedded_manifest_is_the_one_beside_without_the_digest_of_the_executable() -> None:
    inside, outside = json.loads(embedded(CONTENTS)), json.loads(beside(CONTENTS, "c" * 64))
    assert outside["metadata"]["component"].pop("hashes") == [
        {"alg": "SHA-256", "content": "c" * 64}
    ]
    assert inside == outside
    assert inside["bomFormat"] == "CycloneDX"
    assert embedded(CONTENTS).count(b"\n") == 1


def test_a_manifest_is_read_back() -> None:
    stated = stated_digests(json.loads(beside(CONTENTS, "c" * 64)))
    assert stated == (
        "c" * 64,
        {("module", "Digits/Run.alpha"): "a" * 64, ("data", "Digits/data.csv"): "b" * 64},
    )
    for other in ({}, [], None, {"metadata": {}}, json.loads(embedded(CONTENTS))):
        assert stated_digests(other) is None


AMOUNTS = st.one_of(
    st.integers(0, 2**40).map(lambda n: Amount(Fraction(n))),
    st.integers(0, 2**40).map(lambda n: Amount(Fraction(n), (1, 0, 0))),
    st.integers(0, 2**40).map(lambda n: Amount(Fraction(n, 10**9), (0, 1, 0))),
    st.integers(0, 1).map(lambda n: Amount(Fraction(n), feature=True)),
)


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(["cpu-level", "memory-bytes"]), AMOUNTS), max_size=3),
    st.lists(st.tuples(st.text(max_size=8).filter(str.isprintable), st.integers(0, 9)), max_size=3),
)
def test_the_artifact_module_parses_and_is_in_the_one_style(
    facts: list[tuple[str, Amount]], schedule: list[tuple[str, int]]
) -> None:
    statement = Statement(
        module="DigitsArtifact",
        executable="digits",
        target="x86_64-linux",
        imports=(("Digits.Run", "baseline"), ("Platform.Linux.X8664", "generic")),
        schedule=tuple(schedule),
        demands=tuple(
            Demand(name, "Resource", "AtLeast", amount, Derivation("all", 1))
            for name, amount in facts
        ),
        supplies=tuple(Fact(name, amount, MANUAL, SPAN) for name, amount in facts),
        digests=(("Digits/Run.alpha", "a" * 64),),
    )
    text = module_source(statement)
    module = parse_module(Source("DigitsArtifact.alpha", text))
    assert module.name == "DigitsArtifact"
    assert format_module(module) == text
    assert module_source(statement) == text
