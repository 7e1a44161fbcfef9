"""The files of a build are replaced all or not at all, and the object cache survives whatever happens to it."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from alpha.diagnostics.diagnostic import Refused
from alpha.driver import runtime_object
from alpha.driver.artifact import OutputFile, require_writable_place, write_all
from alpha.driver.cache import Cache, user_cache
from alpha.driver.errors import UsageError
from alpha.targets import HOSTS


def files(folder: Path, text: bytes) -> list[OutputFile]:
    return [
        OutputFile(folder / "digits.manifest.json", text + b" manifest"),
        OutputFile(folder / "digits.report.json", text + b" report"),
        OutputFile(folder / "digits", text, executable=True),
    ]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_folder_is_made_and_the_executable_obeys_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_all(files(tmp_path / "new" / "build", b"one"))
    finally:
        os.umask(before)
    folder = tmp_path / "new" / "build"
    assert (folder / "digits").stat().st_mode & 0o777 == 0o750
    assert (folder / "digits.report.json").stat().st_mode & 0o777 == 0o640
    assert len(contents(folder)) == 3


@pytest.mark.parametrize("failing", range(6))
@pytest.mark.parametrize("old", [True, False])
def test_a_failure_at_any_step_leaves_the_old_files_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, old: bool
) -> None:
    build = tmp_path / "build"
    if old:
        write_all(files(build, b"old"))
    steps = iter(range(100))
    real_sync, real_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        if next(steps) == failing:
            raise OSError(28, "No space left on device")
        real_sync(descriptor)

    def replace(self: Path, target: Path) -> Path:
        if ".alpha-" in self.name and next(steps) == failing:
            raise OSError(5, "Input/output error")
        return real_replace(self, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(Refused) as refused:
        write_all(files(build, b"new"))
    assert refused.value.diagnostics[0].code == "R0507"
    if old:
        assert contents(build) == {
            "digits": b"old",
            "digits.manifest.json": b"old manifest",
            "digits.report.json": b"old report",
        }
    else:
        assert not build.exists()


def test_leftovers_of_a_killed_build_are_cleared_and_those_of_a_living_one_are_not(
    tmp_path: Path,
) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1)
    dead = tmp_path / f".digits.alpha-{int(ended.stdout)}-00000000.tmp"
    living = tmp_path / f".digits.alpha-{os.getppid()}-00000000.tmp"
    dead.write_bytes(b"")
    living.write_bytes(b"")
    write_all(files(tmp_path, b"one"))
    assert not dead.exists()
    assert living.exists()


def test_an_output_never_replaces_an_input_a_folder_or_a_device(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("1,2\n")
    hard_link = tmp_path / "same"
    os.link(source, hard_link)
    soft_link = tmp_path / "link"
    soft_link.symlink_to(source)
    for path in (source, hard_link, soft_link, tmp_path, Path("/dev/null")):
        with pytest.raises(UsageError):
            require_writable_place(path, [source])
    require_writable_place(tmp_path / "digits", [source])


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "real", tmp_path / "link"
    link.symlink_to(target)
    write_all([OutputFile(link, b"bytes")])
    assert link.is_symlink()
    assert target.read_bytes() == b"bytes"


def test_the_cache_keeps_verifies_and_does_without(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "alpha")
    made = []

    def make() -> bytes:
        made.append(1)
        return b"object"

    assert [cache.get("a", "b", make=make) for _ in range(3)] == [b"object"] * 3
    assert len(made) == 1
    (entry,) = (tmp_path / "alpha").iterdir()
    for damaged in (b"", entry.read_bytes()[:-1], entry.read_bytes() + b"x", b"\0" * 100):
        entry.write_bytes(damaged)
        assert cache.get("a", "b", make=make) == b"object"
    assert cache.get("ab", "", make=lambda: b"other") == b"other"
    file = tmp_path / "file"
    file.write_text("")
    assert Cache(file).get("a", make=make) == b"object"


def test_builds_at_the_same_time_share_the_cache(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    payload = b"x" * 100_000
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda place: cache.get(str(place % 3), make=lambda: payload), range(60))
    assert set(found) == {payload}
    assert len(list(tmp_path.iterdir())) == 3


def test_the_cache_folder_follows_the_environment() -> None:
    assert user_cache({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/alpha")
    assert user_cache({"XDG_CACHE_HOME": "relative", "HOME": "/h"}) == Path("/h/.cache/alpha")


@pytest.mark.parametrize("home", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_nothing_is_kept_anywhere(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cache = Cache(user_cache(home))
    assert [cache.get("a", make=lambda: b"object") for _ in range(2)] == [b"object"] * 2
    assert cache.find("a") is None
    assert list(tmp_path.iterdir()) == [] and not cache.folder.exists()


@pytest.mark.parametrize("thing", ["folder", "pipe", "device", "link", "closed"])
def test_an_entry_that_is_no_file_is_none(tmp_path: Path, thing: str) -> None:
    cache = Cache(tmp_path)
    cache.keep("a", payload=b"object")
    (entry,) = tmp_path.iterdir()
    entry.unlink()
    if thing == "folder":
        entry.mkdir()
    elif thing == "pipe":
        os.mkfifo(entry)
    else:
        entry.symlink_to({"device": "/dev/zero", "link": entry, "closed": "/proc/self/mem"}[thing])
    assert cache.find("a") is None
    assert cache.get("a", make=lambda: b"object") == b"object"


def test_an_entry_of_another_user_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cache in (Cache(tmp_path), Cache(tmp_path, shipped=True)):
        cache.keep("a", payload=b"object")
        assert cache.find("a") == b"object"
        with monkeypatch.context() as patch:
            patch.setattr(os, "geteuid", lambda: os.getuid() + 1)
            assert cache.find("a") == (b"object" if cache.shipped else None)


def test_the_runtime_made_at_another_level_is_another_object(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A level changes bytes without changing a source, so a cache that forgot it would mix the two."""
    before = {runtime_object.cache_key(host) for host in HOSTS}
    monkeypatch.setattr(runtime_object, "LEVEL", runtime_object.LEVEL + 1)
    after = {runtime_object.cache_key(host) for host in HOSTS}
    assert len(before) == len(after) == len(HOSTS)
    assert not before & after
