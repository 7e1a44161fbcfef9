"""Linked programs run on both machines, wherever they are loaded, and always come out byte for byte the same."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.elf.stubs import stub_object
from alpha.elf.verify import verify
from alpha.targets import HOSTS
from requirements import require_tool
from targets.elf import programs
from targets.elf.emitter import Emitter
from targets.elf.linker_under_test import ARM_HOST, REAL, X86_HOST

EMULATORS = {"x86_64": "qemu-x86_64-static", "aarch64": "qemu-aarch64-static"}
both_hosts = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)


@dataclass(frozen=True)
class Builder:
    """Links a program for a host into an executable file."""

    emitter: Emitter
    folder: Path

    def image(
        self, host: HostTarget, body: str, blob: bytes = b"", manifest: bytes = b"{}"
    ) -> bytes:
        data = self.emitter.emit(programs.program(host, body, len(blob)), host)
        blobs = (("blob", blob, 64),) if blob else ()
        image = REAL.link(
            stub_object(host), data, machine=host.machine, manifest=manifest, blobs=blobs
        )
        verify(image, host)
        return image

    def file(self, host: HostTarget, body: str, blob: bytes = b"", manifest: bytes = b"{}") -> Path:
        path = self.folder / "program"
        path.write_bytes(self.image(host, body, blob, manifest))
        path.chmod(0o755)
        return path


@pytest.fixture
def builder(emitter: Emitter, tmp_path: Path) -> Builder:
    return Builder(emitter, tmp_path)


def run(
    host: HostTarget, path: Path, *arguments: str, emulator: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[bytes]:
    architecture = host.triple.partition("-")[0]
    command = [str(path), *arguments]
    if emulator or platform.machine() != architecture:
        command = [require_tool(EMULATORS[architecture]), *emulator, *command]
    return subprocess.run(command, capture_output=True, timeout=60)


@both_hosts
def test_a_program_relocates_itself_and_greets(host: HostTarget, builder: Builder) -> None:
    done = run(host, builder.file(host, programs.HELLO))
    assert (done.stdout, done.returncode, done.stderr) == (b"hello\naloha!\n", 42, b"")


@both_hosts
def test_relocated_pointers_are_sealed(host: HostTarget, builder: Builder) -> None:
    assert run(host, builder.file(host, programs.SEALED)).returncode == -11


@both_hosts
def test_manifest_and_blob_are_in_memory(host: HostTarget, builder: Builder) -> None:
    blob = bytes(range(256)) * 200
    done = run(host, builder.file(host, programs.DATA, blob, b'{"made of": "data"}'))
    assert (done.stdout, done.returncode) == (b'{"made of": "data"}' + blob, 0)


@both_hosts
def test_a_program_carries_its_own_digest(host: HostTarget, builder: Builder) -> None:
    path = builder.file(host, programs.DIGEST)
    digest = run(host, path).stdout[:32]
    data = path.read_bytes()
    assert data.count(digest) == 1
    assert hashlib.sha256(data.replace(digest, bytes(32))).digest() == digest


@both_hosts
def test_arguments_are_on_the_stack(host: HostTarget, builder: Builder) -> None:
    done = run(host, builder.file(host, programs.ARGUMENTS), "first", "fifth")
    assert (done.stdout, done.returncode) == (b"fifth", 3)


@both_hosts
def test_a_thread_runs_and_ends(host: HostTarget, builder: Builder) -> None:
    assert run(host, builder.file(host, programs.THREAD)).returncode == 42


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the kernel chooses the address on this machine"
)
def test_a_program_runs_wherever_the_kernel_loads_it(builder: Builder) -> None:
    path = builder.file(X86_HOST, programs.DIGEST)
    places = {run(X86_HOST, path).stdout[32:] for _ in range(12)}
    hello = builder.file(X86_HOST, programs.HELLO)
    assert all(run(X86_HOST, hello).returncode == 42 for _ in range(12))
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "2":
        assert len(places) > 1


@pytest.mark.parametrize("base", ["0x10000000", "0x7fff0000", "0x123450000", "0x3f0000000000"])
def test_an_aarch64_program_runs_at_any_base(base: str, builder: Builder) -> None:
    done = run(ARM_HOST, builder.file(ARM_HOST, programs.HELLO), emulator=("-B", base))
    assert (done.stdout, done.returncode) == (b"hello\naloha!\n", 42)


@pytest.mark.parametrize("page", [4096, 16384, 65536])
def test_an_aarch64_program_loads_under_pages_of_any_size(page: int, builder: Builder) -> None:
    done = run(ARM_HOST, builder.file(ARM_HOST, programs.HELLO), emulator=("-p", str(page)))
    assert done.returncode == 42


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="reads this machine's maps"
)
def test_no_page_in_memory_is_writable_and_executable(builder: Builder, tmp_path: Path) -> None:
    gdb = require_tool("gdb")
    path = builder.file(X86_HOST, programs.HELLO)
    commands = ["break main", "run", "info proc mappings"]
    arguments = [argument for command in commands for argument in ("-ex", command)]
    done = subprocess.run(
        [gdb, "-nx", "-batch", *arguments, str(path)], capture_output=True, text=True, timeout=60
    )
    mapped = [
        line.split() for line in done.stdout.splitlines() if str(path) in line and "0x" in line
    ]
    permissions = [words[4] for words in mapped if len(words) > 5]
    assert permissions == ["r--p", "r-xp", "r--p", "rw-p"], done.stdout + done.stderr


_REBUILD = """
import sys
from pathlib import Path
from alpha.elf.link import Blob, LinkOptions, link
from alpha.elf.stubs import stub_object
from alpha.targets import HOSTS
for host in HOSTS:
    objects = [("stubs", stub_object(host)), ("program", Path(sys.argv[1], host.name).read_bytes())]
    sys.stdout.buffer.write(link(objects, LinkOptions(host, b"{}", (Blob("blob", b"data", 64),))))
"""


def test_bytes_depend_on_the_inputs_alone(builder: Builder, tmp_path: Path) -> None:
    for host in HOSTS:
        ir = programs.program(host, programs.DATA, 4)
        (tmp_path / host.name).write_bytes(builder.emitter.emit(ir, host))
    made = set()
    for seed, folder, zone in (
        ("0", "/", "UTC"),
        ("1", str(tmp_path), "Asia/Tokyo"),
        ("random", "/", "UTC"),
    ):
        environment = dict(os.environ, PYTHONHASHSEED=seed, TZ=zone, LC_ALL="C")
        command = [sys.executable, "-c", _REBUILD, str(tmp_path)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        made.add(done.stdout)
    assert len(made) == 1 and len(made.pop()) > 4000
