"""Whatever is done to a program, checking it answers with diagnostics and never fails."""

from __future__ import annotations

import random
import re

import pytest

from alpha.core.verify import verify
from alpha.diagnostics.diagnostic import Refused
from checking import check_text, shipped

_TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_][\w\']*|\d[\w.]*|[-+*/%@=<>|!.:]+|[()\[\]{},]')
DIGITS = ("Digits.Model", "Digits.Learner", "Digits.Run")
_OTHERS = ["x", "f32", "0", "1.5", "Int", "batch", "fn", "->", "net", "[", "]", "(", ")", "-", "@"]


def mutant(texts: list[str], seed: int) -> list[str]:
    """One token of one module dropped, doubled, exchanged with another of the module, or replaced."""
    choice = random.Random(seed)
    place = choice.randrange(len(texts))
    tokens = list(_TOKEN.finditer(texts[place]))
    token = choice.choice(tokens)
    other = choice.choice(tokens)[0] if choice.random() < 0.6 else choice.choice(_OTHERS)
    replacement = choice.choice(["", f"{token[0]} {token[0]}", other, other])
    changed = texts[place][: token.start()] + replacement + texts[place][token.end() :]
    return [*texts[:place], changed, *texts[place + 1 :]]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_mutants_of_digits_are_accepted_or_refused(part: int) -> None:
    texts = [shipped()[name].source.text for name in DIGITS]
    refused = parsed = 0
    for seed in range(part * 50, part * 50 + 50):
        try:
            program, found = check_text(*mutant(texts, seed))
        except Refused:
            continue
        parsed += 1
        if program is None:
            refused += 1
            assert found
            assert all(item.message for item in found)
        else:
            verify(program)
    assert parsed > 10, "many mutants have a tree"
    assert refused > 5, "and many of those are refused by their types"
