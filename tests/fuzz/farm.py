"""Runs drawn packages through everything: the compiler for both hosts, the executables, and the reference."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from pathlib import Path
from random import Random

from alpha import __version__
from alpha.admission import admit
from alpha.check.source_roots import SourceRoots
from alpha.codegen.workers import Workers
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.diagnostics.render import render_all
from alpha.driver.cache import Cache
from alpha.driver.checking import check
from alpha.driver.closure import contents_of
from alpha.driver.emission import emit, report_of
from alpha.driver.lock import write_locks
from alpha.driver.pipeline import planned
from alpha.driver.request import Request
from alpha.driver.runtime_object import RuntimeObject
from alpha.driver.session import Session
from alpha.evaluate.describe import describe
from alpha.evaluate.system import System
from device_runner import on_model
from fuzz.modules import Package
from mutants import mutant
from semantics import train
from semantics.data import read_examples

X86, AARCH64 = "x86_64-linux", "aarch64-linux"
STEPS = 3


class Different(AssertionError):
    """The ways to run a package do not agree, or one of them failed."""


class Farm:
    """One worker and one cache for many packages, in a folder that is its own."""

    def __init__(self, folder: Path, emulator: Sequence[str] | None) -> None:
        self.folder = folder
        self.emulator = emulator
        self.cache = Cache(folder / "cache")
        self.workers = Workers(folder / "crashes")
        self.runtime = RuntimeObject(self.cache, folder / "crashes")

    def close(self) -> None:
        self.workers.close()
        self.runtime.close()

    def compare(self, package: Package, name: str) -> int:
        """Checkpoint of the reference = x86-64 with one and two threads = AArch64 where there is an emulator.

        And = PTX on the model of sm_86. Gives the number of its bytes; raises `Different` with what is wrong, and
        leaves the package then.
        """
        folder = self.folder / name
        with written(package, folder):
            expected: bytes | None = None
            for target in (X86, AARCH64) if self.emulator is not None else (X86,):
                try:
                    program, system = self._built(folder, target)
                except Refused as refused:
                    raise Different(render_all(refused.diagnostics)) from None
                if expected is None:
                    expected = reference(system, folder)
                    if reference(system, folder, on_model(system).run) != expected:
                        raise Different("PTX on the model is not the reference")
                prefix = [] if target == X86 else list(self.emulator or ())
                for threads in ("1", "2"):
                    checkpoints = folder / f"{target}-{threads}"
                    if trained([*prefix, str(program)], checkpoints, threads) != expected:
                        raise Different(f"{target} with {threads} threads is not the reference")
        shutil.rmtree(folder)
        assert expected is not None
        return len(expected)

    def spoil(self, package: Package, name: str, seed: int) -> bool:
        """Whether a package with one token changed is still accepted; if not, it is refused with a diagnostic."""
        folder = self.folder / name
        text = package.files["Drawn/Run.alpha"]
        files = package.files | {"Drawn/Run.alpha": mutant(text, Random(seed))}
        with written(Package(files), folder):
            session = self._session(folder)
            try:
                write_locks(folder, session.diagnostics, write=True)
                check(session, ["Drawn.Run"])
            except Refused as refused:
                assert refused.diagnostics
                assert all(item.message for item in refused.diagnostics)
            accepted = not session.diagnostics.errors
        shutil.rmtree(folder)
        return accepted

    def _session(self, folder: Path) -> Session:
        return Session(
            folder, SourceRoots.open(folder), Diagnostics(), self.cache,
            _workers=self.workers, _runtime=self.runtime,
        )  # fmt: skip

    def _built(self, folder: Path, target: str) -> tuple[Path, System]:
        session = self._session(folder)
        write_locks(folder, session.diagnostics, write=True)
        work = planned(session, Request("Drawn", target=target, direct=True))
        admission = admit(work.plan.demands, work.profile, work.choice.condition, work.span)
        assert admission.admitted is not None
        contents = contents_of(work, report_of(work, admission))
        place = folder / target
        place.write_bytes(emit(session, work, admission.admitted, contents))
        place.chmod(0o755)
        return place, work.system


@contextmanager
def written(package: Package, folder: Path) -> Iterator[Path]:
    """The files of a package, in a folder of their own, as the current one."""
    for name, text in package.files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    with chdir(folder):
        yield folder


def reference(system: System, folder: Path, execute: train.Execute | None = None) -> bytes:
    """The checkpoint that the reference semantics write, or the same loop with programs run by `execute`."""
    plain = json.loads(json.dumps(describe(system)))
    run = train.start(plain, read_examples(plain, folder), execute=execute)
    train.advance(run, STEPS)
    return train.checkpoint(run, __version__)


def trained(command: Sequence[str], checkpoints: Path, threads: str) -> bytes:
    """The last checkpoint of a built program."""
    options = ["train", "--threads", threads, "--checkpoint", str(checkpoints)]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, timeout=120)
    if ended.returncode != 0:
        raise Different(f"{command[-1]} ended with {ended.returncode}: {ended.stderr}")
    return (checkpoints / f"step-{STEPS:08d}.safetensors").read_bytes()
