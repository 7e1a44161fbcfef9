"""Leaves out what nobody reads: the last turn of a loop makes values for a turn that does not come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from alpha.targets.nvidia.ptx import Instruction, Line, Register, Vector, registers

EFFECTS = ("st.", "bar.", "bra", "ret", "shfl.")
"""What is carried out for more than its result; all threads of a warp take part in a shuffle."""


def without_unused(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines without instructions whose result is read nowhere but in such instructions."""
    reads: Counter[Register] = Counter()
    for line in lines:
        reads.update(_read(line))
    kept = list(lines)
    while True:
        unused = [line for line in kept if _is_unused(line, reads)]
        if not unused:
            return tuple(kept)
        for line in unused:
            reads.subtract(_read(line))
        kept = [line for line in kept if not _is_unused(line, reads)]


def _is_unused(line: Line, reads: Counter[Register]) -> bool:
    if not isinstance(line, Instruction) or line.form.startswith(EFFECTS):
        return False
    return all(reads[register] == 0 for register in registers(line)[: _results(line)])


def _read(line: Line) -> list[Register]:
    found = registers(line)
    if not isinstance(line, Instruction) or line.form.startswith(("st.", "bar.", "bra", "ret")):
        return found
    return found[_results(line) :]


def _results(line: Instruction) -> int:
    """How many of the registers that the line names it writes; they come first."""
    first = line.operands[0]
    return len(first.items) if isinstance(first, Vector) else 1
