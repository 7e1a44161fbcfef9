"""Leaves out what nobody reads: the last turn of a loop makes values for a turn that does not come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from alpha.targets.nvidia.ptx import Instruction, Line, Register, Vector, registers

EFFECTS = ("st.", "bar.", "bra", "ret")
"""What gives no result."""
TOGETHER = "shfl."
"""All threads of a warp take part, whoever reads what it gives."""


def without_unused(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines without instructions whose result is read nowhere but in such instructions."""
    reads: Counter[Register] = Counter()
    writers: list[tuple[int, Sequence[Register], Sequence[Register]]] = []
    for place, line in enumerate(lines):
        found = registers(line)
        if isinstance(line, Instruction) and not line.form.startswith(EFFECTS):
            first = line.operands[0]
            count = len(first.items) if isinstance(first, Vector) else 1
            if not line.form.startswith(TOGETHER):
                writers.append((place, found[:count], found[count:]))
            found = found[count:]
        for register in found:
            reads[register] += 1
    unused: set[int] = set()
    more = True
    while more:
        more = False
        for place, results, operands in reversed(writers):
            if place not in unused and not any(reads[register] for register in results):
                unused.add(place)
                reads.subtract(operands)
                more = True
    return tuple(line for place, line in enumerate(lines) if place not in unused)
