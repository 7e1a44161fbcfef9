"""Why PTX, an assembler or what it wrote is refused."""

from __future__ import annotations


class PtxFault(Exception):
    """A module breaks the law of PTX: a bug in Alpha, never the user's. `line` counts an entry's body from 0."""

    def __init__(self, entry: str, line: int | None, reason: str) -> None:
        where = entry if line is None else f"{entry}: line {line} of the body"
        super().__init__(f"{where}: {reason}" if where else reason)
        self.entry = entry
        self.line = line
        self.reason = reason


class Damaged(Exception):
    """A text is not one that Alpha prints. `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


class AssemblerFault(Exception):
    """An assembler cannot be used, refuses a text, or breaks the bounds of an entry."""


class CubinFault(Exception):
    """A cubin is not as its law says."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}" if where else reason)
        self.where = where
        self.reason = reason
