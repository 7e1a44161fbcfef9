"""Digits, from its source to graphs, trains in the reference with the bits that the law gives."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alpha.check.modules import SourceRoots, load
from alpha.check.program import check
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.evaluate.describe import describe
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess
from alpha.evaluate.system import System
from alpha.graph.passes import optimise
from alpha.graph.text import to_text
from semantics import train

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def digits() -> System:
    diagnostics = Diagnostics()
    modules = load(SourceRoots.open(None), ["Digits.Run"], diagnostics)
    program = check(modules, diagnostics)
    files = FileAccess.of_modules({module.name: module.path for module in modules})
    evaluator = Evaluator(program, files=files, diagnostics=diagnostics, demands=lambda *_: ())
    return evaluator.system("Digits.Run.baseline")


@pytest.mark.slow
def test_digits_trains_alike_before_and_after_the_passes(digits: System) -> None:
    described = json.loads(json.dumps(describe(digits)))
    rows: dict[str, Any] = {field.name: field.rows for field in digits.data.fields}
    lowered = {
        **described,
        "graphs": {graph.name: to_text(optimise(graph)) for graph in digits.graphs},
    }
    checkpoints = []
    for description in (described, lowered):
        run = train.start(description, rows)
        train.advance(run, 25)
        checkpoints.append(train.checkpoint(run, "0"))
    assert checkpoints[0] == checkpoints[1]


@pytest.mark.slow
def test_the_reference_runs_from_the_command_line(digits: System, tmp_path: Path) -> None:
    described = tmp_path / "digits.json"
    described.write_text(json.dumps(describe(digits)))
    output = tmp_path / "out.safetensors"
    command = [
        sys.executable,
        "-m",
        "semantics",
        str(described),
        str(ROOT / "systems"),
        "--steps",
        "3",
        "-o",
        str(output),
    ]
    found = subprocess.run(
        command, cwd=ROOT / "reference", capture_output=True, text=True, check=True
    )
    rows: dict[str, Any] = {field.name: field.rows for field in digits.data.fields}
    run = train.start(json.loads(described.read_text()), rows)
    train.advance(run, 3)
    assert output.read_bytes() == train.checkpoint(run, "0.1.0")
    assert "step 3" in found.stdout and "metric.accuracy" in found.stdout


@pytest.mark.slow
def test_the_loss_follows_the_curve_of_torch(digits: System) -> None:
    """`tests/curves/digits_torch.py` re-derives the recorded curve from the same weights, batches and rates."""
    recorded = json.loads((ROOT / "tests/curves/digits_torch.json").read_text("utf-8"))["losses"]
    rows: dict[str, Any] = {field.name: field.rows for field in digits.data.fields}
    run = train.start(json.loads(json.dumps(describe(digits))), rows)
    train.advance(run, len(recorded))
    for step, (found, expected) in enumerate(zip(run.losses, recorded, strict=True), 1):
        assert float(found) == pytest.approx(expected, rel=1e-4), f"step {step}"
