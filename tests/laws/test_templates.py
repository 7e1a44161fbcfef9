"""Each template makes a package that is in the one style, checks without a word, passes its tests, and learns."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from alpha.cli.main import run
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver import new
from alpha.driver.checking import check
from alpha.driver.errors import UsageError
from alpha.driver.formatting import format_files
from alpha.driver.lock import write_locks
from alpha.driver.new import TEMPLATES, make_package
from alpha.driver.packages import package_of
from alpha.driver.pipeline import build
from alpha.driver.request import Request
from alpha.driver.session import Session
from alpha.driver.testing import run_tests

HERE = Path(new.__file__).parent / "templates"
NAMES = ("Ab", "AVeryLongNameThatBreaksLinesWhichAShortOneDoesNotBreakAnywhere")
GOALS = {
    "mlp": (600, "heldOut.accuracy", 0.95),
    "cnn": (200, "heldOut.accuracy", 0.9),
    "gpt": (100, "heldOut.bitsPerByte", 1.0),
}
"""What each template reaches at least (bits at most), and after how many steps: no more than its policy's."""

runs_here = pytest.mark.skipif(
    (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="runs what it builds"
)


def test_every_template_is_offered_and_has_a_goal() -> None:
    assert {path.name for path in HERE.iterdir()} == set(TEMPLATES) == set(GOALS)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_is_in_the_one_style(template: str) -> None:
    diagnostics = Diagnostics()
    assert format_files((HERE / template,), diagnostics, write=False) == []
    assert not diagnostics.items


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_package_is_whole_and_checks_without_a_word(
    tmp_path: Path, template: str, name: str
) -> None:
    place = make_package(tmp_path, name, template)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
    texts = [path.read_text("utf-8") for path in place.rglob("*") if path.suffix == ".alpha"]
    assert texts and not any("Starter" in text or "starter" in text for text in texts)
    diagnostics = Diagnostics()
    assert format_files((place,), diagnostics, write=False) == []
    assert write_locks(place, diagnostics, write=False) == []
    package, names = package_of((place,))
    with Session.open(package) as session:
        check(session, names)
        assert not [*session.diagnostics.items, *diagnostics.items]


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_data_are_what_the_script_beside_them_writes(tmp_path: Path, template: str) -> None:
    place = make_package(tmp_path, "Fresh", template) / "systems" / "Fresh" / "data"
    (script,) = place.glob("*.py")
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    for path in place.iterdir():
        if path != script:
            path.unlink()
    subprocess.run([sys.executable, script.name], cwd=place, check=True)
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@runs_here
@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_package_passes_its_tests_and_learns(tmp_path: Path, template: str) -> None:
    steps, metric, goal = GOALS[template]
    place = make_package(tmp_path, "Fresh", template)
    package, names = package_of((place,))
    with Session.open(package) as session:
        found = run_tests(session, names, None)
        assert found and all(item.passed for item in found)
    with Session.open(package) as session:
        outcome = build(session, Request("Fresh"))
    assert outcome.path.name == "fresh"
    done = subprocess.run(
        [outcome.path, "train", "--steps", str(steps), "--log", "jsonl"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    reached = [line[metric] for line in lines if metric in line][-1]
    assert reached <= goal if metric.endswith("bitsPerByte") else reached >= goal


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my net", "such as `MyNet`"),
        ("spirals", "such as `Spirals`"),
        ("3d", "cannot name a system"),
        ("", "cannot name a system"),
        ("../Up", "such as `Up`"),
        ("A.B", "such as `AB`"),
        ("Ünicode", "cannot name a system"),
        ("X" * 65, "at most 64"),
        ("Alpha", "modules of Alpha"),
        ("Reference", "modules of Alpha"),
        ("Digits", "comes with Alpha"),
    ],
)
def test_a_name_that_no_system_may_have_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(UsageError) as refused:
        make_package(tmp_path, name, "mlp")
    assert words in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "Empty").mkdir()
    assert make_package(tmp_path, "Empty", "mlp").is_dir()
    (tmp_path / "File").write_text("kept")
    (tmp_path / "Link").symlink_to("nowhere")
    for name in ("Empty", "File", "Link"):
        before = sorted(path.name for path in tmp_path.rglob("*"))
        with pytest.raises(UsageError, match="already"):
            make_package(tmp_path, name, "mlp")
        assert sorted(path.name for path in tmp_path.rglob("*")) == before
    assert (tmp_path / "File").read_text() == "kept"


def test_a_failure_or_an_interruption_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    for failure in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def fails(place: Path, data: bytes, failure: BaseException = failure) -> int:
            written.append(place)
            if len(written) % 4 == 0:
                raise failure
            return len(data)

        with monkeypatch.context() as patched:
            patched.setattr(Path, "write_bytes", fails)
            with pytest.raises((Refused, KeyboardInterrupt)):
                make_package(tmp_path, "Half", "mlp")
        assert list(tmp_path.iterdir()) == []
    assert len(written) == 8


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o500)
    assert run(["new", "Spirals"]) == 5
    assert "R0507" in capsys.readouterr().err
