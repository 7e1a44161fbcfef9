"""Relocation arithmetic: every row at its limits, and nothing outside the table."""

from __future__ import annotations

import pytest

from alpha.elf.errors import Fault, LinkError
from alpha.elf.reloc import TABLE, row_of
from targets.elf.checks import check_relocation
from targets.elf.linker_under_test import REAL
from targets.elf.relocation_table import CASES, Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_row_gives_the_bytes_of_its_formula(case: Case) -> None:
    check_relocation(REAL, case)


def test_the_cases_cover_every_row() -> None:
    rows = {(machine, kind) for machine, table in TABLE.items() for kind in table}
    assert {(case.machine, case.kind) for case in CASES} == rows


@pytest.mark.parametrize("machine", sorted(TABLE))
def test_every_other_type_is_refused_by_number(machine: int) -> None:
    for kind in set(range(2048)) - set(TABLE[machine]):
        with pytest.raises(LinkError, match=f"type {kind}") as refusal:
            row_of(machine, kind)
        assert refusal.value.fault is Fault.UNKNOWN_RELOCATION
