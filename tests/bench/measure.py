"""Timing of whole processes: medians of several runs, with what else the kernel knows about them."""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value beside its goal, in `unit`; `note` says how it was measured."""

    name: str
    value: float
    goal: float | None
    unit: str
    note: str = ""

    def line(self) -> str:
        """The row of the table; a ratio below 1 reaches the goal."""
        goal = "" if self.goal is None else f"{self.goal:,.4g} {self.unit}"
        ratio = "" if self.goal is None else f"{self.value / self.goal:.2f}"
        value = f"{self.value:,.4g} {self.unit}"
        return f"{self.name:<44} {value:>14} {goal:>14} {ratio:>6}  {self.note}".rstrip()


@dataclass(frozen=True, slots=True)
class Ended:
    """One run of a process: wall seconds, and what it printed."""

    wall: float
    output: str


def run(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] = {}) -> Ended:
    """Runs a process to its end. Raises `CalledProcessError` if it fails."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output, _ = process.communicate()
    wall = time.perf_counter() - begin
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command), output)
    return Ended(wall, output)


def peak_resident(command: Sequence[str | Path], folder: Path) -> int:
    """The most bytes a process has resident, from its own status: `ru_maxrss` counts its parent before exec too."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    status = Path(f"/proc/{process.pid}/status")
    own, peak = os.fspath(command[0]), 0
    while process.poll() is None:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end meanwhile
            if Path(f"/proc/{process.pid}/exe").resolve() == Path(own).resolve():
                found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
                peak = max(peak, int(found[1]) * 1024 if found else 0)
        time.sleep(0.001)
    return peak


def median(count: int, once: Callable[[], float]) -> float:
    return statistics.median(once() for _ in range(count))
