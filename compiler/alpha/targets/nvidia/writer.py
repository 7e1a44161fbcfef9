"""Writes the lines of one entry: fresh registers, labels, and what is known already where the next line will stand."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from alpha.targets.nvidia.forms import FORMS, KINDS
from alpha.targets.nvidia.ptx import (
    Guard,
    Instruction,
    Kind,
    Label,
    Line,
    Name,
    Operand,
    Real,
    Register,
    Whole,
)

_Known = TypeVar("_Known")
MOVES = {
    Kind.PRED: "mov.pred",
    Kind.B16: "mov.b16",
    Kind.B32: "mov.u32",
    Kind.B64: "mov.u64",
    Kind.F32: "mov.f32",
    Kind.F64: "mov.f64",
}
SELECTS = {
    Kind.B16: "selp.b16",
    Kind.B32: "selp.b32",
    Kind.B64: "selp.b64",
    Kind.F32: "selp.f32",
    Kind.F64: "selp.f64",
}


class Writer:
    """`lines` grow downwards. What `once` remembers holds to the end of the block it was found in."""

    __slots__ = ("_known", "_labels", "_next", "lines")

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._next = dict.fromkeys(Kind, 0)
        self._known: dict[Hashable, object] = {}
        self._labels = 0

    def fresh(self, kind: Kind) -> Register:
        number = self._next[kind]
        self._next[kind] = number + 1
        return Register(kind, number)

    def emit(self, form: str, *operands: Operand, guard: Guard | None = None) -> None:
        self.lines.append(Instruction(form, operands, guard))

    def made(self, form: str, *operands: Operand, into: Register | None = None) -> Register:
        """What an instruction gives, in a fresh register unless `into` names one."""
        result = into or self.fresh(KINDS[FORMS[form][0][0]])
        self.lines.append(Instruction(form, (result, *operands)))
        return result

    def once(self, form: str, *operands: Operand) -> Register:
        """What an instruction gives, from where it was carried out before if it was."""
        key = (form, operands)
        found = self._known.get(key)
        if not isinstance(found, Register):
            found = self._known[key] = self.made(form, *operands)
        return found

    def move(self, into: Register, value: Operand) -> None:
        if into != value:
            self.emit(MOVES[into.kind], into, value)

    def held(self, value: Operand) -> Register:
        """A register with the value."""
        if isinstance(value, Register):
            return value
        if isinstance(value, Real):
            return self.once("mov.f64" if value.double else "mov.f32", value)
        return self.once("mov.u32", value)

    def wide(self, value: Operand) -> Operand:
        """A signed number of 32 bits as one of 64."""
        if isinstance(value, Whole):
            return value
        return self.once("cvt.s64.s32", value)

    def label(self) -> Label:
        self._labels += 1
        return Label(f"L{self._labels}")

    def place(self, label: Label) -> None:
        self.lines.append(label)

    def branch(self, label: Label, guard: Guard | None = None) -> None:
        self.emit("bra", Name(label.name), guard=guard)

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is found out within is not known behind."""
        before, self._known = self._known, dict(self._known)
        yield
        self._known = before
