"""The shipped system through the whole compiler: the executable's checkpoint is the reference's, byte for byte."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from alpha import __version__
from alpha.check.modules import SourceRoots, load
from alpha.check.program import check
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.evaluate.describe import describe
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess
from alpha.evaluate.system import System
from requirements import require_tool
from semantics import train

ROOT = Path(__file__).parents[3]
STEPS = 200


def digits() -> System:
    diagnostics = Diagnostics()
    modules = load(SourceRoots.open(None), ["Digits.Run"], diagnostics)
    files = FileAccess.of_modules({module.name: module.path for module in modules})
    evaluator = Evaluator(
        check(modules, diagnostics), files=files, diagnostics=diagnostics, demands=lambda *_: ()
    )
    return evaluator.system("Digits.Run.baseline")


def built(target: str, program: Path) -> None:
    build = [sys.executable, "-m", "alpha", "build", "Digits", "--direct", "--target", target]
    subprocess.run([*build, "-o", str(program)], cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def reference() -> bytes:
    """The checkpoint after some steps of the numpy reference, more than one epoch of them."""
    system = digits()
    rows: dict[str, Any] = {field.name: field.rows for field in system.data.fields}
    run = train.start(json.loads(json.dumps(describe(system))), rows)
    train.advance(run, STEPS)
    return train.checkpoint(run, __version__)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86_64-linux", "aarch64-linux"])
def test_a_built_digits_trains_like_the_reference(
    reference: bytes, tmp_path: Path, target: str
) -> None:
    emulator = [] if target.startswith("x86") else [require_tool("qemu-aarch64-static")]
    program = tmp_path / "digits"
    built(target, program)
    for threads in ("1", "2"):
        folder = tmp_path / threads
        command = [str(program), "train", "--steps", str(STEPS), "--threads", threads]
        subprocess.run(
            [*emulator, *command, "--checkpoint", str(folder)], check=True, capture_output=True
        )
        assert (folder / f"step-{STEPS:08d}.safetensors").read_bytes() == reference


@pytest.mark.slow
def test_a_killed_digits_resumes_to_the_same_bits(tmp_path: Path) -> None:
    program = tmp_path / "digits"
    built("x86_64-linux", program)
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
