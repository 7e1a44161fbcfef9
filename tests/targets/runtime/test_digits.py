"""The shipped system through the whole compiler: the executable's checkpoint is the reference's, byte for byte."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from targets.runtime.building import ROOT, TARGETS, assert_trains_to, built, reference_checkpoint

SYSTEMS = ROOT / "systems"
STEPS = 200
"""More than one epoch."""


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    scratch = tmp_path_factory.mktemp("reference")
    return reference_checkpoint(None, "Digits", STEPS, SYSTEMS, scratch)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_built_digits_trains_like_the_reference(
    reference: bytes, tmp_path: Path, target: str
) -> None:
    program = built(ROOT, "Digits", tmp_path / "digits", target)
    assert_trains_to(reference, program, target, STEPS, ("1", "2"), SYSTEMS)


@pytest.mark.slow
def test_a_killed_digits_resumes_to_the_same_bits(tmp_path: Path) -> None:
    program = built(ROOT, "Digits", tmp_path / "digits")
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    subprocess.run([program, "--checkpoint", straight], check=True, capture_output=True)
    process = subprocess.Popen([program, "--checkpoint", killed], stdout=subprocess.DEVNULL)
    while not (killed / "step-00000500.safetensors").exists() and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it was killed"
    resume = [program, "resume", "--checkpoint", killed]
    subprocess.run(resume, check=True, capture_output=True)
    last = "step-00001500.safetensors"
    assert (killed / last).read_bytes() == (straight / last).read_bytes()
    metrics = "metrics.jsonl"
    assert (killed / metrics).read_bytes() == (straight / metrics).read_bytes()
