"""The basic blocks of an entry, and which registers live and which may be without a value between them.

Threads follow edges of this graph and nothing else, so a register that every path defines needs no check when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from checked.sm86.parse import (
    Address,
    Entry,
    Instruction,
    Label,
    Operand,
    Register,
    Vector,
)

ENDS = ("bra", "ret", "bar.sync")


@dataclass
class Block:
    """Instructions `first` to `after`, without one in between that ends a block.

    `target` is where a branch leads and `follower` what comes next otherwise; None is nowhere. `kept` are the registers
    that a later block may read, `unknown` those that may have no value when the block begins.
    """

    index: int
    instructions: tuple[Instruction, ...]
    target: int | None = None
    follower: int | None = None
    kept: frozenset[Register] = frozenset()
    unknown: frozenset[Register] = frozenset()
    defined: frozenset[Register] = field(default=frozenset())
    read: frozenset[Register] = field(default=frozenset())

    @property
    def last(self) -> Instruction:
        return self.instructions[-1]

    @property
    def after(self) -> tuple[int, ...]:
        return tuple(block for block in (self.target, self.follower) if block is not None)


def blocks(entry: Entry) -> list[Block]:
    """The basic blocks in the order of the text."""
    body = entry.body
    cuts = {0, *entry.labels.values()}
    cuts |= {number + 1 for number, item in enumerate(body) if item.form.name in ENDS}
    starts = sorted(cut for cut in cuts if cut < len(body))
    number_of = {start: number for number, start in enumerate(starts)}
    found = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(body)
        block = Block(number, tuple(body[start:end]))
        last = block.last
        if last.form.name == "bra":
            label = last.operands[0]
            assert isinstance(label, Label)
            block.target = number_of[entry.labels[label.name]]
        if last.form.name != "ret" and not (last.form.name == "bra" and last.guard is None):
            block.follower = number + 1
        found.append(block)
    _flow(found)
    return found


def result(instruction: Instruction) -> tuple[Register, ...]:
    """The registers that an instruction gives a value."""
    if not instruction.form.writes:
        return ()
    return _registers(instruction.operands[0])


def sources(instruction: Instruction) -> tuple[Register, ...]:
    """The registers that an instruction reads, in the order of its operands."""
    operands = instruction.operands[1 if instruction.form.writes else 0 :]
    found = [register for operand in operands for register in _registers(operand)]
    if instruction.guard is not None:
        found.append(instruction.guard)
    return tuple(found)


def _registers(operand: Operand) -> tuple[Register, ...]:
    if isinstance(operand, Register):
        return (operand,)
    if isinstance(operand, Vector):
        return operand.registers
    if isinstance(operand, Address):
        return (operand.base,)
    return ()


def _flow(found: list[Block]) -> None:
    for block in found:
        read: set[Register] = set()
        defined: set[Register] = set()
        for item in block.instructions:
            read |= set(sources(item)) - defined
            defined |= set(result(item))
        block.read, block.defined = frozenset(read), frozenset(defined)
    _definite(found)
    _living(found)


def _definite(found: list[Block]) -> None:
    """Forwards: what every path to a block has defined."""
    everything = frozenset[Register]().union(*(block.defined | block.read for block in found))
    before = [everything] * len(found)
    before[0] = frozenset()
    changed = True
    while changed:
        changed = False
        for block in found:
            known = before[block.index] | block.defined
            for after in block.after:
                met = before[after] & known
                if met != before[after]:
                    before[after] = met
                    changed = True
    for block in found:
        block.unknown = block.read - before[block.index]


def _living(found: list[Block]) -> None:
    """Backwards: what a later block may read."""
    wanted: list[frozenset[Register]] = [block.read for block in found]
    changed = True
    while changed:
        changed = False
        for block in reversed(found):
            later = frozenset[Register]().union(*(wanted[after] for after in block.after))
            need = block.read | (later - block.defined)
            block.kept = later & block.defined
            if need != wanted[block.index]:
                wanted[block.index] = need
                changed = True
