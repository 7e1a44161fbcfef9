"""The same program on AArch64: equal bits, and the properties that every host's file has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy
import pytest

from alpha.base.host import HostTarget
from alpha.elf.verify import verify
from alpha.runtime.build import compile_runtime, runtime_ir
from alpha.targets import HOSTS
from alpha.targets.aarch64.spec import AARCH64_LINUX
from requirements import require_tool
from targets.runtime.conftest import Program, install
from targets.runtime.tiny import tiny_executable, tiny_system


@pytest.mark.slow
@pytest.mark.parametrize("page", ["4096", "16384", "65536"])
def test_aarch64_writes_the_same_checkpoint_and_scalars(
    tiny: Program, tmp_path: Path, page: str
) -> None:
    emulator = require_tool("qemu-aarch64-static")
    tiny("train")
    arm = install(tmp_path / "arm", tiny_executable(tiny_system(), AARCH64_LINUX))
    numpy.save(arm.folder / "in.npy", numpy.ones((3, 4), numpy.float32))
    for arguments in (
        ["train", "--steps", "20"],
        ["resume", "--threads", "3"],
        ["evaluate"],
        ["predict", "in.npy", "out.npy"],
        ["--self-check"],
    ):
        done = subprocess.run(
            [emulator, "-p", page, "./tiny", *arguments],
            cwd=arm.folder,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
    for name in ("step-00000040.safetensors", "metrics.jsonl"):
        assert (arm.runs / name).read_bytes() == (tiny.runs / name).read_bytes()


@pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])
def test_every_file_passes_the_independent_reader(host: HostTarget) -> None:
    verify(tiny_executable(tiny_system(), host), host)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])
def test_the_runtime_is_the_same_text_every_time(host: HostTarget) -> None:
    assert runtime_ir(host) == runtime_ir(host)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])
def test_the_runtime_calls_no_function_that_llvm_folds_with_the_build_hosts_library(
    host: HostTarget,
) -> None:
    text = runtime_ir(host)
    for name in ("exp", "log", "sin", "cos", "pow", "tanh"):
        assert f"@llvm.{name}." not in text and f"@{name}f(" not in text
    assert " asm " not in text


@pytest.mark.parametrize("host", HOSTS, ids=[host.name for host in HOSTS])
def test_fixed_memory_is_known(host: HostTarget) -> None:
    assert 200_000 < compile_runtime(host).zeroed < 1_000_000


def test_a_processor_without_the_wide_instructions_is_refused(tiny: Program) -> None:
    emulator = require_tool("qemu-x86_64-static")
    done = subprocess.run(
        [emulator, "-cpu", "Nehalem", "./tiny"], cwd=tiny.folder, capture_output=True, check=False
    )
    assert done.returncode == 5
    assert b"error[R0501]" in done.stderr and b"x86-64-v3" in done.stderr
    assert not tiny.runs.exists()
