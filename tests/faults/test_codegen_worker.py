"""The worker process: what LLVM refuses or dies of is told, saved, and survived."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from alpha.codegen.errors import CodegenFault, WorkerDied
from alpha.codegen.worker import Worker
from alpha.targets import HOSTS

X86, AARCH64 = HOSTS
GOOD = "define hidden void @f() { ret void }\n"
ABORTS = """target triple = "aarch64-unknown-linux-gnu"
define hidden void @f() {
  call void asm sideeffect "nop", ""()
  ret void
}
"""
"""Inline assembly for a processor whose assembler llvmlite does not register: LLVM aborts the process."""


def test_modules_become_objects_and_assembly_of_their_host() -> None:
    with Worker() as worker:
        for host in HOSTS:
            code = worker.compile(GOOD, host)
            assert code[:4] == b"\x7fELF"
            assert int.from_bytes(code[18:20], "little") == host.machine
            assert worker.compile(GOOD, host) == code
        assert "ret" in worker.assembly(GOOD, X86)


def test_a_module_that_llvm_refuses_is_saved_and_the_next_one_compiles(tmp_path: Path) -> None:
    bad = "define void @f() { ret i32 }\n"
    with Worker(tmp_path) as worker:
        with pytest.raises(CodegenFault, match="LLVM refuses a module") as raised:
            worker.compile(bad, X86)
        assert not isinstance(raised.value, WorkerDied)
        assert raised.value.saved is not None
        assert raised.value.saved.read_text() == bad
        assert worker.compile(GOOD, X86)


def test_an_abort_inside_llvm_is_a_fault_with_a_reproducer(tmp_path: Path) -> None:
    folder = tmp_path / "crashes"
    with Worker(folder) as worker:
        with pytest.raises(WorkerDied, match="SIGABRT") as raised:
            worker.compile(ABORTS, AARCH64)
        assert raised.value.saved is not None
        assert raised.value.saved.parent == folder
        assert raised.value.saved.read_text() == ABORTS
        assert "Inline asm not supported" in str(raised.value)
        assert worker.compile(GOOD, AARCH64)


def test_a_worker_that_is_killed_is_a_fault() -> None:
    with Worker() as worker:
        worker.compile(GOOD, X86)
        process = worker._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with pytest.raises(WorkerDied, match="SIGKILL"):
            worker.compile(GOOD, X86)


def test_a_fault_is_told_even_if_the_module_cannot_be_saved(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with Worker(blocked) as worker, pytest.raises(WorkerDied) as raised:
        worker.compile(ABORTS, AARCH64)
    assert raised.value.saved is None


def test_the_process_ends_with_the_worker() -> None:
    worker = Worker()
    worker.start()
    process = worker._process
    assert process is not None
    worker.close()
    assert process.returncode == 0
    worker.close()


def test_modules_of_the_current_folder_do_not_reach_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llvmlite.py").write_text("raise SystemExit('shadowed')\n")
    monkeypatch.chdir(tmp_path)
    with Worker() as worker:
        assert worker.compile(GOOD, X86)
