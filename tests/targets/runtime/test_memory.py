"""The memory of a built program is known before it runs: what is derived is what the kernel measures."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from alpha.driver.outcome import Build, Outcome
from alpha.driver.pipeline import build, planned
from alpha.driver.request import Request
from alpha.driver.session import Session
from alpha.elf.loaded import loaded_bytes
from bench.measure import peak_resident
from packages import ROWS, TINY, write_package

WIDE = TINY.replace(
    "param w : Tensor f32 [inputs] ", "param w : Tensor f32 [inputs, 65_536] "
).replace("forward x = x @ w + b", "forward x = mean[1] (x @ w) + b")
STACK = 192 * 1024
"""More than the first stack and the kernel's own pages in a process ever take here."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        (platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="runs what it builds"
    ),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Outcome]:
    folder = tmp_path_factory.mktemp("wide")
    write_package(folder, {"Tiny.Run": WIDE}, {"Tiny/rows.csv": ROWS})
    with Session.open(folder) as session:
        request = Request("Tiny", output=folder / "tiny")
        return planned(session, request), build(session, request)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_measured_peak_is_within_what_is_derived(
    built: tuple[Build, Outcome], tmp_path: Path, threads: int
) -> None:
    work, outcome = built
    image = outcome.path.read_bytes()
    loaded = loaded_bytes(image, work.host)
    most = work.memory.most(loaded, len(image), threads)
    data = str(outcome.path.parent)
    command = [outcome.path, "train", "--threads", str(threads), "--data", data]
    measured = peak_resident(
        [*command, "--steps", "200", "--checkpoint", str(tmp_path / "runs")], tmp_path
    )
    assert work.plan.arena > 2 << 20
    assert measured <= most + STACK
    assert measured >= 0.9 * work.plan.arena


def test_what_the_command_says_is_what_is_derived(built: tuple[Build, Outcome]) -> None:
    work, outcome = built
    image = outcome.path.read_bytes()
    most = work.memory.most(loaded_bytes(image, work.host), len(image))
    facts = json.loads(outcome.json_line())
    assert (facts["memory"], facts["process"]) == (work.plan.arena, most)
    report = json.loads((outcome.path.parent / "tiny.report.json").read_text())
    assert report["process"] == {"mapped": work.memory.mapped, "thread": work.memory.thread}
    assert f'"alpha:mapped-bytes","value":"{work.memory.mapped}"'.encode() in image
