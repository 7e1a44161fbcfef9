"""The modules that come with the compiler check without a word, and their core keeps its law."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alpha.check.program import check
from alpha.core import term
from alpha.core.term import Program
from alpha.core.text import to_text
from alpha.core.types import Named
from alpha.core.verify import CoreError, verify
from alpha.diagnostics.diagnostic import Diagnostics
from checking import shipped


@pytest.fixture(scope="module")
def program() -> Program:
    diagnostics = Diagnostics()
    checked = check(list(shipped().values()), diagnostics)
    assert diagnostics.items == []
    return checked


def module(program: Program, name: str) -> term.Module:
    return next(m for m in program.modules if m.name == name)


def test_core_of_shipped_modules_keeps_its_law(program: Program) -> None:
    verify(program)


def test_the_model_of_digits_is_a_function_of_its_sizes(program: Program) -> None:
    text = to_text(module(program, "Digits.Model"))
    assert "Digits.Model.Mlp.forward : forall inputs hidden classes batch." in text
    assert "(%add (%matmul (%mul image 625e-4:f32) self.w1) self.b1)" in text


def test_axes_by_name_are_places(program: Program) -> None:
    learner = module(program, "Digits.Learner").learners[0]
    head = learner.loss.body.function  # type: ignore[union-attr]
    assert isinstance(head, term.Intrinsic)
    assert (head.name, head.axes, learner.batch, learner.keyed) == ("mean", (0,), "batch", False)


def test_a_profile_holds_its_facts_in_order(program: Program) -> None:
    profile = module(program, "Platform.Linux.X8664").profiles[0]
    assert [(f.kind, f.name) for f in profile.facts] == [
        ("identity", "target"),
        ("supply", "instruction-set"),
        ("supply", "cpu-level"),
        ("supply", "memory-bytes"),
        ("supply", "address-width"),
    ]
    assert isinstance(profile.facts[3].amount, term.Literal)
    assert profile.facts[3].amount.value == term.Amount(4 * 2**30, (1, 0, 0))  # type: ignore[arg-type]


def test_every_shipped_signature_without_a_definition_is_an_intrinsic(program: Program) -> None:
    found = {
        d.symbol.rpartition(".")[2]
        for m in program.modules
        for d in m.definitions
        if d.value is None
    }
    assert {"map", "crossEntropy", "x8664Demands", "glorot", "noTrace"} <= found


@pytest.mark.parametrize("law", ["derived", "closed", "named"])
def test_a_broken_core_is_found(program: Program, law: str) -> None:
    broken = module(program, "Digits.Model")
    place = next(i for i, d in enumerate(broken.definitions) if isinstance(d.value, term.Lambda))
    definition = broken.definitions[place]
    value = definition.value
    assert isinstance(value, term.Lambda)
    body = {
        "derived": replace(value.body, type=Named("Int")),
        "closed": term.Local("nowhere", span=value.span, type=value.body.type),
        "named": replace(value.body, type=Named("?1")),
    }[law]
    changed = replace(definition, value=replace(value, body=body))
    definitions = (*broken.definitions[:place], changed, *broken.definitions[place + 1 :])
    modules = tuple(
        replace(m, definitions=definitions) if m is broken else m for m in program.modules
    )
    with pytest.raises(CoreError) as caught:
        verify(Program(modules))
    assert caught.value.law == law or law == "named"
