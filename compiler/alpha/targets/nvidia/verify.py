"""The law of PTX, read from the records alone.

1. A module is for an architecture that Alpha emits for; its entries have different names, of letters, digits and `_`.
2. An entry keeps the limits of its architecture: threads in whole warps, registers, shared bytes, parameters.
3. An instruction is a row of `forms.FORMS` with operands of the row's kinds. Only a branch has a guard, a predicate.
   `mov.b32` and `mov.b64` give the bits of one kind of register to another.
4. A number fits the width it is used in; an offset fits 32 bits with a sign.
5. Global memory is addressed by 64 bits, shared memory by 32. Registers that are loaded at once differ.
6. There is no barrier but 0. An exchange is one of all threads of a warp, each with the thread whose number differs in
   the bits of a mask of 1 ... 31.
7. A parameter is one of the entry's; the shared array is named only where there is one.
8. A label stands once in an entry, and every branch goes to a label of its own entry.
9. What an entry reads is written somewhere in it.
10. An entry ends with a `ret` that every thread carries out which comes there.

Who reads a register before it is written in some thread, and who comes to a barrier, the checked model finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from alpha.base.device import DeviceTarget
from alpha.base.record import record
from alpha.targets.nvidia.errors import PtxFault
from alpha.targets.nvidia.forms import FORMS, KINDS
from alpha.targets.nvidia.ptx import (
    BLOCK,
    SHARED,
    THREAD,
    Address,
    Entry,
    Instruction,
    Kind,
    Label,
    Module,
    Name,
    Operand,
    Parameter,
    Real,
    Register,
    Vector,
    Whole,
)
from alpha.targets.nvidia.spec import SM_86, SM_89

TARGETS = {target.name: target for target in (SM_86, SM_89)}
PARAMETERS = 4_352 // 8
"""Most addresses that an entry takes: 4,352 bytes of parameters (PTX ISA 7.1, section 7.1)."""
LETTERS = {kind: letter for letter, kind in KINDS.items()}
WIDTHS = {"H": 16, "R": 32, "D": 64}
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_LABEL = re.compile(r"L(0|[1-9][0-9]*)")
_SPECIAL = (THREAD, BLOCK)
_REACH = range(-(1 << 31), 1 << 31)


@record
class Break:
    """What breaks the law: in which entry, None for the module, and in which line of its body, None for its head."""

    entry: int | None
    line: int | None
    reason: str


def verify(module: Module) -> None:
    """Raises `PtxFault` for a module that breaks the law."""
    for found in breaks(module):
        name = "" if found.entry is None else module.entries[found.entry].name
        raise PtxFault(name, found.line, found.reason)


def breaks(module: Module) -> Iterator[Break]:
    """Everything in a module that breaks the law."""
    target = TARGETS.get(module.target)
    if target is None:
        yield Break(None, None, f"`{module.target}` is no architecture that Alpha emits for")
        return
    names: set[str] = set()
    for number, entry in enumerate(module.entries):
        if entry.name in names:
            yield Break(number, None, f"a second entry is called `{entry.name}`")
        names.add(entry.name)
        for reason in _head(entry, target):
            yield Break(number, None, reason)
        for line, reason in _body(entry):
            yield Break(number, line, reason)


def _head(entry: Entry, target: DeviceTarget) -> Iterator[str]:
    if not _NAME.fullmatch(entry.name):
        yield f"`{entry.name}` is no name of an entry"
    if not 1 <= entry.threads <= target.threads or entry.threads % target.warp:
        yield f"{entry.threads} threads are no whole warps up to {target.threads} threads"
    if not 1 <= entry.registers <= target.registers:
        yield f"a thread has 1 to {target.registers} registers, not {entry.registers}"
    if not 0 <= entry.shared <= target.shared:
        yield f"a block has at most {target.shared} shared bytes, not {entry.shared}"
    if not 0 <= entry.parameters <= PARAMETERS:
        yield f"an entry has at most {PARAMETERS} parameters, not {entry.parameters}"


def _body(entry: Entry) -> Iterator[tuple[int, str]]:
    labels: set[str] = set()
    goals: list[tuple[int, str]] = []
    written: set[Register] = set()
    read: dict[Register, int] = {}
    for number, line in enumerate(entry.body):
        if isinstance(line, Label):
            if not _LABEL.fullmatch(line.name):
                yield number, f"`{line.name}` is no name of a label"
            if line.name in labels:
                yield number, f"the label `{line.name}` stands twice"
            labels.add(line.name)
            continue
        yield from ((number, reason) for reason in _instruction(line, entry))
        if line.form == "bra" and line.operands and isinstance(line.operands[0], Name):
            goals.append((number, line.operands[0].text))
        _follow(line, number, written, read)
    for number, goal in goals:
        if goal not in labels:
            yield number, f"there is no label `{goal}`"
    for register, number in read.items():
        if register not in written:
            yield number, f"nothing writes {register}"
    if not entry.body or entry.body[-1] != Instruction("ret"):
        yield max(len(entry.body) - 1, 0), "an entry ends with `ret`"


def _follow(
    line: Instruction, number: int, written: set[Register], read: dict[Register, int]
) -> None:
    """Notes what a line writes and, with the first line that does, what is read."""
    operands: Sequence[Operand] = line.operands
    if operands and line.form[:3] != "st.":
        result = operands[0]
        if type(result) is Register:
            written.add(result)
            operands = operands[1:]
        elif type(result) is Vector:
            written.update(result.items)
            operands = operands[1:]
    for operand in operands:
        if type(operand) is Register:
            read.setdefault(operand, number)
        elif type(operand) is Address:
            read.setdefault(operand.base, number)
        elif type(operand) is Vector:
            for item in operand.items:
                read.setdefault(item, number)
    if line.guard is not None:
        read.setdefault(line.guard.predicate, number)


def _instruction(line: Instruction, entry: Entry) -> Iterator[str]:
    words = FORMS.get(line.form)
    if words is None:
        yield f"`{line.form}` is not in the subset"
        return
    if len(words) != len(line.operands):
        yield f"`{line.form}` has {len(words)} operands, not {len(line.operands)}"
        return
    if line.guard is not None:
        if line.guard.predicate.kind is not Kind.PRED:
            yield f"{line.guard.predicate} is no predicate"
        if line.form != "bra":
            yield f"`{line.form}` has a guard"
    for shown, (word, operand) in enumerate(zip(words, line.operands, strict=True), 1):
        # By far the most operands are registers of the one kind that may stand there.
        if type(operand) is Register:
            if LETTERS[operand.kind] not in word or word[0] in "24":
                yield f"`{operand}` is no operand {shown} of `{line.form}`"
        else:
            yield from _operand(line.form, word, operand, shown, entry)
    if line.form in ("mov.b32", "mov.b64"):
        kinds = [item.kind for item in line.operands if isinstance(item, Register)]
        if len(set(kinds)) != len(kinds):
            yield f"`{line.form}` is between registers of two kinds"
    if line.form == "bar.sync" and line.operands != (Whole(0),):
        yield "there is no barrier but 0"
    if line.form == "shfl.sync.bfly.b32":
        mask, clamp, members = line.operands[2:]
        if not isinstance(mask, Whole) or not 1 <= mask.value <= 31:
            yield f"{mask} is no mask of an exchange in a warp"
        if (clamp, members) != (Whole(31), Whole(-1)):
            yield "an exchange is one of the whole warp: `31, -1`"


def _operand(form: str, word: str, operand: Operand, place: int, entry: Entry) -> Iterator[str]:
    """What is wrong with an operand that is no register."""
    fits = False
    match operand:
        case Whole(value=value):
            fits = "i" in word
            width = next((WIDTHS[letter] for letter in word if letter in WIDTHS), 32)
            if fits and not -(1 << (width - 1)) <= value < 1 << width:
                yield f"{value} does not fit {width} bits"
        case Real(bits=bits, double=double):
            fits = ("y" if double else "x") in word
            if not 0 <= bits < 1 << (64 if double else 32):
                yield f"{bits} are no bits of a float"
        case Name(text=text) if text in _SPECIAL:
            fits = "S" in word
        case Name(text=text) if text == SHARED:
            fits = "N" in word
            if fits and not entry.shared:
                yield "the entry has no shared array"
        case Name():
            fits = "L" in word
        case Parameter(number=number):
            fits = "B" in word
            if not 0 <= number < entry.parameters:
                yield f"there is no parameter b{number}"
        case Address(base=base, offset=offset):
            fits = "A" in word
            if fits and base.kind is not (Kind.B64 if ".global" in form else Kind.B32):
                yield f"{base} is no address there"
            if offset not in _REACH:
                yield f"the offset {offset} does not fit 32 bits"
        case Vector(items=items):
            kinds = {LETTERS[item.kind] for item in items}
            fits = word[0].isdigit() and len(items) == int(word[0]) and kinds == {word[1]}
            if form.startswith("ld.") and len(set(items)) != len(items):
                yield "a register stands twice in a list"
        case Register():
            fits = True
    if not fits:
        yield f"`{operand}` is no operand {place} of `{form}`"
