"""The runtime's object, which no system takes part in: made once for each compiler and host, then kept."""

from __future__ import annotations

import json
from pathlib import Path

from alpha.base.host import HostTarget
from alpha.base.record import fields
from alpha.codegen.worker import Worker
from alpha.driver.cache import Cache
from alpha.driver.identity import compiler_digest, llvmlite_version
from alpha.targets import HOSTS
from alpha.targets.names import DEFAULT

LEVEL = 1
"""The code generator's level, as for kernels: 0 is faster to make and 16 KB larger."""


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
        if self._making is None and self._cache.find(*cache_key(host)) is None:
            self._worker.begin(
                "object",
                json.dumps({part.name: getattr(host, part.name) for part in fields(host)}),
                host,
                LEVEL,
            )
            self._making = host

    def get(self, host: HostTarget) -> bytes:
        if self._making is not None and self._making != host:
            self.close()
        self.start(host)
        return self._cache.get(*cache_key(host), make=self._worker.finish)

    def close(self) -> None:
        """Ends the process, which is in the middle of its work where the build was refused."""
        self._worker.abandon()
        self._making = None


def cache_key(host: HostTarget) -> tuple[str, ...]:
    """Everything that decides the bytes of the object."""
    sources = compiler_digest("base", "runtime", "codegen", "targets")
    return "runtime", host.name, str(LEVEL), sources, llvmlite_version()
