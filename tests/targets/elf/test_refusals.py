"""Whatever the linker does not support is refused by name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from alpha.elf.errors import Fault, LinkError
from alpha.elf.link import LinkOptions, link
from targets.elf.checks import REFUSALS, check_refusal
from targets.elf.hand_made import ARM, edit_header
from targets.elf.linker_under_test import REAL, X86_HOST
from targets.elf.refusal import GOOD, GOOD_ARM, RELOCATED, Refusal
from targets.elf.relocation_refusals import WITH_FRAMES


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.title)
def test_an_object_is_refused_by_name(case: Refusal) -> None:
    check_refusal(REAL, case)


def test_every_fault_of_the_linker_has_a_case() -> None:
    assert {case.fault for case in REFUSALS} == {fault.name for fault in Fault} - {
        "BROKEN_IMAGE",
        "SAME_NAME",
    }


@pytest.mark.parametrize("data", [GOOD, RELOCATED, WITH_FRAMES])
def test_the_objects_that_the_cases_change_are_accepted(data: bytes) -> None:
    REAL.verify(REAL.link(data))


def test_the_same_for_aarch64() -> None:
    REAL.verify(REAL.link(GOOD_ARM, machine=ARM), ARM)


def test_a_host_that_the_linker_does_not_know_is_refused() -> None:
    host = replace(X86_HOST, name="riscv64-linux", machine=243)
    with pytest.raises(LinkError) as refusal:
        link([("a.o", edit_header(GOOD, machine=243))], LinkOptions(host, b""))
    assert (refusal.value.fault, refusal.value.where) == (Fault.OTHER_MACHINE, "riscv64-linux")


def test_objects_need_names_of_their_own() -> None:
    with pytest.raises(LinkError) as refusal:
        link([("a.o", GOOD), ("a.o", RELOCATED)], LinkOptions(X86_HOST, b""))
    assert (refusal.value.fault, refusal.value.where) == (Fault.SAME_NAME, "a.o")


def test_a_message_names_the_place_and_the_reason() -> None:
    with pytest.raises(LinkError) as refusal:
        REAL.link(*next(case.objects for case in REFUSALS if case.title == "an unknown relocation"))
    assert (
        str(refusal.value) == "a.o: .text+0x0: type 19: is a relocation type that is not supported"
    )
