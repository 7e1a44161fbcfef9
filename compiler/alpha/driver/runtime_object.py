"""The runtime's object, which no system takes part in: made once for each compiler and host, then kept.

The wheel brings the objects of all hosts, under the keys that the cache would keep them by: they hold as long as the
compiler's code and the LLVM binding are those they were made with.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import alpha
from alpha.base.host import HostTarget
from alpha.base.record import fields
from alpha.codegen.worker import Worker
from alpha.driver.cache import Cache
from alpha.driver.identity import compiler_digest, llvmlite_version
from alpha.targets import HOSTS
from alpha.targets.names import DEFAULT

LEVEL = 1
"""The code generator's level, as for kernels: 0 is faster to make and 16 KB larger."""

SHIPPED = Cache(Path(alpha.__file__).parent / "objects", shipped=True)


class RuntimeObject:
    """Takes the object from the cache, or has it made in a process of its own, which may start long before."""

    def __init__(self, cache: Cache, crashes: Path) -> None:
        self._cache = cache
        self._worker = Worker(crashes, "alpha.runtime.object_main")
        self._making: HostTarget | None = None

    def foresee(self, target: str | None) -> None:
        """Begins for the host that a build is likely for, when nothing but its command is known."""
        for host in HOSTS:
            if host.name == (target or DEFAULT):
                self.start(host)

    def start(self, host: HostTarget) -> None:
        """Begins what `get` will need; returns at once."""
        if self._making is None and self._find(host) is None:
            self._worker.begin("object", _as_json(host), host, LEVEL)
            self._making = host

    def get(self, host: HostTarget) -> bytes:
        if self._making is not None and self._making != host:
            self.close()
        self.start(host)
        found = self._find(host)
        if found is None:
            found = self._worker.finish()
            self._cache.keep(*cache_key(host), payload=found)
        return found

    def _find(self, host: HostTarget) -> bytes | None:
        return SHIPPED.find(*cache_key(host)) or self._cache.find(*cache_key(host))

    def close(self) -> None:
        """Ends the process, which is in the middle of its work where the build was refused."""
        self._worker.abandon()
        self._making = None


def ship() -> None:
    """Makes the objects that the wheel brings."""
    shutil.rmtree(SHIPPED.folder, ignore_errors=True)
    for host in HOSTS:
        with Worker(module="alpha.runtime.object_main") as worker:
            worker.begin("object", _as_json(host), host, LEVEL)
            SHIPPED.keep(*cache_key(host), payload=worker.finish())


def _as_json(host: HostTarget) -> str:
    return json.dumps({part.name: getattr(host, part.name) for part in fields(host)})


def cache_key(host: HostTarget) -> tuple[str, ...]:
    """Everything that decides the bytes of the object."""
    sources = compiler_digest("base", "runtime", "codegen", "targets")
    return "runtime", host.name, str(LEVEL), sources, llvmlite_version()
