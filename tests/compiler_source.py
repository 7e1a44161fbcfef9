"""The compiler's own source, for tests of what it may say: each file is parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import alpha

PACKAGE = Path(alpha.__file__).parent


@cache
def modules() -> tuple[Path, ...]:
    """Every module of the compiler, sorted."""
    return tuple(sorted(path for path in PACKAGE.rglob("*.py") if "shipped" not in path.parts))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a Python file."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def texts(path: Path) -> set[str]:
    """The string constants of a Python file."""
    return {
        node.value
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
