"""Faults of code generation. All of them are bugs in Alpha: a valid kernel always compiles."""

from __future__ import annotations

from pathlib import Path


class CodegenFault(Exception):
    """LLVM does not take the module it was given. `saved` is a file with that module."""

    def __init__(self, message: str, saved: Path | None) -> None:
        place = f" (the code is saved in {saved})" if saved else ""
        super().__init__(f"{message}{place}")
        self.saved = saved


class WorkerDied(CodegenFault):
    """The worker process ended while it compiled a module."""


def rejected(words: str, saved: Path | None) -> CodegenFault:
    return CodegenFault(f"LLVM refuses a module: {words.strip()}", saved)


def died(how: str, words: str, saved: Path | None) -> WorkerDied:
    last = words.strip().splitlines()[-1] if words.strip() else "it said nothing"
    return WorkerDied(f"the code generator {how}: {last}", saved)
