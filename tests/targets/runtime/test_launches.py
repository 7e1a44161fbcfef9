"""Regions that are launched together can be launched one by one: a replay names the one that went wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from packages import ROWS, TINY, write_package
from targets.runtime.building import built


def trained(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A run of the package `Tiny` with another text."""
    assert text != TINY
    write_package(folder, {"Tiny.Run": text}, {"Tiny/rows.csv": ROWS})
    program = built(folder, "Tiny", folder / "tiny")
    return subprocess.run([program, "train"], cwd=folder, capture_output=True, text=True)


@pytest.mark.slow
def test_a_replay_names_the_region_in_the_middle_of_a_launch(tmp_path: Path) -> None:
    broken = TINY.replace("constant 0.1", "constant 1e30")
    done = trained(tmp_path, broken)
    assert done.returncode == 5
    assert "error[R0504]" in done.stderr
    line = 1 + broken[: broken.index("mean[batch] (e * e)")].count("\n")
    assert f"the one of Tiny/Run.alpha:{line}:18 (step.3.mul) in step 2" in done.stderr


@pytest.mark.slow
def test_a_replay_names_the_turn_of_a_loop(tmp_path: Path) -> None:
    """Errors between 0.03 and 6, times 10^4, overflow when they are squared for the fourth time."""
    squares = "iterate 6 (fn v -> v * v) (e * 10_000.0)"
    broken = TINY.replace("mean[batch] (e * e)", f"mean[batch] ({squares})")
    done = trained(tmp_path, broken)
    assert done.returncode == 5
    line = 1 + broken[: broken.index(squares)].count("\n")
    column = 1 + broken.splitlines()[line - 1].index("v * v")
    assert f"the one of Tiny/Run.alpha:{line}:{column} (" in done.stderr
    assert ".mul) in step 1, at index 3 of 0 ... 5\n" in done.stderr
