"""The shipped language model: one checkpoint on every host and in numpy, the loss curve of torch, and a large size."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from laws import coppelius
from packages import open_package
from targets.runtime.building import (
    AARCH64,
    TARGETS,
    assert_follows_curve,
    assert_trains_to,
    built,
    reference_checkpoint,
)

STEPS = coppelius.SMALL.steps
PEAK = """\
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
"""Prints the most KiB of memory that a command held."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return coppelius.write(tmp_path_factory.mktemp("own"), coppelius.SMALL)


@pytest.fixture(scope="module")
def reference(small: Path) -> bytes:
    return reference_checkpoint(small, coppelius.NAME, STEPS, small, small)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_built_language_model_trains_like_the_reference(
    small: Path, reference: bytes, tmp_path: Path, target: str
) -> None:
    program = built(small, coppelius.NAME, tmp_path / "own", target)
    threads = ("2",) if target == AARCH64 else ("1", "2")
    assert_trains_to(reference, program, target, STEPS, threads, small)


@pytest.mark.slow
def test_the_losses_follow_the_curve_of_torch(tmp_path: Path) -> None:
    package = coppelius.write(tmp_path, coppelius.CURVE)
    program = built(package, coppelius.NAME, tmp_path / "own")
    subprocess.run([program, "train"], cwd=tmp_path, check=True, capture_output=True)
    assert_follows_curve(tmp_path / "runs" / "own" / "metrics.jsonl", "coppelius")


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


def evaluation_steps(package: Path) -> int:
    """The steps that checking the learner takes of the budget."""
    evaluator, diagnostics = open_package(package, f"{coppelius.NAME}.Run")
    module = f"{coppelius.NAME}.Learner"
    evaluator.check_module(module)
    assert not diagnostics.errors
    return evaluator._machine.account(module).steps


def test_a_large_model_is_evaluated_in_as_many_steps_as_a_small_one(
    small: Path, large: Path
) -> None:
    assert 12e6 < coppelius.LARGE.parameters < 13e6
    assert evaluation_steps(large) == evaluation_steps(small) > 0


@pytest.mark.slow
def test_the_memory_of_a_large_model_is_what_its_plan_says(large: Path) -> None:
    """The arena of the report is the largest part of what the process takes, and nothing else grows with the model."""
    program = built(large, coppelius.NAME, large / "own")
    report = json.loads(program.with_suffix(".report.json").read_text("utf-8"))
    (planned,) = [row["needed"] for row in report["rows"] if row["name"] == "memory-bytes"]
    # The system counts what a process was before it became the program, and a worker of the suite is large.
    command = [sys.executable, "-c", PEAK, program, "train"]
    measured = subprocess.run(command, cwd=large, capture_output=True, check=True, text=True)
    assert int(measured.stdout) * 1024 == pytest.approx(int(planned), rel=0.01)
