"""Kernels with one mistake each, and the faults that may tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from alpha.targets.nvidia.forms import FORMS
from alpha.targets.nvidia.ptx import (
    BLOCK,
    Address,
    Entry,
    Instruction,
    Label,
    Line,
    Name,
    Operand,
    Whole,
)
from checked.sm86 import FaultKind as Kind

WRONG = "wrong value"
Outcome = Kind | str

OUTSIDE = frozenset({Kind.OUT_OF_BOUNDS, Kind.FORBIDDEN})
UNKNOWN = frozenset(
    {Kind.UNINITIALISED_SHARED, Kind.UNINITIALISED_GLOBAL, Kind.UNINITIALISED_REGISTER}
)
RACE = frozenset({Kind.SHARED_RACE, Kind.GLOBAL_RACE})
LOST = frozenset({Kind.NOT_WRITTEN})
DIVERGED = frozenset({Kind.BARRIER_DIVERGENCE, Kind.WARP_DIVERGENCE})
ENDLESS = frozenset({Kind.STEP_BOUND})
ASTRAY = OUTSIDE | UNKNOWN | RACE | LOST | {WRONG}
"""What a thread does that goes to another place than its own."""

EXPECTED: dict[str, frozenset[Outcome]] = {
    "drop barrier": frozenset({Kind.SHARED_RACE}),
    "drop store": LOST | {Kind.UNINITIALISED_SHARED},
    "drop definition": frozenset({Kind.UNINITIALISED_REGISTER}),
    "drop update": ENDLESS | {WRONG, Kind.UNINITIALISED_SHARED, Kind.UNINITIALISED_REGISTER},
    "negate guard": ASTRAY | DIVERGED | ENDLESS,
    "drop branch": ASTRAY | DIVERGED,
    "always branch": ASTRAY | DIVERGED | ENDLESS,
    "off by one": ASTRAY,
    "bound + 1": ASTRAY,
    "misplace by 1": frozenset({Kind.MISALIGNED, Kind.OUT_OF_BOUNDS}),
    "misplace by an element": ASTRAY | {Kind.MISALIGNED},
    "number + 1": ASTRAY | {Kind.MISALIGNED},
    "swap operands": ASTRAY | {Kind.DIVISION_BY_ZERO, Kind.MISALIGNED},
    "one block": ASTRAY,
}
"""By the kind of mistake. A mistake in a shared array shows where the array is read before all of it was written."""

LATER = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}
ORDERED = ("sub.", "div.", "rem.", "fma.", "mad.lo.", "selp.", "shl.", "shr.")
"""Forms whose two middle operands are not alike."""
SIZES = {"u8": 1, "u16": 2, "b16": 2, "b32": 4, "f32": 4, "b64": 8, "f64": 8}


@dataclass(frozen=True)
class Mutant:
    """`what` is a key of `EXPECTED`; the mistake is in line `place` of the entry's body."""

    what: str
    place: int
    line: str
    entry: Entry


def mutants(entry: Entry) -> Iterator[Mutant]:
    """Every mistake of every line, in order.

    Comparisons of floats keep their sides: which of two equal numbers is taken does not show, and where it shows the
    tests of functions on many numbers stand on the limit.
    """
    made = Counter(result for line in entry.body for result in _results(line))
    for place, line in enumerate(entry.body):
        if isinstance(line, Label):
            continue
        again = any(made[result] > 1 for result in _results(line))
        for what, other in _mistakes(line, again):
            lines: tuple[Line, ...] = () if other is None else (other,)
            body = (*entry.body[:place], *lines, *entry.body[place + 1 :])
            text = f"{line.form} {', '.join(map(str, line.operands))}"
            yield Mutant(what, place, text, replace(entry, body=body))


def _results(line: Line) -> tuple[Operand, ...]:
    """What an instruction writes to registers."""
    if isinstance(line, Label) or line.form in ("bra", "ret", "bar.sync"):
        return ()
    return () if line.form.startswith("st.") else line.operands[:1]


def _mistakes(line: Instruction, again: bool) -> Iterator[tuple[str, Instruction | None]]:
    form, operands = line.form, line.operands
    if form == "ret":
        return
    if form == "bra":
        yield "drop branch", None
        if line.guard is not None:
            yield (
                "negate guard",
                replace(line, guard=replace(line.guard, negated=not line.guard.negated)),
            )
            yield "always branch", replace(line, guard=None)
        return
    if form == "bar.sync":
        yield "drop barrier", None
        return
    if form.startswith("st."):
        yield "drop store", None
    else:
        yield ("drop update" if again else "drop definition"), None
    if form.startswith("setp."):
        word = form.split(".")[1]
        if word in LATER and not form.endswith(("f32", "f64")):
            yield "off by one", replace(line, form=form.replace(f".{word}.", f".{LATER[word]}."))
    yield from _in_operands(line)
    if form.startswith(ORDERED) and operands[1] != operands[2]:
        swapped = operands[0], operands[2], operands[1], *operands[3:]
        if form.startswith(("fma.", "mad.lo.")) and len(set(operands[1:])) > 1:
            swapped = operands[0], operands[1], operands[3], operands[2]
        if swapped != operands and _allowed(form, swapped):
            yield "swap operands", replace(line, operands=swapped)


def _in_operands(line: Instruction) -> Iterator[tuple[str, Instruction]]:
    for number, operand in enumerate(line.operands):
        match operand:
            case Address():
                size = SIZES[line.form.rpartition(".")[2]]
                if size > 1:
                    yield "misplace by 1", _with(line, number, _moved(operand, 1))
                yield "misplace by an element", _with(line, number, _moved(operand, size))
            case Whole(value=value) if line.form.startswith("setp."):
                yield "bound + 1", _with(line, number, Whole(value + 1))
            case Whole(value=value) if not line.form.startswith("shfl."):
                yield "number + 1", _with(line, number, Whole(value + 1))
            case Name(text=text) if text == BLOCK:
                yield "one block", _with(line, number, Whole(0))
            case _:
                pass


def _moved(address: Address, by: int) -> Address:
    return replace(address, offset=address.offset + by)


def _with(line: Instruction, number: int, operand: Operand) -> Instruction:
    operands = (*line.operands[:number], operand, *line.operands[number + 1 :])
    return replace(line, operands=operands)


def _allowed(form: str, operands: tuple[Operand, ...]) -> bool:
    """Whether a number stands only where one may."""
    return all(
        "i" in word or not isinstance(operand, Whole)
        for word, operand in zip(FORMS[form], operands, strict=True)
    )
