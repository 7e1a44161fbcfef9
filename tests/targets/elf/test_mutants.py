"""A gate: bugs seeded into the linker are all caught by the tables, so the tables are worth their name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from targets.elf.broken_images import BROKEN, check_broken, check_sound
from targets.elf.checks import CHECKS, REFUSALS, check_refusal, check_relocation
from targets.elf.linker_under_test import REAL, Linker, mutant, source
from targets.elf.mutants import MUTANTS
from targets.elf.relocation_table import CASES


def _all(elf: Linker) -> Iterator[tuple[str, Callable[[], None]]]:
    yield from ((check.__name__, partial(check, elf)) for check in (*CHECKS, check_sound))
    yield from (
        (f"relocation {case.title}", partial(check_relocation, elf, case)) for case in CASES
    )
    yield from ((f"refusal {case.title}", partial(check_refusal, elf, case)) for case in REFUSALS)
    yield from ((f"broken {case.title}", partial(check_broken, elf, case)) for case in BROKEN)


def killer(elf: Linker) -> str | None:
    """The first check that fails, or None."""
    for name, check in _all(elf):
        try:
            check()
        except Exception:
            return name
    return None


def test_the_linker_itself_survives() -> None:
    assert killer(REAL) is None
    assert killer(mutant("reloc", source("reloc"))) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", range(len(MUTANTS)), ids=lambda number: f"{MUTANTS[number][0]}-{number}"
)
def test_a_seeded_bug_is_caught(number: int) -> None:
    module, before, after = MUTANTS[number]
    text = source(module)
    assert before in text, "the mutant no longer applies: seed it anew"
    assert killer(mutant(module, text.replace(before, after, 1))) is not None, (
        f"{before} -> {after}"
    )
