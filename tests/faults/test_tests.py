"""`alpha test` on what goes wrong around it: too large a test, nowhere to run, a program that stops, other machines."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from pathlib import Path

import pytest

from alpha.cli.main import run

RUN = "module Main\n\ntest run = sum (fill [3] 1.0) == 3.0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Main.alpha").write_text(RUN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_test_that_needs_too_much_memory_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "module Main\n\ntest huge = sum (fill [2_000, 1_000_000] 1.0) == 3.0\n"
    (folder / "Main.alpha").write_text(text)
    assert run(["test"]) == 3
    said = capsys.readouterr().err
    assert "error[A0301]" in said and "Main.alpha:3:" in said and "smaller ones" in said


@pytest.mark.slow
def test_a_folder_that_runs_nothing_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    real = subprocess.run
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **options: (
            refuses() if "cwd" in options and len(command) == 1 else real(command, **options)
        ),
    )
    assert run(["test"]) == 2
    said = capsys.readouterr().err
    assert "permission denied" in said and "TMPDIR" in said
    assert not list(Path(tempfile.gettempdir()).glob("alpha-test-*"))


@pytest.mark.slow
def test_a_program_that_stops_is_told_with_its_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped = subprocess.CompletedProcess([], 5, b"", b"error[R0501]: this processor lacks it\n")
    monkeypatch.setattr(subprocess, "run", lambda command, **options: stopped)
    assert run(["test"]) == 5
    said = capsys.readouterr().err
    assert "error[R0501]" in said and "this processor lacks it" in said


def test_on_another_machine_the_target_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert run(["test"]) == 4
    said = capsys.readouterr().err
    assert "error[T0405]" in said and "`aarch64-darwin`" in said
    assert run(["prove"]) == 0
