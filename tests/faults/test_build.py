"""Whatever goes wrong around a build, the old files stay whole and the status says what it was."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alpha.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
ALPHA = [sys.executable, "-m", "alpha"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with its own copy of Digits, as the current folder."""
    shutil.copytree(ROOT / "systems", tmp_path / "systems")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def build_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "build").iterdir())}


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("systems/Digits/Run.alpha", "named like a module"),
        ("systems/Digits/data/digits.csv", "would replace an input"),
        ("systems/alpha.lock", "named like a module or a lock"),
        ("systems/Digits/digits", "among the modules"),
        ("Own/digits", "among the modules"),
        ("systems", "is a folder"),
        ("", "is a folder"),
        ("/", "is a folder"),
        ("x" * 300, "file name too long"),
        ("loop", "is a loop of links"),
        ("/dev/null", "not a regular file"),
    ],
)
@pytest.mark.slow
def test_an_output_that_would_destroy_something_is_a_usage_error(
    package: Path, capsys: pytest.CaptureFixture[str], place: str, words: str
) -> None:
    (package / "loop").symlink_to("loop")
    before = {path: path.read_bytes() for path in package.rglob("*") if path.is_file()}
    assert run(["build", "Digits", "-o", place]) == 2
    assert words in capsys.readouterr().err
    assert {path: path.read_bytes() for path in package.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_a_place_that_cannot_be_written_ends_with_5(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (package / "file").write_text("")
    for place in ("file/digits", "/proc/digits"):
        assert run(["build", "Digits", "-o", place]) == 5
        assert "error[R0507]" in capsys.readouterr().err
    assert not (package / "build").exists()


@pytest.mark.slow
def test_a_changed_data_file_is_refused_until_the_lock_is_written_again(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = package / "systems" / "Digits" / "data" / "digits.csv"
    rows = data.read_text().splitlines(keepends=True)
    data.write_text("".join([rows[1], rows[0], *rows[2:]]))
    assert run(["build", "Digits"]) == 1
    assert "error[E0902]" in capsys.readouterr().err
    assert not (package / "build").exists()
    assert run(["lock"]) == 0
    assert run(["check", "systems/Digits"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "old", "new", "code"),
    [
        ("Model", "hidden, classes] = glorot", "hidden, hidden] = glorot", "E04"),
        ("Run", "holdOut       = 288", "holdOut       = 100", "E0905"),
        ("Run", 'file = "Digits/data/digits.csv"', 'file = "Digits/data/missing.csv"', "E0901"),
        ("Model", "== 2_410", "== 2_411", "P0001"),
        ("Learner", "import Digits.Model", "import Digits.Modle", "E0102"),
    ],
)
def test_a_wrong_program_writes_nothing(
    package: Path, capsys: pytest.CaptureFixture[str], name: str, old: str, new: str, code: str
) -> None:
    path = package / "systems" / "Digits" / f"{name}.alpha"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert run(["build", "Digits"]) == 1
    shown = capsys.readouterr()
    assert f"error[{code}" in shown.err
    assert shown.out == ""
    assert not (package / "build").exists()


@pytest.mark.slow
def test_a_build_killed_at_any_moment_leaves_whole_files(package: Path) -> None:
    assert run(["build", "Digits"]) == 0
    before = build_files(package)
    begin = time.monotonic()
    subprocess.run([*ALPHA, "build", "Digits"], check=True, capture_output=True)
    seconds = time.monotonic() - begin
    draw = random.Random(1)
    for _ in range(8):
        process = subprocess.Popen([*ALPHA, "build", "Digits"], stderr=subprocess.DEVNULL)
        time.sleep(draw.uniform(0.3, 1.0) * seconds)
        process.send_signal(draw.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.wait()
        after = build_files(package)
        assert {name: after[name] for name in before} == before
    assert run(["build", "Digits"]) == 0
    assert build_files(package) == before


@pytest.mark.slow
def test_builds_at_the_same_time_do_not_disturb_each_other(package: Path) -> None:
    processes = [
        subprocess.Popen([*ALPHA, "build", "Digits"], stderr=subprocess.PIPE) for _ in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    files = build_files(package)
    assert set(files) == {
        "digits",
        "digits.manifest.json",
        "digits.report.json",
        "X8664LinuxArtifact.alpha",
    }


@pytest.mark.slow
def test_a_build_needs_nothing_on_the_path(package: Path) -> None:
    environment = {"PATH": "", "HOME": str(package), "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
    ended = subprocess.run([*ALPHA, "build", "Digits"], env=environment, capture_output=True)
    assert ended.returncode == 0, ended.stderr.decode()


@pytest.mark.slow
def test_run_builds_once_and_passes_everything_on(package: Path) -> None:
    first = subprocess.run([*ALPHA, "run", "Digits", "--version"], capture_output=True, text=True)
    assert first.returncode == 0, first.stderr
    written = (package / "build" / "digits").stat().st_mtime_ns
    second = subprocess.run(
        [*ALPHA, "run", "Digits", "train", "--steps", "0"], capture_output=True, text=True
    )
    assert second.returncode != 70
    assert (package / "build" / "digits").stat().st_mtime_ns == written
    unknown = subprocess.run([*ALPHA, "run", "Digits", "--nope"], capture_output=True, text=True)
    assert unknown.returncode == 2
