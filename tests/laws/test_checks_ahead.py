"""Two processes that check a large package ahead of the check change nothing of what is said or kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alpha.driver.ahead import shares
from bench.synthetic import imports_of, name_of, write, write_module
from laws.test_edited_packages import edit

COUNT = 24

CHECK = """
import os, signal, sys
import alpha.driver.ahead as ahead, alpha.driver.remembered as r, alpha.driver.units as u
r.fingerprint = u.fingerprint = lambda: "this compiler"
u.WORTH_IT = 2
ahead.WORTH_TWO = 2
ahead._two_processors = lambda: sys.argv[2] != "one"
look, first, seen = ahead._Half._look_at, os.getpid(), []

def look_at(half, name):
    seen.append(name)
    if len(seen) == 8 and (sys.argv[2] == "dies") and os.getpid() != first:
        os.kill(os.getpid(), signal.SIGKILL)
    return look(half, name)

ahead._Half._look_at = look_at
from alpha.cli.main import run
status = run(["check", sys.argv[1]])
print(len(seen), file=sys.stderr)
sys.exit(status)
"""


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONHASHSEED": "0"}


def answer(folder: Path, cache: Path, how: str) -> tuple[int, str, int]:
    """The status of a check, what it says, and how many modules its first process looked at ahead."""
    done = subprocess.run(
        [sys.executable, "-c", CHECK, folder, how],
        env=environment(cache),
        capture_output=True,
        text=True,
        check=False,
    )
    said, _, seen = done.stderr.rstrip().rpartition("\n")
    return done.returncode, done.stdout + said, int(seen)


def package(folder: Path, *kinds: str) -> Path:
    folder.mkdir()
    write(folder, COUNT)
    for number, kind in enumerate(kinds):
        edit(folder, kind, 5 + 6 * number)
    return folder


def entries(cache: Path) -> set[str]:
    return {entry.name for entry in (cache / "alpha").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "kinds",
    [
        (),
        ("fault", "unused", "false"),
        ("unread", "hidden", "misused"),
        ("missing",),
        ("renamed", "deep", "unsigned fault"),
    ],
    ids="-".join,
)
def test_two_processes_say_what_one_says(kinds: tuple[str, ...], tmp_path: Path) -> None:
    folder = package(tmp_path / "package", *kinds)
    *one, seen = answer(folder, tmp_path / "one", "one")
    assert seen == 0
    *two, seen = answer(folder, tmp_path / "two", "two")
    assert two == one
    if "missing" not in kinds:  # then the order of imports is not known
        assert 0 < seen < COUNT
        assert entries(tmp_path / "two") <= entries(tmp_path / "one")
    if not kinds:
        assert len(entries(tmp_path / "two")) >= COUNT
    for number in range(COUNT):
        write_module(folder, number)
    assert answer(folder, tmp_path / "two", "two")[:2] == (0, f"checked {COUNT} modules")


@pytest.mark.slow
def test_one_process_says_it_all_when_the_other_dies(tmp_path: Path) -> None:
    folder = package(tmp_path / "package", "fault")
    *one, _ = answer(folder, tmp_path / "one", "one")
    *two, seen = answer(folder, tmp_path / "two", "dies")
    assert seen and two == one


@pytest.mark.slow
def test_a_killed_check_leaves_no_process_and_a_sound_cache(tmp_path: Path) -> None:
    folder, cache = package(tmp_path / "package"), tmp_path / "cache"
    for wait in (0.5, 0.8, 1.1):
        process = subprocess.Popen(
            [sys.executable, "-c", CHECK, folder, "two"],
            env=environment(cache),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for_end(process.pid)
    assert answer(folder, cache, "two")[:2] == (0, f"checked {COUNT} modules")


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ends_both_processes_is_told_once(ending: signal.Signals, tmp_path: Path) -> None:
    folder, cache = package(tmp_path / "package"), tmp_path / "cache"
    process = subprocess.Popen(
        [sys.executable, "-c", CHECK, folder, "two"],
        env=environment(cache),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while process.poll() is None and (not cache.exists() or len(entries(cache)) < 6):
        time.sleep(0.01)  # until both are at work
    os.killpg(process.pid, ending)
    said = process.communicate()[1]
    assert "Traceback" not in said, said
    wait_for_end(process.pid)


def wait_for_end(group: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the second process outlives the first")


def test_both_processes_have_work_from_the_start_to_the_end() -> None:
    names = [name_of(number) for number in range(600)]
    imports = {names[n]: [names[k] for k in imports_of(n)] for n in range(600)}
    share = shares(names, imports, dict.fromkeys(names, 10_000))
    free, done = [0, 0], dict[str, int]()
    for name in names:
        start = max(free[share[name]], *(done[each] for each in imports[name]), 0)
        free[share[name]] = done[name] = start + 1
    assert max(free) < 0.6 * len(names)
