"""The shipped convolutional network: one checkpoint on every host and in numpy, and the loss curve of torch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from alpha import __version__
from alpha.evaluate.describe import describe
from packages import open_package
from requirements import require_tool

ROOT = Path(__file__).parents[3]
SYSTEMS = ROOT / "systems"
STEPS = 20


def built(target: str, program: Path, folder: Path = ROOT) -> None:
    build = [sys.executable, "-m", "alpha", "build", "Olimpia", "--direct", "--target", target]
    subprocess.run([*build, "-o", str(program)], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The checkpoint that `python -m semantics` writes."""
    folder = tmp_path_factory.mktemp("reference")
    evaluator, _ = open_package(None, "Olimpia.Run")
    described = describe(evaluator.system("Olimpia.Run.baseline"))
    (folder / "olimpia.json").write_text(json.dumps(described), "utf-8")
    command = [sys.executable, "-m", "semantics", folder / "olimpia.json", SYSTEMS]
    options = ["--steps", str(STEPS), "--alpha", __version__, "-o", folder / "last.safetensors"]
    subprocess.run([*command, *options], cwd=ROOT / "reference", check=True, capture_output=True)
    return (folder / "last.safetensors").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86_64-linux", "aarch64-linux"])
def test_a_built_olimpia_trains_like_the_reference(
    reference: bytes, tmp_path: Path, target: str
) -> None:
    emulator = [] if target.startswith("x86") else [require_tool("qemu-aarch64-static")]
    program = tmp_path / "olimpia"
    built(target, program)
    for threads in ("2",) if emulator else ("1", "2"):
        folder = tmp_path / threads
        command = [str(program), "train", "--steps", str(STEPS), "--threads", threads]
        subprocess.run(
            [*emulator, *command, "--checkpoint", str(folder)], check=True, capture_output=True
        )
        assert (folder / f"step-{STEPS:08d}.safetensors").read_bytes() == reference


@pytest.mark.slow
def test_the_losses_follow_the_curve_of_torch(tmp_path: Path) -> None:
    """`tests/curves/olimpia_torch.py` re-derives the recorded curve from the same weights, batches and rates."""
    recorded = json.loads((ROOT / "tests/curves/olimpia_torch.json").read_text("utf-8"))["losses"]
    for part in ("Olimpia", "Digits/data"):
        shutil.copytree(SYSTEMS / part, tmp_path / part)
    shutil.copy(SYSTEMS / "alpha.lock", tmp_path)
    policy = tmp_path / "Olimpia" / "Run.alpha"
    text = policy.read_text("utf-8")
    often = text.replace("report        = { every = 50,", "report        = { every = 1,")
    assert often != text
    policy.write_text(often, "utf-8")
    program = tmp_path / "olimpia"
    built("x86_64-linux", program, tmp_path)
    command = [program, "train", "--steps", str(len(recorded)), "--checkpoint", "run"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    lines = (tmp_path / "run" / "metrics.jsonl").read_text("utf-8").splitlines()
    losses = [event["loss"] for event in map(json.loads, lines) if event.keys() == {"step", "loss"}]
    assert len(losses) == len(recorded)
    for step, (found, expected) in enumerate(zip(losses, recorded, strict=True), 1):
        assert found == pytest.approx(expected, rel=1e-3), f"step {step}"
