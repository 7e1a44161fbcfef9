"""The compiler's side of the worker process that owns LLVM."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import IO

from alpha.base.host import HostTarget
from alpha.codegen.errors import died, rejected
from alpha.codegen.frames import Header, read_frame, write_frame

MODULE = "alpha.codegen.worker_main"
WAIT_SECONDS = 10.0


class Worker:
    """One child process for all the modules of a build.

    It starts with `start` or when it is entered, and loads LLVM while the compiler works on. A module that LLVM
    refuses raises CodegenFault, and one on which the process dies WorkerDied; both save the module in `crashes` (the
    system's folder for temporary files if None) and name the file. After a death the next module gets a new process.
    `module` is what the process runs; `begin` and `finish` are the halves of a request, for work beside it.
    """

    def __init__(self, crashes: Path | None = None, module: str = MODULE) -> None:
        self._crashes = crashes
        # `-P`: modules are found where the compiler found its own, never in the current folder.
        self._command = (sys.executable, "-P", "-m", module)
        self._sent = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._words: IO[bytes] | None = None

    def start(self) -> None:
        """Starts the process unless it runs; returns at once."""
        if self._process is not None:
            return
        self._words = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            # Ctrl-C is the compiler's to handle; the worker ends when its input does.
            start_new_session=True,
        )

    def compile(self, ir: str, host: HostTarget, level: int = 1) -> bytes:
        """The object file of a module. `level` is the code generator's, 0 to 3; no other passes run."""
        self.begin("object", ir, host, level)
        return self.finish()

    def assembly(self, ir: str, host: HostTarget, level: int = 1) -> str:
        """The assembly text of a module."""
        self.begin("assembly", ir, host, level)
        return self.finish().decode("utf-8")

    def abandon(self) -> None:
        """Ends the process in the middle of whatever it does."""
        if self._process is not None:
            self._process.kill()
        self.close()

    def close(self) -> None:
        """Ends the process and waits for it."""
        process, self._process = self._process, None
        if process is not None:
            if process.stdin:
                with contextlib.suppress(OSError):
                    process.stdin.close()
            try:
                process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        if self._words is not None:
            self._words.close()
            self._words = None

    def __enter__(self) -> Worker:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def begin(self, action: str, ir: str, host: HostTarget, level: int) -> None:
        """Sends a module; returns when the process has read it. One at a time."""
        self.start()
        process = self._process
        assert process is not None and process.stdin is not None
        header: Header = {
            "action": action,
            "triple": host.triple,
            "cpu": host.cpu,
            "features": host.features,
            "level": level,
        }
        self._sent = ir
        # A process that is gone is noticed when its answer is missing.
        with contextlib.suppress(OSError):
            write_frame(process.stdin, header, ir.encode("utf-8"))

    def finish(self) -> bytes:
        """What the process made of the module that was sent last."""
        process, ir = self._process, self._sent
        assert process is not None and process.stdout is not None
        try:
            answer = read_frame(process.stdout)
        except OSError:
            answer = None
        if answer is None:
            saved = self._save(ir)
            how = _ending(process)
            words = self._said()
            self.close()
            raise died(how, words, saved)
        result, body = answer
        if result["status"] != "done":
            raise rejected(body.decode("utf-8", "replace"), self._save(ir))
        return body

    def _said(self) -> str:
        if self._words is None:
            return ""
        self._words.seek(0)
        return self._words.read().decode("utf-8", "replace")

    def _save(self, ir: str) -> Path | None:
        """A file with the module; None if it cannot be written, which must not hide the fault itself."""
        try:
            if self._crashes is not None:
                self._crashes.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(".ll", "alpha-", self._crashes)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(ir)
        except OSError:
            return None
        return Path(name)


def _ending(process: subprocess.Popen[bytes]) -> str:
    try:
        status = process.wait(WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        return "stopped answering"
    if status < 0:
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    return f"ended with status {status}"
