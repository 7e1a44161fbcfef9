"""The shipped convolutional network: one checkpoint on every host and in numpy, and the loss curve of torch."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from targets.runtime.building import (
    AARCH64,
    ROOT,
    TARGETS,
    assert_follows_curve,
    assert_trains_to,
    built,
    reference_checkpoint,
)

SYSTEMS = ROOT / "systems"
STEPS = 20
CURVE_STEPS = 100


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    scratch = tmp_path_factory.mktemp("reference")
    return reference_checkpoint(None, "Olimpia", STEPS, SYSTEMS, scratch)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_built_olimpia_trains_like_the_reference(
    reference: bytes, tmp_path: Path, target: str
) -> None:
    program = built(ROOT, "Olimpia", tmp_path / "olimpia", target)
    threads = ("2",) if target == AARCH64 else ("1", "2")
    assert_trains_to(reference, program, target, STEPS, threads, SYSTEMS)


@pytest.mark.slow
def test_the_losses_follow_the_curve_of_torch(tmp_path: Path) -> None:
    for part in ("Olimpia", "Digits/data"):
        shutil.copytree(SYSTEMS / part, tmp_path / part)
    shutil.copy(SYSTEMS / "alpha.lock", tmp_path)
    policy = tmp_path / "Olimpia" / "Run.alpha"
    text = policy.read_text("utf-8")
    often = text.replace("report        = { every = 50,", "report        = { every = 1,")
    assert often != text
    policy.write_text(often, "utf-8")
    program = built(tmp_path, "Olimpia", tmp_path / "olimpia")
    command = [program, "train", "--steps", str(CURVE_STEPS), "--checkpoint", "run"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert_follows_curve(tmp_path / "run" / "metrics.jsonl", "olimpia")
