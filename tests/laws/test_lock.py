"""`alpha lock` records what modules cite, and nothing else writes a lock."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from alpha.base.digest import sha256
from alpha.cli.main import run
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.driver.lock import write_locks
from alpha.evaluate.files import read_lock

ROOT = Path(__file__).resolve().parents[2]
MODULE = """module Main

source record = run "records/one.json"

digits = csv { file = "data/rows.csv", header = False, fields = [] }

unrelated = { file = "nothing.csv" }
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in (
        ("Main.alpha", MODULE),
        ("records/one.json", "{}\n"),
        ("data/rows.csv", "1\n"),
    ):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_lock_holds_the_digest_of_each_cited_file(package: Path) -> None:
    assert write_locks(package, Diagnostics(), write=True) == [Path("alpha.lock")]
    assert read_lock(package)[1] == {
        "data/rows.csv": sha256(b"1\n"),
        "records/one.json": sha256(b"{}\n"),
    }
    assert write_locks(package, Diagnostics(), write=True) == []
    checked = subprocess.run(["sha256sum", "-c", "alpha.lock"], cwd=package, capture_output=True)
    assert checked.returncode == 0


def test_a_changed_file_changes_its_line_and_check_only_tells(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(package)
    assert run(["lock"]) == 0
    before = (package / "alpha.lock").read_bytes()
    (package / "data/rows.csv").write_text("2\n")
    assert run(["lock", "--check"]) == 1
    assert (package / "alpha.lock").read_bytes() == before
    assert run(["lock"]) == 0
    assert read_lock(package)[1]["data/rows.csv"] == sha256(b"2\n")


@pytest.mark.parametrize("path", ["missing.csv", "../outside.csv", "/etc/passwd", "data"])
def test_a_file_that_cannot_be_cited_is_refused_and_the_old_lock_stays(
    package: Path, monkeypatch: pytest.MonkeyPatch, path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(package)
    assert run(["lock"]) == 0
    before = (package / "alpha.lock").read_bytes()
    (package / "Main.alpha").write_text(MODULE.replace("data/rows.csv", path))
    assert run(["lock"]) == 1
    assert "error[E0901]" in capsys.readouterr().err
    assert (package / "alpha.lock").read_bytes() == before


def test_a_link_out_of_the_package_cites_nothing(
    package: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(package)
    outside = tmp_path_factory.mktemp("outside") / "rows.csv"
    outside.write_text("1\n")
    (package / "data/rows.csv").unlink()
    (package / "data/rows.csv").symlink_to(outside)
    assert run(["lock"]) == 1
    assert "leaves the source root" in capsys.readouterr().err
    assert not (package / "alpha.lock").exists()


def test_a_lock_that_is_no_text_is_written_anew_and_one_that_is_a_folder_is_named(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(package)
    (package / "alpha.lock").write_bytes(b"\xff\n")
    assert run(["lock"]) == 0
    assert read_lock(package)[1] != {}
    (package / "alpha.lock").unlink()
    (package / "alpha.lock").mkdir()
    capsys.readouterr()
    assert run(["lock"]) == 2
    assert "alpha.lock`: is a directory" in capsys.readouterr().err


def test_the_shipped_locks_are_current() -> None:
    for folder in ("systems", "platforms"):
        if (ROOT / folder).is_dir():
            diagnostics = Diagnostics()
            assert write_locks(ROOT / folder, diagnostics, write=False) == []
            assert diagnostics.items == []
