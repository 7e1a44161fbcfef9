"""The mutable state of one command, passed to every phase that needs it. Two sessions share nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from alpha.base.record import field, record
from alpha.check.source_roots import SourceRoots, package_folder
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.driver.cache import Cache, user_cache

if TYPE_CHECKING:
    from alpha.codegen.workers import Workers
    from alpha.driver.runtime_object import RuntimeObject


@record(frozen=False)
class Session:
    """`package` is the folder whose modules come first and below which `build/` lies.

    `inputs` are the files read so far: what an output may not replace.
    """

    package: Path
    roots: SourceRoots
    diagnostics: Diagnostics
    cache: Cache
    inputs: set[Path] = field(default_factory=set)
    _workers: Workers | None = None
    _runtime: RuntimeObject | None = None

    @property
    def workers(self) -> Workers:
        """What compiles. They start when they are first needed, or earlier where a command knows that they will be, so
        that LLVM loads while the front half works."""
        if self._workers is None:
            from alpha.codegen.workers import Workers  # a check needs none

            self._workers = Workers(self.cache.folder / "crashes")
        return self._workers

    @property
    def runtime(self) -> RuntimeObject:
        """The runtime's object, made beside everything else where the cache has none."""
        if self._runtime is None:
            from alpha.driver.runtime_object import RuntimeObject

            self._runtime = RuntimeObject(self.cache, self.cache.folder / "crashes")
        return self._runtime

    @staticmethod
    @contextmanager
    def open(folder: Path) -> Iterator[Session]:
        """A session for the package that `folder` lies in."""
        package = package_folder(folder)
        cache = Cache(user_cache(os.environ))
        session = Session(package, SourceRoots.open(package), Diagnostics(), cache)
        try:
            yield session
        finally:
            if session._workers is not None:
                session._workers.close()
            if session._runtime is not None:
                session._runtime.close()
