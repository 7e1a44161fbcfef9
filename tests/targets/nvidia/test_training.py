"""Systems train on the model of sm_86 to the very checkpoints that the executables for processors write."""

from __future__ import annotations

from pathlib import Path

import pytest

from alpha import __version__
from device_runner import trained
from laws import coppelius
from targets.runtime.building import ROOT, assert_trains_to, built

SYSTEMS = ROOT / "systems"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), [("Digits", 10), ("Olimpia", 2)])
def test_a_shipped_system_has_the_bits_of_its_executable(
    name: str, steps: int, tmp_path: Path
) -> None:
    checkpoint, device = trained(None, name, steps, SYSTEMS, __version__)
    assert device.counts.thread_instructions > 0
    program = built(tmp_path, name, tmp_path / "program")
    assert_trains_to(checkpoint, program, "x86_64-linux", steps, ("2",), SYSTEMS)


@pytest.mark.slow
def test_a_small_language_model_has_the_bits_of_its_executable(tmp_path: Path) -> None:
    package = coppelius.write(tmp_path / "own", coppelius.SMALL)
    checkpoint, _ = trained(package, coppelius.NAME, 2, package, __version__)
    program = built(package, coppelius.NAME, tmp_path / "program")
    assert_trains_to(checkpoint, program, "x86_64-linux", 2, ("2",), package)
