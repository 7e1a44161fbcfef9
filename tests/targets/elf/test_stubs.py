"""The pinned machine code is what its source says, and small."""

from __future__ import annotations

import subprocess
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.elf.read import read_object
from alpha.elf.stubs import stub_object
from alpha.targets import HOSTS
from requirements import require_tool

both_hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
FUNCTIONS = {
    "x86_64-linux": {"_start", "rt_syscall", "rt_clone", "rt_sigreturn", "rt_cpuid", "rt_xgetbv"},
    "aarch64-linux": {"_start", "rt_syscall", "rt_clone", "rt_sigreturn"},
}


@both_hosts
def test_the_object_is_the_source_assembled(host: HostTarget, tmp_path: Path) -> None:
    assembler = require_tool("llvm-mc")
    architecture = host.triple.partition("-")[0]
    out = tmp_path / "out.o"
    with as_file(files("alpha.elf.stubs").joinpath(f"{architecture}.s")) as source:
        command = [
            assembler,
            "--filetype=obj",
            f"--triple={host.triple}",
            str(source),
            "-o",
            str(out),
        ]
        subprocess.run(command, check=True)
    assembled, pinned = (
        read_object("again", out.read_bytes()),
        read_object("pinned", stub_object(host)),
    )
    # Assemblers order their tables differently from version to version; what they say must be the same.
    assert _content(assembled) == _content(pinned)


def _content(each: object) -> object:
    return (
        {
            section.name: (
                section.kind,
                section.flags,
                section.data,
                section.align,
                section.relocations,
            )
            for section in each.sections  # type: ignore[attr-defined]
            if section.allocated
        },
        list(each.symbols),  # type: ignore[attr-defined]
    )


@both_hosts
def test_the_object_defines_these_functions_and_needs_the_runtime(host: HostTarget) -> None:
    read = read_object("stubs", stub_object(host))
    assert {
        symbol.name for symbol in read.symbols if symbol.binding and symbol.section
    } == FUNCTIONS[host.name]
    assert {symbol.name for symbol in read.symbols if symbol.binding and not symbol.section} == {
        "rt_start"
    }


@both_hosts
def test_the_hand_written_code_stays_small(host: HostTarget) -> None:
    read = read_object("stubs", stub_object(host))
    assert sum(section.size for section in read.sections if section.flags & 4) < 256
