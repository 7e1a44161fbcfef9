"""Leaves out what nobody reads: the last turn of a loop makes values for a turn that does not come."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.targets.nvidia.ptx import Instruction, Line, Register, Vector, registers

EFFECTS = ("st.", "bar.", "bra", "ret")
"""What gives no result."""
TOGETHER = "shfl."
"""All threads of a warp take part, whoever reads what it gives."""


def without_unused(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines without instructions whose result is read nowhere but in such instructions."""
    reads: dict[Register, int] = {}
    writers: dict[int, tuple[Sequence[Register], Sequence[Register]]] = {}
    for place, line in enumerate(lines):
        found = registers(line)
        if isinstance(line, Instruction) and not line.form.startswith(EFFECTS):
            first = line.operands[0]
            count = len(first.items) if isinstance(first, Vector) else 1
            results, found = found[:count], found[count:]
            if not line.form.startswith(TOGETHER):
                writers[place] = results, found
        for register in found:
            reads[register] = reads.get(register, 0) + 1
    unused: set[int] = set()
    # Most entries have nothing unused, and then this is all that is done.
    while more := [
        place
        for place, (results, _) in writers.items()
        if not any(map(reads.get, results)) and place not in unused
    ]:
        unused.update(more)
        for place in more:
            for register in writers[place][1]:
                reads[register] -= 1
    if not unused:
        return tuple(lines)
    return tuple(line for place, line in enumerate(lines) if place not in unused)
