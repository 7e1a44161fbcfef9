"""Objects from LLVM for the tests of the linker, made once each by the compiler's own worker process."""

from __future__ import annotations

from types import TracebackType

from alpha.base.host import HostTarget
from alpha.codegen.worker import Worker


class Emitter:
    """Objects on demand. LLVM's errors end the worker and not the tests."""

    def __init__(self) -> None:
        self._worker = Worker()
        self._made: dict[tuple[str, str, int], bytes] = {}

    def __enter__(self) -> Emitter:
        self._worker.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._worker.close()

    def emit(self, ir: str, host: HostTarget, level: int = 1) -> bytes:
        """The object file of a module that does not name its own target."""
        key = (ir, host.name, level)
        if key not in self._made:
            text = f'target triple = "{host.triple}"\n{ir}'
            self._made[key] = self._worker.compile(text, host, level)
        return self._made[key]
