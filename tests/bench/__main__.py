"""Prints the table of figures. Run it on a quiet machine; the ratios matter more than the seconds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Figure, median, peak_resident, run
from bench.synthetic import write, write_module

PEER_STEPS = 300
RUNS = int(os.environ.get("ALPHA_BENCH_RUNS", "5"))
ALPHA = [sys.executable, "-m", "alpha"]
KIB, MIB = 1024.0, 1024.0**2


def compiler(folder: Path) -> Iterator[Figure]:
    """Cold and warm commands. Cold: no object in the cache; the file system's own cache is warm."""
    cache = folder / "cache"
    environment = {"XDG_CACHE_HOME": str(cache)}
    build = [*ALPHA, "build", "Digits"]

    def cold() -> float:
        shutil.rmtree(cache, ignore_errors=True)
        return run(build, folder, environment).wall

    run(build, folder, environment)  # byte code of the compiler itself
    seconds = median(RUNS, cold)
    brought = len(list((cache / "alpha").iterdir())) == 3  # two modules of kernels, and the tables
    note = "the runtime's object came with the install" if brought else "and the runtime's object"
    yield Figure("cold alpha build Digits", seconds, 1.2, "s", f"wall, empty cache; {note}")
    yield Figure(
        "warm alpha build Digits",
        median(RUNS, lambda: run(build, folder, environment).wall),
        None,
        "s",
        "wall",
    )
    imports = [sys.executable, "-c", "import alpha.driver.pipeline, alpha.cli.main"]
    bare = median(RUNS, lambda: run([sys.executable, "-c", ""], folder).wall)
    yield Figure(
        "imports of alpha build",
        median(RUNS, lambda: run(imports, folder).wall) - bare,
        0.25,
        "s",
        "without the interpreter's start",
    )
    package = own_package(folder)
    run([*ALPHA, "lock"], package, environment)
    check = [*ALPHA, "check"]
    run(check, package, environment)
    yield Figure(
        "warm alpha check",
        median(RUNS, lambda: run(check, package, environment).wall),
        0.25,
        "s",
        "wall",
    )


LARGE = int(os.environ.get("ALPHA_BENCH_MODULES", "2000"))


def large_package(folder: Path) -> Iterator[Figure]:
    """A package of many small modules: checked from nothing, and after one edit."""
    package = folder / "large"
    package.mkdir()
    write(package, LARGE)
    environment = {"XDG_CACHE_HOME": str(folder / "large-cache")}
    check = [*ALPHA, "check"]
    first = run(check, package, environment).wall
    yield Figure(f"alpha check of {LARGE:,} modules", first, 20, "s", "wall, empty cache, once")
    changes = iter(range(RUNS))

    def edited() -> float:
        write_module(package, LARGE // 2, change=("body", "")[next(changes) % 2])
        return run(check, package, environment).wall

    seconds = median(RUNS, edited)
    yield Figure("alpha check after one edit", seconds, 1, "s", f"wall, {LARGE:,} modules")


def own_package(folder: Path) -> Path:
    """A user's package: Digits under another name, so that nothing of it is a shipped module."""
    mine = folder / "package" / "Mine"
    shipped = Path(__file__).resolve().parents[2] / "systems" / "Digits"
    shutil.copytree(shipped, mine, ignore=shutil.ignore_patterns("Build"))
    for path in mine.glob("*.alpha"):
        path.write_text(path.read_text("utf-8").replace("Digits", "Mine"), "utf-8")
    return mine.parent


def executable(folder: Path) -> Iterator[Figure]:
    path = folder / "build" / "digits"
    manifest = json.loads((folder / "build" / "digits.manifest.json").read_text())
    properties = {entry["name"]: entry["value"] for entry in manifest["metadata"]["properties"]}
    places = iter(range(1_000_000))

    def fresh() -> list[str]:
        return ["--checkpoint", str(folder / "runs" / str(next(places)))]

    yield Figure("file size", path.stat().st_size / KIB, 200, "KiB", "with debug information")
    if shutil.which("strip"):
        stripped = folder / "stripped"
        ended = subprocess.run(["strip", "-o", stripped, path], capture_output=True)
        if ended.returncode == 0:
            yield Figure("file size, stripped", stripped.stat().st_size / KIB, 200, "KiB")
    arena = int(properties["alpha:memory-bytes"])
    resident = peak_resident([path, "train", "--threads", "1", *fresh()], folder)
    yield Figure(
        "peak RSS beyond the plan", (resident - arena) / MIB, 2, "MiB", f"plan {arena:,} B"
    )
    yield Figure(
        "start to first step",
        median(RUNS * 3, lambda: first_step(path, folder, fresh()) * 1e3),
        2,
        "ms",
        "process start to the first event of the log",
    )
    one = median(RUNS, lambda: steps(path, folder, 100, fresh()))
    many = median(RUNS, lambda: steps(path, folder, 1500, fresh()))
    speed = 1400 / max(many - one, 1e-9)
    yield Figure("steps per second", speed, None, "/s", "steps 101 to 1,500")
    yield from peers(speed)


def peers(speed: float) -> Iterator[Figure]:
    """The same step in other frameworks, where `ALPHA_BENCH_PEERS` names a Python that has them.

    On one thread: so small a step is no faster on several, and far slower where the machine is shared.
    """
    python = os.environ.get("ALPHA_BENCH_PEERS")
    if not python:
        return
    here = Path(__file__).resolve()
    data = here.parents[2] / "systems" / "Digits" / "data" / "digits.csv"
    ended = subprocess.run(
        [python, here.with_name("peers.py"), data, str(PEER_STEPS), "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    for line in ended.stdout.splitlines():
        peer = json.loads(line)
        note = f"this system takes {speed / peer['steps_per_second']:.1f} times as many"
        yield Figure(
            f"steps per second, {peer['peer']}", peer["steps_per_second"], None, "/s", note
        )


def first_step(path: Path, folder: Path, options: list[str]) -> float:
    """Seconds from the start of the process to the first `step` of its log, with nothing else left to write."""
    os.sync()
    begin = time.perf_counter()
    process = subprocess.Popen(
        [path, "train", "--steps", "50", "--log", "jsonl", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if re.search(r'"event": ?"(start|step)"', line):
            break
    seconds = time.perf_counter() - begin
    process.stdout.read()
    process.wait()
    return seconds


def steps(path: Path, folder: Path, count: int, options: list[str]) -> float:
    return run([path, "train", "--steps", str(count), *options], folder).wall


def main() -> int:
    print(f"{'':<44} {'median':>14} {'goal':>14} {'ratio':>6}")
    with tempfile.TemporaryDirectory(prefix="alpha-bench-") as name:
        folder = Path(name)
        for part in (compiler, executable, large_package):
            for figure in part(folder):
                print(figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
