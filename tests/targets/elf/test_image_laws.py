"""The independent re-reader notices every law that does not hold."""

from __future__ import annotations

import random
import struct

import pytest

from alpha.elf.errors import Fault, LinkError
from alpha.elf.verify import LAWS, verify
from targets.elf.broken_images import BROKEN, Broken, check_broken, check_sound, reseal, sound
from targets.elf.linker_under_test import REAL, X86_HOST


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.title)
def test_a_broken_law_is_noticed(case: Broken) -> None:
    check_broken(REAL, case)


def test_a_sound_image_is_accepted() -> None:
    check_sound(REAL)


def test_every_law_has_a_case() -> None:
    assert {case.law for case in BROKEN} == {name for name, _ in LAWS}


def test_no_byte_can_change_unnoticed() -> None:
    data, choice = sound(), random.Random(7)
    for _ in range(300):
        at = choice.randrange(len(data))
        with pytest.raises(LinkError) as refusal:
            verify(
                data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :], X86_HOST
            )
        assert refusal.value.fault is Fault.BROKEN_IMAGE


def test_any_bytes_are_judged_and_never_crash_it() -> None:
    choice = random.Random(8)
    for _ in range(1500):
        data = bytearray(sound())
        for _ in range(choice.randrange(1, 5)):
            # Headers and tables, where a wrong number leads astray.
            region = choice.choice([(0, 1000), (len(data) - 1400, len(data))])
            data[choice.randrange(*region)] = choice.randrange(256)
        try:
            sealed = reseal(bytes(data))
        except (ValueError, IndexError, OverflowError, struct.error):
            sealed = bytes(data)
        try:
            verify(sealed, X86_HOST)
        except LinkError as refusal:
            assert refusal.fault is Fault.BROKEN_IMAGE
