"""Which compiler this is: digests of its own code, and the version of the LLVM binding."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from alpha.base.digest import sha256, sha256_text

_CODE = frozenset({".py", ".lark", ".json", ".toml", ".rt", ".o"})
_DATA = frozenset({"library", "shipped", "pages", "__pycache__"})


@cache
def llvmlite_version() -> str:
    """The version of the LLVM binding, read from its metadata: only the worker imports it."""
    return version("llvmlite")


@cache
def compiler_digest(*folders: str) -> str:
    """The digest of the code of the compiler, or of some folders of it; the same wherever it lies."""
    package = files("alpha")
    places = [package.joinpath(folder) for folder in folders] or [package]
    lines = [
        f"{sha256(data)}  {name}" for place in places for name, data in _code(place, place.name)
    ]
    return sha256_text("\n".join(sorted(lines)))


def _code(place: Traversable, prefix: str) -> Iterator[tuple[str, bytes]]:
    for entry in place.iterdir():
        if entry.is_dir():
            if entry.name not in _DATA:
                yield from _code(entry, f"{prefix}/{entry.name}")
        elif Path(entry.name).suffix in _CODE:
            yield f"{prefix}/{entry.name}", entry.read_bytes()
