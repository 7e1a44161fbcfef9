"""Skips a test whose optional tool or module is absent, or fails it where that tool is required.

`ALPHA_REQUIRE` is a comma list of names that must be there: continuous integration installs them and names them, so a
tool that vanished shows as a failure instead of a test that quietly stopped running.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from typing import TypeVar

import pytest

from alpha.targets.nvidia.assemble import Assembler, find

_T = TypeVar("_T")


def require_tool(name: str) -> str:
    """The path of an executable on PATH."""
    path = shutil.which(name)
    if path is None:
        _absent(name, f"{name} is not installed")
    assert path is not None
    return path


def require_module(name: str) -> None:
    """Goes on only if a Python module can be imported."""
    if importlib.util.find_spec(name) is None:
        _absent(name, f"the Python module {name} is not installed")


def require_found(name: str, found: _T | None) -> _T:
    """What was looked for under a name of its own."""
    if found is None:
        _absent(name, f"{name} is not installed")
    assert found is not None
    return found


def require_ptxas() -> Assembler:
    """NVIDIA's assembler, where Alpha finds it: `ALPHA_PTXAS`, a wheel, or PATH."""
    return require_found("ptxas", find(os.environ, sys.path))


def required() -> frozenset[str]:
    """The names that `ALPHA_REQUIRE` lists."""
    listed = os.environ.get("ALPHA_REQUIRE", "")
    return frozenset(name.strip() for name in listed.split(",") if name.strip())


def _absent(name: str, reason: str) -> None:
    if name in required():
        pytest.fail(f"{reason}, and ALPHA_REQUIRE names it")
    pytest.skip(reason)
