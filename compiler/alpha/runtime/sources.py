"""The text of the runtime's sources, and the plain numbers they declare."""

from __future__ import annotations

from pathlib import Path

_SOURCES = Path(__file__).with_name("source")

UNITS = ("board", "data", "sample", "tests")
"""Sources that not every system uses: nothing calls them unless the tables of the system say so."""


def runtime_constant(source: str, name: str) -> int:
    """A constant that a source of the runtime declares with a plain number."""
    for line in source_text(source).splitlines():
        if line.startswith(f"{name} = "):
            return int(line.partition(" = ")[2], 0)
    raise KeyError(name)


def source_text(name: str) -> str:
    return (_SOURCES / f"{name}.rt").read_text(encoding="utf-8")
