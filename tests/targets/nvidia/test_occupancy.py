"""The blocks that a processor holds: known values, and the same as the checked model's own formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha.targets import DEVICES
from alpha.targets.nvidia.occupancy import PROCESSORS, blocks_at_once
from alpha.targets.nvidia.spec import SM_86, SM_89
from checked.sm86.occupancy import blocks_per_processor

# As `cuda_occupancy.h` of CUDA 13.0.96 computes them: registers, shared bytes, blocks on 8.6 and on 8.9.
KNOWN = [
    (127, 16_640, 2, 2),
    (127, 33_280, 2, 2),
    (112, 40_960, 2, 2),
    (128, 61_440, 1, 1),
]


@pytest.mark.parametrize(("registers", "shared", "ampere", "ada"), KNOWN)
def test_known_values(registers: int, shared: int, ampere: int, ada: int) -> None:
    assert blocks_at_once(SM_86, 256, registers, shared) == ampere
    assert blocks_at_once(SM_89, 256, registers, shared) == ada


def test_every_device_has_its_processor() -> None:
    assert set(PROCESSORS) == {device.name for device in DEVICES}
    for device in DEVICES:
        limits = blocks_at_once(device, device.threads, 64, device.shared)
        assert limits == 1
        assert blocks_at_once(device, device.threads + 1, 16, 0) == 0
        assert blocks_at_once(device, 32, device.registers + 1, 0) == 0


def test_two_blocks_of_256_threads_need_at_most_128_registers_and_49_kilobytes() -> None:
    assert blocks_at_once(SM_86, 256, 128, 50_176) == 2
    assert blocks_at_once(SM_86, 256, 129, 50_176) == 1
    assert blocks_at_once(SM_86, 256, 128, 50_177) == 1


def test_small_blocks_are_bounded_by_their_number() -> None:
    assert blocks_at_once(SM_86, 32, 16, 0) == 16
    assert blocks_at_once(SM_89, 32, 16, 0) == 24


@given(st.integers(1, 1_100), st.integers(0, 260), st.integers(0, 110_000))
def test_the_checked_model_says_the_same(threads: int, registers: int, shared: int) -> None:
    own = blocks_at_once(SM_86, threads, registers, shared)
    assert own == blocks_per_processor(threads, registers, shared)
