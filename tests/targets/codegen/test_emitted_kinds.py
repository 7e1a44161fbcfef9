"""`alpha build --emit`: what other tools can read, and a refusal of what a target does not have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from alpha.elf.read import read_object
from packages import ROWS, TINY, write_package


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("emitted")
    write_package(folder, {"Tiny.Run": TINY}, {"Tiny/rows.csv": ROWS})
    return folder


def build(package: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "alpha", "build", "Tiny", *options]
    return subprocess.run(command, cwd=package, capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "machine", "word"),
    [("x86_64-linux", 62, b"vfmadd"), ("aarch64-linux", 183, b"fmadd")],
)
def test_objects_and_texts_of_the_kernels(
    package: Path, target: str, machine: int, word: bytes
) -> None:
    found = {}
    for kind, suffix in (("object", ".o"), ("llvm", ".ll"), ("asm", ".s")):
        output = package / f"kernels-{target}{suffix}"
        options = ("--emit", kind, "--target", target, "--direct", "-o", str(output))
        done = build(package, *options)
        assert done.returncode == 0, done.stderr
        found[kind] = output.read_bytes()
        assert output.with_name(f"{output.name}.manifest.json").exists()
        first = found[kind]
        assert build(package, *options).returncode == 0
        assert output.read_bytes() == first
    made = read_object("kernels", found["object"])
    assert made.machine == machine
    assert b"define" in found["llvm"] and b"target triple" in found["llvm"]
    assert word in found["asm"] and b".globl" in found["asm"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ptx", "spirv"])
def test_a_kind_that_the_target_does_not_have(package: Path, kind: str) -> None:
    done = build(package, "--emit", kind, "-o", str(package / "none"))
    assert done.returncode == 4
    assert f"error[T0405]: `x86_64-linux` has no output of kind `{kind}`".encode() in done.stderr
    assert b"exe, shared, object, llvm, asm" in done.stderr
    assert not (package / "none").exists()
