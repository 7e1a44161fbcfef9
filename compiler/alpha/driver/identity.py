"""Which compiler this is: digests of its own code, and the version of the LLVM binding."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import alpha
from alpha.base.digest import sha256, sha256_text

_CODE = (".py", ".lark", ".json", ".toml", ".rt", ".o")
_DATA = frozenset({"library", "shipped", "objects", "pages", "__pycache__"})
_SETTLED_SECONDS = 2.0
"""A file that changed later than this ago may change again without a new time, where clocks are coarse."""


@cache
def llvmlite_version() -> str:
    """The version of the LLVM binding, read from its metadata: only the worker imports it."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 -- a large folder
        except OSError:
            continue
        for name in names:
            if name.startswith("llvmlite-") and name.endswith(".dist-info"):
                return name.removeprefix("llvmlite-").removesuffix(".dist-info")
    from importlib.metadata import version  # slow to import; for what is installed in another way

    return version("llvmlite")


@cache
def compiler_digest(*folders: str) -> str:
    """The digest of the code of the compiler, or of some folders of it; the same wherever it lies."""
    lines = []
    for name, entry in _code(*folders):
        with open(entry.path, "rb") as file:  # noqa: PTH123 -- every file of the compiler, each build
            lines.append(f"{sha256(file.read())}  {name}")
    return sha256_text("\n".join(sorted(lines)))


@cache
def fingerprint() -> str:
    """A text that changes whenever a file of the compiler's code or its Python does, without reading the files.

    It is made of their names, sizes and times. The time of a file's last change of any kind cannot be set, so it tells
    what a size and a set modification time would not. Empty while a file is so young that its time may not tell yet.
    """
    lines, latest = [sys.version], 0
    for name, entry in _code():
        found = entry.stat()
        lines.append(f"{name} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}")
        latest = max(latest, found.st_mtime_ns, found.st_ctime_ns)
    if time.time() - latest / 1e9 < _SETTLED_SECONDS:
        return ""
    return sha256_text("\n".join(sorted(lines)))


def _code(*folders: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files of some folders of the package, or of all of it, with their names from the folder on."""
    package = Path(alpha.__file__).parent
    pending = [(folder, str(package / folder)) for folder in folders]
    if not folders:
        pending = [(package.name, str(package))]
    while pending:
        prefix, place = pending.pop()
        with os.scandir(place) as entries:
            for entry in entries:
                if entry.is_dir():
                    if entry.name not in _DATA:
                        pending.append((f"{prefix}/{entry.name}", entry.path))
                elif entry.name.endswith(_CODE):
                    yield f"{prefix}/{entry.name}", entry
