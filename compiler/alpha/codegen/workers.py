"""The worker processes of a build: modules that do not depend on each other are compiled side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alpha.base.host import HostTarget
from alpha.codegen.worker import Worker

COUNT = 2
"""Fixed, and not the number of processors: into how many modules kernels are divided decides bytes of the output."""


class Workers:
    """`COUNT` processes. The first does what is one module; each starts when it is first needed, or with `start`."""

    def __init__(self, crashes: Path | None = None) -> None:
        self._all = tuple(Worker(crashes) for _ in range(COUNT))
        self.first = self._all[0]

    def start(self) -> None:
        """Starts all, so that LLVM loads while the compiler works on; returns at once."""
        for worker in self._all:
            worker.start()

    def compile(self, modules: Sequence[str], host: HostTarget) -> list[bytes]:
        """The objects of modules, in their order. Raises what `Worker.compile` does, for the first that fails."""
        objects: list[bytes] = []
        for at in range(0, len(modules), COUNT):
            turn = list(zip(self._all, modules[at : at + COUNT], strict=False))
            for worker, ir in turn:
                worker.begin("object", ir, host, 1)
            objects += [worker.finish() for worker, _ in turn]
        return objects

    def close(self) -> None:
        """Ends all and waits for them."""
        for worker in self._all:
            worker.abandon()
