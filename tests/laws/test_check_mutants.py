"""Whatever is done to a program, checking it answers with diagnostics and never fails."""

from __future__ import annotations

import random

import pytest

from alpha.base.record import replace
from alpha.base.span import Source
from alpha.check.modules import LoadedModule, SourceRoots, find_systems, load
from alpha.check.program import check
from alpha.core.term import Program
from alpha.core.verify import verify
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.diagnostics.json import json_lines
from alpha.diagnostics.render import render_all
from alpha.syntax.parse import read_module
from mutants import mutant

ROOTS = SourceRoots.open(None)
SYSTEMS = find_systems(ROOTS)
LIBRARY = [name for name in ROOTS.modules() if name.startswith(("Alpha.", "Platform."))]
EACH = 4
"""Mutants of one library module, and of a third of a system."""


def answer(modules: list[LoadedModule], found: Diagnostics) -> Program | None:
    try:
        return check(modules, found)
    except Refused:
        return None


def try_mutants(modules: tuple[LoadedModule, ...], names: list[str], seed: str) -> int:
    """How many of `EACH` mutants were refused. What can be read of one that has no tree is checked all the same."""
    choice = random.Random(seed)
    refused = 0
    for _ in range(EACH):
        name = choice.choice(names)
        place = next(place for place, module in enumerate(modules) if module.name == name)
        old = modules[place]
        found = Diagnostics()
        parsed = read_module(Source(old.source.path, mutant(old.source.text, choice)))
        for fault in parsed.faults:
            found.report(fault)
        found.unread.update(dict.fromkeys(parsed.unread, next(iter(parsed.faults), None)))
        if parsed.module is None:
            assert parsed.faults
            refused += 1
            continue
        new = replace(old, source=parsed.module.span.source, tree=parsed.module)
        program = answer([*modules[:place], new, *modules[place + 1 :]], found)
        render_all(found.items)
        json_lines(found.items)
        assert all(item.message for item in found.items)
        refused += bool(found.errors)
        if found.errors:
            continue
        assert program is not None
        verify(program)
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_mutants_of_a_system_are_accepted_or_refused(system: str) -> None:
    names = [name for name in ROOTS.modules() if f"{name}.".startswith(f"{system}.")]
    modules = load(ROOTS, names, Diagnostics())
    refused = sum(try_mutants(modules, names, f"{system}{part}") for part in range(3))
    assert refused > EACH, "most mutants are refused"


@pytest.mark.slow
def test_mutants_of_the_library_are_accepted_or_refused() -> None:
    modules = load(ROOTS, LIBRARY, Diagnostics())
    assert sum(try_mutants(modules, [name], name) for name in LIBRARY) > len(LIBRARY)
