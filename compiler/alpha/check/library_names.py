"""Which modules of the library have a name: what a message about an unknown one can say to import.

The modules are read when a name is unknown for the first time, so a program without faults does not pay for them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alpha.check.imports import exposed_names
from alpha.check.source_roots import shipped_folders
from alpha.syntax.parse import parse_module
from alpha.syntax.source import read_source


def exposing(name: str) -> tuple[str, ...]:
    """The library's modules that let `name` be imported, sorted."""
    return tuple(module for module, names in _exposed().items() if name in names)


@cache
def _exposed() -> dict[str, frozenset[str]]:
    (library,) = (folder for label, folder in shipped_folders() if label == "library/")
    found = {}
    for file in sorted(library.rglob("*.alpha")):
        tree = parse_module(read_source(file.read_bytes(), _shown(file, library)))
        found[tree.name] = exposed_names(tree)
    return found


def _shown(file: Path, library: Path) -> str:
    return f"library/{file.relative_to(library).as_posix()}"
