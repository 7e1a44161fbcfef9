"""Built programs are made once a session; every test gets a copy in its own folder."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from alpha.evaluate.system import System
from alpha.targets.x86_64.spec import X86_64_LINUX
from targets.runtime.tiny import tiny_executable, tiny_system


@dataclass(frozen=True, slots=True)
class Program:
    """An executable `tiny` in a folder of its own, run from there."""

    folder: Path

    def __call__(
        self, *arguments: str, stdin: bytes = b"", **options: object
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["./tiny", *arguments],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
            **options,  # type: ignore[call-overload]
        )

    @property
    def runs(self) -> Path:
        return self.folder / "runs" / "tiny"

    def checkpoint(self, step: int) -> Path:
        return self.runs / f"step-{step:08d}.safetensors"


def install(folder: Path, image: bytes) -> Program:
    folder.mkdir(exist_ok=True)
    path = folder / "tiny"
    path.write_bytes(image)
    path.chmod(0o755)
    return Program(folder)


@pytest.fixture
def tiny(tmp_path: Path) -> Program:
    return install(tmp_path / "tiny", tiny_executable(tiny_system(), X86_64_LINUX))


@pytest.fixture
def build(tmp_path: Path) -> Callable[[str, System], Program]:
    """Builds a variation of the tiny system in a folder of that name."""

    def make(name: str, system: System) -> Program:
        return install(tmp_path / name, tiny_executable(system, X86_64_LINUX))

    return make
