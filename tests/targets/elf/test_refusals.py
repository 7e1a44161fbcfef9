"""Whatever the linker does not support is refused by name."""

from __future__ import annotations

import pytest

from alpha.elf.errors import Fault
from targets.elf.checks import check_refusal
from targets.elf.hand_made import ARM
from targets.elf.linker_under_test import REAL
from targets.elf.refusals import (
    GOOD,
    GOOD_ARM,
    REFUSALS,
    RELOCATED,
    WITH_FRAMES,
    Refusal,
)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.title)
def test_an_object_is_refused_by_name(case: Refusal) -> None:
    check_refusal(REAL, case)


def test_every_fault_of_the_linker_has_a_case() -> None:
    assert {case.fault for case in REFUSALS} == {fault.name for fault in Fault} - {"BROKEN_IMAGE"}


@pytest.mark.parametrize("data", [GOOD, RELOCATED, WITH_FRAMES])
def test_the_objects_that_the_cases_change_are_accepted(data: bytes) -> None:
    REAL.verify(REAL.link(data))


def test_the_same_for_aarch64() -> None:
    REAL.verify(REAL.link(GOOD_ARM, machine=ARM), ARM)
