"""What `alpha build` writes keeps the laws of linked files and shows Alpha's own source to other people's tools."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.cli.main import run
from alpha.elf.verify import verify
from alpha.targets import HOSTS
from requirements import require_tool
from targets.elf.linker_under_test import X86_HOST

MODEL = Path(__file__).resolve().parents[3] / "systems" / "Digits" / "Model.alpha"


@pytest.fixture(scope="module", params=HOSTS, ids=lambda host: host.name)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[HostTarget, Path]:
    """Digits, built once for each host."""
    host: HostTarget = request.param
    place = tmp_path_factory.mktemp(host.name) / "digits"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place.parent)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp().parent / "alpha-cache"))
        assert run(["build", "Digits", "--target", host.name, "--direct", "-o", str(place)]) == 0
    return host, place


def call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_it_keeps_every_law(built: tuple[HostTarget, Path]) -> None:
    host, place = built
    verify(place.read_bytes(), host)


@pytest.mark.slow
def test_elflint_finds_no_fault(built: tuple[HostTarget, Path]) -> None:
    assert call(require_tool("eu-elflint"), "--strict", str(built[1])).strip() == "No errors"


@pytest.mark.slow
def test_debugging_information_verifies(built: tuple[HostTarget, Path]) -> None:
    shown = call(require_tool("llvm-dwarfdump"), "--verify", str(built[1]))
    assert "No errors." in shown and "warning" not in shown


@pytest.mark.slow
def test_no_path_of_this_machine_is_in_it(built: tuple[HostTarget, Path]) -> None:
    data = built[1].read_bytes()
    assert str(MODEL.parents[2]).encode() not in data and str(Path.home()).encode() not in data


@pytest.mark.slow
def test_a_debugger_stops_at_a_line_of_the_model(
    built: tuple[HostTarget, Path], tmp_path: Path
) -> None:
    host, place = built
    if host != X86_HOST or platform.machine() != "x86_64":
        pytest.skip("not this machine's code")
    gdb = require_tool("gdb")
    lines = MODEL.read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "relu" in text)
    commands = ["set cwd " + str(tmp_path), f"break Model.alpha:{line}", "run", "backtrace", "kill"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    shown = call(gdb, "-nx", "-batch", *arguments, str(place))
    assert f"at systems/Digits/Model.alpha:{line}" in shown, shown
    assert "rt_start" in shown and "_start ()" in shown, shown
