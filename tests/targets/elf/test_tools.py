"""Tools that others wrote accept linked files and find in them what was put there."""

from __future__ import annotations

import platform
import subprocess
import time
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.elf.stubs import stub_object
from alpha.targets import HOSTS
from requirements import require_tool
from targets.elf import programs
from targets.elf.debugging import debuggable
from targets.elf.emitter import Emitter
from targets.elf.linker_under_test import ARM_HOST, REAL, X86_HOST
from targets.elf.random_modules import random_module

both_hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)


def call(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def written(folder: Path, host: HostTarget, data: bytes) -> str:
    path = folder / "program"
    path.write_bytes(
        REAL.link(stub_object(host), data, machine=host.machine, blobs=(("b", b"b" * 999, 64),))
    )
    path.chmod(0o755)
    return str(path)


@both_hosts
def test_elflint_finds_no_fault(host: HostTarget, emitter: Emitter, tmp_path: Path) -> None:
    lint = require_tool("eu-elflint")
    for seed in range(4):
        path = written(tmp_path, host, emitter.emit(random_module(seed), host))
        complaints = call(lint, "--strict", path).splitlines()
        # Nothing is wrong with a writable segment that holds zeros alone.
        harmless = (
            "No errors",
            "no writable sections",
            "loadable segment [3] is writable but contains no",
        )
        assert [line for line in complaints if not any(text in line for text in harmless)] == []


@both_hosts
def test_readelf_warns_of_nothing(host: HostTarget, emitter: Emitter, tmp_path: Path) -> None:
    readelf = require_tool("readelf")
    path = written(tmp_path, host, emitter.emit(debuggable(host), host))
    shown = call(readelf, "-aW", "--debug-dump=frames,info,line", path)
    assert "arning" not in shown and "rror" not in shown
    assert "Position-Independent Executable" in shown and "DW_CFA_" in shown
    assert "R_X86_64_RELATIV" in shown or "R_AARCH64_RELATIV" in shown or "no relocations" in shown


@both_hosts
def test_frames_and_lines_verify(host: HostTarget, emitter: Emitter, tmp_path: Path) -> None:
    path = written(tmp_path, host, emitter.emit(debuggable(host), host))
    assert "No errors." in call(require_tool("llvm-dwarfdump"), "--verify", path)
    lines = call(require_tool("llvm-dwarfdump"), "--debug-line", path)
    assert "main.alpha" in lines and "is_stmt end_sequence" in lines
    frames = call(require_tool("eu-readelf"), "--debug-dump=frames", path)
    assert 'augmentation:             "zR"' in frames and "error" not in frames


@pytest.mark.skipif(platform.machine() != "x86_64", reason="runs this machine's code")
def test_a_debugger_stops_at_a_source_line(emitter: Emitter, tmp_path: Path) -> None:
    gdb = require_tool("gdb")
    path = written(tmp_path, X86_HOST, emitter.emit(debuggable(X86_HOST), X86_HOST))
    commands = [
        "set backtrace past-main",
        "break main.alpha:4",
        "run",
        "backtrace",
        "print given",
        "continue",
    ]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    shown = call(gdb, "-nx", "-batch", *arguments, path)
    assert "Breakpoint 1, answer (given=20) at main.alpha:4" in shown
    assert "#0  answer" in shown and ") at main.alpha:8" in shown and "_start" in shown
    assert "exited with code 052" in shown  # 42


@both_hosts
def test_symbols_name_the_functions(host: HostTarget, emitter: Emitter, tmp_path: Path) -> None:
    path = written(tmp_path, host, emitter.emit(programs.program(host, programs.HELLO), host))
    shown = call(require_tool("readelf"), "-sW", path)
    assert all(
        f" {name}\n" in shown
        for name in ("_start", "rt_syscall", "rt_start", "main", "relocate", "counter")
    )


@pytest.mark.slow
def test_a_debugger_stops_in_an_emulated_program(emitter: Emitter, tmp_path: Path) -> None:
    gdb, qemu = require_tool("gdb-multiarch"), require_tool("qemu-aarch64-static")
    path = written(tmp_path, ARM_HOST, emitter.emit(debuggable(ARM_HOST), ARM_HOST))
    port = tmp_path / "port"
    # An emulator may also listen on a socket in the file system, which no other process can have taken.
    emulated = subprocess.Popen([qemu, "-g", str(port), path])
    try:
        waited = 0
        while not port.exists() and waited < 100:
            time.sleep(0.05)
            waited += 1
        commands = [
            "break main.alpha:4",
            f"target remote {port}",
            "continue",
            "backtrace",
            "continue",
        ]
        arguments = [argument for command in commands for argument in ("-ex", command)]
        shown = call(gdb, "-nx", "-batch", *arguments, path)
        assert emulated.wait(timeout=20) == 42
    finally:
        emulated.kill()
        emulated.wait()
    assert "answer (given=20) at main.alpha:4" in shown and ") at main.alpha:8" in shown, shown


def _large_program(functions: int) -> str:
    """Many small functions that call each other and stand in a table."""
    lines = [random_module(1)]
    for index in range(functions):
        callee = f"@h{(index * 7 + 1) % functions}"
        lines.append(
            f"define internal i64 @h{index}(i64 %x) noinline uwtable {{\n"
            f"  %y = load volatile i64, ptr @seen\n  %z = add i64 %x, %y\n"
            f"  %r = call i64 {callee}(i64 %z)\n  %s = mul i64 %r, {index}\n  ret i64 %s\n}}"
        )
    table = ", ".join(f"ptr @h{index}" for index in range(functions))
    lines.append(f"@table = hidden constant [{functions} x ptr] [{table}]")
    lines.append("@seen = internal global i64 3")
    return "\n".join(lines)


@pytest.mark.slow
def test_linking_takes_milliseconds(emitter: Emitter) -> None:
    """Far above what is measured on a quiet machine, far below what anyone would notice."""
    objects = (stub_object(X86_HOST), emitter.emit(_large_program(1000), X86_HOST))
    best = min(_timed(objects) for _ in range(5))
    assert best < 0.2, f"{sum(map(len, objects))} bytes took {best:.3f} s"


def _timed(objects: tuple[bytes, ...]) -> float:
    start = time.process_time()
    REAL.link(*objects)
    return time.process_time() - start
