"""Systems through the whole compiler and through the reference, which have to agree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from alpha import __version__
from alpha.evaluate.describe import describe
from packages import open_package
from requirements import require_tool

ROOT = Path(__file__).parents[3]
X86, AARCH64 = TARGETS = ("x86_64-linux", "aarch64-linux")


def alpha(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    """A command as a user types it in `folder`."""
    command = [sys.executable, "-m", "alpha", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False)


def built(folder: Path, name: str, program: Path, target: str = X86) -> Path:
    """`program`, built from the system `name` of the package in `folder` or of those that are shipped."""
    done = alpha(folder, "build", name, "--direct", "--target", target, "-o", program)
    assert done.returncode == 0, done.stderr.decode()
    return program


def reference_checkpoint(
    package: Path | None, name: str, steps: int, data: Path, scratch: Path
) -> bytes:
    """The checkpoint that `python -m semantics` writes for the policy `baseline` of a system.

    `package` is None for a shipped one. What it gets is a description in `scratch` and files below `data`.
    """
    evaluator, _ = open_package(package, f"{name}.Run")
    described, last = scratch / "described.json", scratch / "last.safetensors"
    description = describe(evaluator.system(f"{name}.Run.baseline"))
    described.write_text(json.dumps(description), "utf-8")
    command = [sys.executable, "-m", "semantics", described, data]
    options = ["--steps", str(steps), "--alpha", __version__, "-o", last]
    subprocess.run([*command, *options], cwd=ROOT / "reference", check=True, capture_output=True)
    return last.read_bytes()


def assert_trains_to(
    checkpoint: bytes, program: Path, target: str, steps: int, threads: Sequence[str], data: Path
) -> None:
    """The program writes these bytes after so many steps, with each number of threads."""
    emulator = [require_tool("qemu-aarch64-static")] if target == AARCH64 else []
    for count in threads:
        folder = program.parent / f"threads-{count}"
        command = [*emulator, program, "train", "--steps", str(steps), "--threads", count]
        options = ["--data", data, "--checkpoint", folder]
        subprocess.run([*command, *options], check=True, capture_output=True)
        assert (folder / f"step-{steps:08d}.safetensors").read_bytes() == checkpoint, count


def assert_follows_curve(metrics: Path, curve: str) -> None:
    """The losses of a run, one a step, are those that torch found from the same weights (`tests/curves/`)."""
    record = ROOT / "tests" / "curves" / f"{curve}_torch.json"
    recorded = json.loads(record.read_text("utf-8"))["losses"]
    events = map(json.loads, metrics.read_text("utf-8").splitlines())
    losses = [event["loss"] for event in events if event.keys() == {"step", "loss"}]
    assert len(losses) == len(recorded)
    for step, (found, expected) in enumerate(zip(losses, recorded, strict=True), 1):
        assert found == pytest.approx(expected, rel=1e-3), f"step {step}"
