"""The mutable state of one command, passed to every phase that needs it. Two sessions share nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alpha.base.record import field, record
from alpha.check.source_roots import SourceRoots, package_folder
from alpha.codegen.worker import Worker
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.driver.cache import Cache, user_cache
from alpha.driver.runtime_object import RuntimeObject


@record(frozen=False)
class Session:
    """`package` is the folder whose modules come first and below which `build/` lies.

    `inputs` are the files read so far: what an output may not replace. `worker` starts when it is first needed, or
    earlier where a command knows that it will be, so that LLVM loads while the front half works; so does `runtime`.
    """

    package: Path
    roots: SourceRoots
    diagnostics: Diagnostics
    cache: Cache
    worker: Worker
    runtime: RuntimeObject
    inputs: set[Path] = field(default_factory=set)

    @staticmethod
    @contextmanager
    def open(folder: Path) -> Iterator[Session]:
        """A session for the package that `folder` lies in."""
        package = package_folder(folder)
        folder = user_cache(os.environ)
        cache, crashes = Cache(folder), folder / "crashes"
        worker, runtime = Worker(crashes), RuntimeObject(cache, crashes)
        try:
            roots = SourceRoots.open(package)
            yield Session(package, roots, Diagnostics(), cache, worker, runtime)
        finally:
            worker.close()
            runtime.close()
