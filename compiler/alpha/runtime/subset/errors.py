"""What the lowering says when a source of the runtime is wrong. Only the project's own sources can cause it."""

from __future__ import annotations

import ast


class SubsetError(Exception):
    """A fault in a subset source, with its place as `file:line:column`."""

    def __init__(self, file: str, node: ast.AST | None, message: str) -> None:
        line = getattr(node, "lineno", 0)
        column = getattr(node, "col_offset", -1) + 1
        super().__init__(f"{file}:{line}:{column}: {message}")
