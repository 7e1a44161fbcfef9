"""A child process that turns LLVM IR into object files, because LLVM's errors end the process they happen in.

Run as a program: reads lines of JSON (triple, cpu, level, ir), writes the length of an object and its bytes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from types import TracebackType

from alpha.base.host import HostTarget


class Emitter:
    """Objects on demand; the child is started once and again after it died."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._made: dict[tuple[str, str, int], bytes] = {}

    def __enter__(self) -> Emitter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()

    def emit(self, ir: str, host: HostTarget, level: int = 1) -> bytes:
        """The object file of a module without its own target triple. Raises RuntimeError where LLVM refuses it."""
        key = (ir, host.name, level)
        if key not in self._made:
            self._made[key] = self._ask(
                {"triple": host.triple, "cpu": host.cpu, "level": level, "ir": ir}
            )
        return self._made[key]

    def _ask(self, request: dict[str, object]) -> bytes:
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen(
                [sys.executable, __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(request).encode() + b"\n")
        self._child.stdin.flush()
        length = self._child.stdout.readline()
        if not length.strip().isdigit():
            raise RuntimeError(f"LLVM refused the module: {length.decode()}")
        return self._child.stdout.read(int(length))


def _serve() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            module = llvm.parse_assembly(f'target triple = "{request["triple"]}"\n{request["ir"]}')
            module.verify()
            target = llvm.Target.from_triple(request["triple"])
            machine = target.create_target_machine(
                cpu=request["cpu"], opt=request["level"], reloc="pic", codemodel="small"
            )
            data = machine.emit_object(module)
        except RuntimeError as error:
            sys.stdout.buffer.write(str(error).replace("\n", " ").encode() + b"\n")
        else:
            sys.stdout.buffer.write(f"{len(data)}\n".encode() + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
