"""What a user asks of a build."""

from __future__ import annotations

from pathlib import Path

from alpha.base.record import record
from alpha.targets.names import OUTPUT_KINDS as KINDS

__all__ = ["KINDS", "STAGES", "Request"]

STAGES = ("core", "system", "graph", "kernel", "plan", "memory", "llvm", "asm", "ptx")


@record
class Request:
    """`name` is a system or the module of a pairing; `target` is None where none was named."""

    name: str
    target: str | None = None
    direct: bool = False
    policy: str | None = None
    output: Path | None = None
    emit: str = "exe"
