"""A build for a card writes everything or nothing, and a refused one says what would be admitted."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alpha.cli.main import run

PAIRING = "Digits.Build.RTX3090"
COMMAND = [sys.executable, "-m", "alpha", "build", PAIRING, "--emit", "ptx"]
NAMES = {
    "digits-rtx3090.ptx",
    "digits-rtx3090.ptx.manifest.json",
    "digits-rtx3090.ptx.plan.json",
    "digits-rtx3090.ptx.report.json",
    "RTX3090Artifact.alpha",
}
SMALL = """module Small.Card exposing (card)

import Platform.Linux.Nvidia.Profile (NvidiaProfile)

source board = manual "a board" "its page"

profile card : NvidiaProfile =
  identity product            = "Small" from Architectural board
  supply instruction-set      = 86      from Architectural board
  supply registers-per-thread = 255     from Architectural board
  supply threads-per-block    = 1_024   from Architectural board
  supply video-memory-bytes   = {memory} from Architectural board
  supply registers-per-block  = 65_536  from Architectural board
"""
HOST = """module Small.Host exposing (host)

import Platform.Linux.Nvidia.PlanHost (PlanHost)
import Small.Run (baseline)

host host : PlanHost =
  policy        = baseline
  architecture  = SM86
  driverBranch  = 595
  unifiedMemory = False
  targets       = [{{ product = "Small", memory = {memory} }}]
"""
BUILD = """module Small.Build.Card

import Platform.Linux.Nvidia.Compatibility (nvidiaCompatibilityRefusal, nvidiaPlanDemands)
import Small.Card (card)
import Small.Host (host)

pairing smallCard =
  system   = host
  device   = card
  admit    = nvidiaCompatibilityRefusal (nvidiaPlanDemands host) card.supplies == ""
  output   = "small"
  artifact = "CardArtifact.alpha"
"""

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def small_package(folder: Path, memory: str) -> None:
    """A system that draws 512 rows of four numbers at a time, on a card with so much memory."""
    (folder / "Small" / "Build").mkdir(parents=True)
    rows = "".join(f"{row % 7},{row % 5},{row % 3},{row % 2}\n" for row in range(1_024))
    (folder / "Small" / "rows.csv").write_text(rows)
    (folder / "Small" / "Run.alpha").write_text(SYSTEM)
    (folder / "Small" / "Card.alpha").write_text(SMALL.format(memory=memory))
    (folder / "Small" / "Host.alpha").write_text(HOST.format(memory=memory))
    (folder / "Small" / "Build" / "Card.alpha").write_text(BUILD)
    assert run(["lock"]) == 0


SYSTEM = """module Small.Run exposing (baseline)

import Alpha.Optim (sgd)
import Alpha.Schedule (constant)

type Batch [batch] = { x : Tensor f32 [batch, 3], y : Tensor f32 [batch] }

model Line [inputs] =
  param w : Tensor f32 [inputs] = normal 0.5

  forward : Tensor f32 [batch, inputs] -> Tensor f32 [batch]
  forward x = x @ w

line : Model (Line [3])
line = Line { inputs = 3 }

learner fit =
  model     = line
  optimizer = sgd

  loss net (b : Batch [batch]) =
    let e = net.forward b.x - b.y
    mean[batch] (e * e)

policy baseline =
  learner    = fit
  data       = csv
    { file = "Small/rows.csv"
    , header = False
    , fields = [{ name = "x", columns = range 0 3 }, { name = "y", columns = [3] }]
    }
  batch      = 512
  steps      = 10
  seed       = 1
  rate       = constant 0.1
  checkpoint = { every = 10, keep = 1, folder = "runs" }
  mayMove    = [Batch]
"""


def test_a_build_killed_at_any_moment_leaves_the_old_files_or_none(folder: Path) -> None:
    begin = time.monotonic()
    subprocess.run(COMMAND, check=True, capture_output=True)
    seconds = time.monotonic() - begin
    build = folder / "build"
    before = {path.name: path.read_bytes() for path in build.iterdir()}
    assert before.keys() == NAMES
    draw = random.Random(2)
    for _ in range(6):
        process = subprocess.Popen(COMMAND, stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.3, 1.0) * seconds)
        process.send_signal(draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait()
        after = {path.name: path.read_bytes() for path in build.iterdir()}
        assert {name: after[name] for name in before} == before
    assert run(COMMAND[3:]) == 0
    assert {path.name: path.read_bytes() for path in build.iterdir()} == before


def test_a_folder_that_cannot_be_written_gets_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "build").write_text("a file")
    assert run(COMMAND[3:]) == 5
    assert "error[R0507]" in capsys.readouterr().err
    assert [path.name for path in folder.iterdir()] == ["build"]


def test_an_executable_is_refused_after_admission_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["build", PAIRING]) == 4
    assert "error[T0404]" in capsys.readouterr().err
    assert list(folder.iterdir()) == []
    small_package(folder, "2 KiB")
    assert run(["build", "Small.Build.Card"]) == 3
    assert not (folder / "build").exists()


def test_a_refused_card_is_told_the_largest_batch_that_is_admitted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_package(folder, "10 KiB")
    assert run(["build", "Small.Build.Card", "--emit", "ptx", "--format", "json"]) == 3
    report = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (report["verdict"], report["refusal"]) == ("refused", "video-memory-bytes")
    assert not (folder / "build").exists()
    (change,) = report["nearest"]
    assert change["entry"] == "batch" and change["before"] == 512
    run_file = folder / "Small" / "Run.alpha"
    for batch, status in ((change["after"] + 1, 3), (change["after"], 0)):
        run_file.write_text(SYSTEM.replace("batch      = 512", f"batch      = {batch}"))
        assert run(["build", "Small.Build.Card", "--emit", "ptx"]) == status
    assert (folder / "build" / "small.ptx").exists()
