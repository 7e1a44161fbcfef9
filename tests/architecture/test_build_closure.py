"""A build reads what its manifest states and nothing else, and does not know the folder it runs in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from alpha.base.digest import sha256
from alpha.driver.manifest import stated_digests
from packages import ROWS, TINY, write_package

ROOT = Path(__file__).resolve().parents[2]

# Prints every file that is opened for reading, then runs the command line.
WATCH = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append((args[0], args[2])) if event == "open" else None)
from alpha.cli.main import run
status = run(sys.argv[1:])
sys.stderr = sys.__stderr__
for path, flags in opened:
    if isinstance(path, (str, bytes)) and not flags & 3:
        print("OPENED", path if isinstance(path, str) else path.decode())
sys.exit(status)
"""


def watched_build(root: Path, folder: Path, *options: str) -> list[Path]:
    """Builds Digits with the compiler in `root`; the files opened for reading, resolved."""
    environment = dict(os.environ, PYTHONPATH=str(root / "compiler"))
    ended = subprocess.run(
        [sys.executable, "-c", WATCH, "build", "Digits", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    return [
        (folder / line.removeprefix("OPENED ")).resolve()
        for line in lines
        if line.startswith("OPENED ")
    ]


def stated(folder: Path) -> dict[tuple[str, str], str]:
    document = json.loads((folder / "build" / "digits.manifest.json").read_text("utf-8"))
    found = stated_digests(document)
    assert found is not None
    assert found[0] == sha256((folder / "build" / "digits").read_bytes())
    return found[1]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiler and what it ships in another folder, without reference/ and tests/."""
    place = tmp_path_factory.mktemp("elsewhere")
    for name in ("compiler", "systems", "platforms"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    return place


OTHER_PAIRINGS = ("AArch64Linux", "RTX3090")
"""Those of Digits that are looked at when it is built for an x86-64 host, and not taken."""


def beyond(pairings: list[Path]) -> set[Path]:
    """Modules that only these pairings need: themselves, and the platforms that they import."""
    wanted = set(imported(ROOT / "systems/Digits/Build/X8664Linux.alpha"))
    return {path for pairing in pairings for path in imported(pairing)} - wanted


def imported(module: Path) -> list[Path]:
    """A module's file and those of all that it imports from systems and platforms."""
    found = [module]
    for path in found:  # grows as it is walked
        for name in re.findall(r"^import ([A-Za-z0-9.]+)", path.read_text("utf-8"), re.MULTILINE):
            for root in ("systems", "platforms"):
                place = ROOT / root / (name.replace(".", "/") + ".alpha")
                if place.is_file() and place not in found:
                    found.append(place)
    return found


@pytest.mark.slow
def test_every_file_opened_below_a_source_root_is_in_the_manifest(tmp_path: Path) -> None:
    opened = watched_build(ROOT, tmp_path)
    roots = [
        ROOT / "systems",
        ROOT / "platforms",
        ROOT / "compiler" / "alpha" / "library",
        tmp_path,
    ]
    build = tmp_path / "build"
    read = {
        path
        for path in opened
        if any(path.is_relative_to(root) for root in roots) and not path.is_relative_to(build)
    }
    others = [ROOT / f"systems/Digits/Build/{name}.alpha" for name in OTHER_PAIRINGS]
    taken = {path for path in read if path.is_file() and path not in beyond(others)}
    assert {sha256(path.read_bytes()) for path in taken} == set(stated(tmp_path).values())
    assert not any(path.is_relative_to(ROOT / "reference") for path in opened)


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_the_folder_the_locale_or_the_reference(
    tmp_path: Path, copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there" / "deeper"
    here.mkdir()
    there.mkdir(parents=True)
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    watched_build(ROOT, here)
    monkeypatch.setenv("PYTHONHASHSEED", "2")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    watched_build(copied, there)
    for name in (
        "digits",
        "digits.manifest.json",
        "digits.report.json",
        "X8664LinuxArtifact.alpha",
    ):
        assert (here / "build" / name).read_bytes() == (there / "build" / name).read_bytes(), name


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_the_name_of_the_package(tmp_path: Path) -> None:
    outputs = []
    for name in ("one", "another"):
        write_package(tmp_path / name, {"Tiny.Run": TINY}, {"Tiny/rows.csv": ROWS})
        subprocess.run(
            [sys.executable, "-m", "alpha", "build", "Tiny"], cwd=tmp_path / name, check=True
        )
        build = tmp_path / name / "build"
        outputs.append({path.name: path.read_bytes() for path in build.iterdir()})
        document = json.loads(outputs[-1]["tiny.manifest.json"])
        stated = stated_digests(document)
        assert stated is not None
        assert ("lock", "alpha.lock") in stated[1]
    assert outputs[0] == outputs[1]


@pytest.mark.slow
def test_the_artifact_module_checks(tmp_path: Path) -> None:
    watched_build(ROOT, tmp_path)
    ended = subprocess.run(
        [sys.executable, "-m", "alpha", "check", "build/X8664LinuxArtifact.alpha"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
