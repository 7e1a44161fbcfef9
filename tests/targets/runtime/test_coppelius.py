"""The shipped language model: one checkpoint on every host and in numpy, the loss curve of torch, and a large size."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest

from alpha import __version__
from alpha.evaluate.describe import describe
from laws import coppelius
from packages import open_package
from requirements import require_tool

ROOT = Path(__file__).parents[3]
POLICY = f"{coppelius.NAME}.Run.baseline"


def built(folder: Path, target: str = "x86_64-linux") -> Path:
    program = folder / target
    command = [sys.executable, "-m", "alpha", "build", coppelius.NAME, "--direct"]
    options = ["--target", target, "-o", str(program)]
    subprocess.run([*command, *options], cwd=folder, check=True, capture_output=True)
    return program


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coppelius.write(tmp_path_factory.mktemp("own"), coppelius.SMALL)


@pytest.fixture(scope="module")
def reference(small: Path) -> bytes:
    """The checkpoint that `python -m semantics` writes."""
    evaluator, _ = open_package(small, f"{coppelius.NAME}.Run")
    described = small / "own.json"
    described.write_text(json.dumps(describe(evaluator.system(POLICY))), "utf-8")
    command = [sys.executable, "-m", "semantics", described, small]
    options = ["--steps", str(coppelius.SMALL.steps), "--alpha", __version__]
    last = small / "last.safetensors"
    subprocess.run(
        [*command, *options, "-o", last], cwd=ROOT / "reference", check=True, capture_output=True
    )
    return last.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("target", ["x86_64-linux", "aarch64-linux"])
def test_a_built_language_model_trains_like_the_reference(
    small: Path, reference: bytes, tmp_path: Path, target: str
) -> None:
    emulator = [] if target.startswith("x86") else [require_tool("qemu-aarch64-static")]
    program = built(small, target)
    for threads in ("2",) if emulator else ("1", "2"):
        command = [*emulator, str(program), "train", "--threads", threads, "--data", str(small)]
        subprocess.run(
            [*command, "--checkpoint", str(tmp_path / threads)], check=True, capture_output=True
        )
        last = tmp_path / threads / f"step-{coppelius.SMALL.steps:08d}.safetensors"
        assert last.read_bytes() == reference


@pytest.mark.slow
def test_the_losses_follow_the_curve_of_torch(tmp_path: Path) -> None:
    """`tests/curves/coppelius_torch.py` re-derives the recorded curve from the same weights, batches and masks."""
    record = ROOT / "tests/curves/coppelius_torch.json"
    recorded = json.loads(record.read_text("utf-8"))["losses"]
    program = built(coppelius.write(tmp_path, coppelius.CURVE))
    subprocess.run([program, "train"], cwd=tmp_path, check=True, capture_output=True)
    lines = (tmp_path / "runs" / "own" / "metrics.jsonl").read_text("utf-8").splitlines()
    losses = [event["loss"] for event in map(json.loads, lines) if event.keys() == {"step", "loss"}]
    assert len(losses) == len(recorded)
    for step, (found, expected) in enumerate(zip(losses, recorded, strict=True), 1):
        assert found == pytest.approx(expected, rel=1e-3), f"step {step}"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package whose model has 12 million parameters, with four windows of ids."""
    size = coppelius.LARGE
    ids = numpy.random.default_rng(0).integers(0, size.vocab, (4, size.context + 1), numpy.int32)
    files = {}
    for name, rows in (("ids.npy", ids[:, :-1]), ("next.npy", ids[:, 1:])):
        content = io.BytesIO()
        numpy.save(content, numpy.ascontiguousarray(rows))
        files[name] = content.getvalue()
    return coppelius.write(tmp_path_factory.mktemp("large"), size, files)


def test_a_large_model_is_checked_at_once(large: Path) -> None:
    """The steps of evaluation do not grow with the number of parameters, so neither does the time."""
    evaluator, diagnostics = open_package(large, f"{coppelius.NAME}.Run")
    started = time.process_time()
    evaluator.check_module(f"{coppelius.NAME}.Learner")
    evaluator.check_module(f"{coppelius.NAME}.Run")
    assert not diagnostics.errors
    assert 12e6 < coppelius.LARGE.parameters < 13e6
    assert time.process_time() - started < 5


@pytest.mark.slow
def test_the_memory_of_a_large_model_is_what_its_plan_says(large: Path) -> None:
    """The arena of the report is the largest part of what the process takes, and nothing else grows with the model."""
    program = built(large)
    report = json.loads(program.with_suffix(".report.json").read_text("utf-8"))
    (planned,) = [row["needed"] for row in report["rows"] if row["name"] == "memory-bytes"]
    with subprocess.Popen([program, "train"], cwd=large, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert used.ru_maxrss * 1024 == pytest.approx(int(planned), rel=0.01)
