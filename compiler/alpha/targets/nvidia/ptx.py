"""PTX as data: instructions with typed operands, entries, modules.

Only what Alpha emits is here: one-dimensional launches, 64-bit addresses as parameters, one shared array an entry.
"""

from __future__ import annotations

from enum import Enum

from alpha.base.record import record

VERSIONS = {"sm_86": "7.1", "sm_89": "7.8"}
"""The least version of the language that has an architecture, so that the most drivers take it."""
SHARED = "smem"
"""The name of an entry's shared array."""
THREAD, BLOCK = "%tid.x", "%ctaid.x"


class Kind(Enum):
    """The kinds of registers, by the letters of their names."""

    PRED = "p"
    B16 = "h"
    B32 = "r"
    B64 = "rd"
    F32 = "f"
    F64 = "fd"

    # Looked up for every operand: that of `Enum` hashes the name anew, and its `value` is a property.
    __hash__ = object.__hash__

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    @property
    def declared(self) -> str:
        """The type in a declaration."""
        return _DECLARED[self]


_DECLARED = {
    Kind.PRED: "pred",
    Kind.B16: "b16",
    Kind.B32: "b32",
    Kind.B64: "b64",
    Kind.F32: "f32",
    Kind.F64: "f64",
}


@record
class Register:
    kind: Kind
    number: int

    def __str__(self) -> str:
        return f"%{self.kind.prefix}{self.number}"


@record
class Whole:
    """An integer in an instruction."""

    value: int

    def __str__(self) -> str:
        return str(self.value)


@record
class Real:
    """A float in an instruction, by its bits."""

    bits: int
    double: bool = False

    def __str__(self) -> str:
        return f"0d{self.bits:016X}" if self.double else f"0f{self.bits:08X}"


@record
class Name:
    """A special register, the shared array, or a label."""

    text: str

    def __str__(self) -> str:
        return self.text


@record
class Parameter:
    """What an entry was launched with: the address number `number`."""

    number: int

    def __str__(self) -> str:
        return f"[b{self.number}]"


@record
class Address:
    """A place in memory: global behind a 64-bit register, shared behind a 32-bit one."""

    base: Register
    offset: int = 0

    def __str__(self) -> str:
        if not self.offset:
            return f"[{self.base}]"
        return f"[{self.base}+{self.offset}]"


@record
class Vector:
    """Two or four registers that memory fills, or is filled from, at once."""

    items: tuple[Register, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.items))}}}"


Operand = Register | Whole | Real | Name | Parameter | Address | Vector


@record
class Guard:
    """An instruction is carried out where the predicate holds, or with `negated` where it does not."""

    predicate: Register
    negated: bool = False

    def __str__(self) -> str:
        return f"@{'!' if self.negated else ''}{self.predicate}"


@record
class Instruction:
    """`form` is a row of `forms.FORMS`: the mnemonic with its types. Results come before what they are made of."""

    form: str
    operands: tuple[Operand, ...] = ()
    guard: Guard | None = None


@record
class Label:
    name: str


Line = Instruction | Label


@record
class Entry:
    """A kernel. It takes `parameters` addresses; `registers` bounds the 32-bit registers of each of its threads."""

    name: str
    parameters: int
    threads: int
    registers: int
    shared: int
    body: tuple[Line, ...]


@record
class Module:
    """`target` is the architecture: `sm_86`."""

    target: str
    entries: tuple[Entry, ...]


def registers(line: Line) -> list[Register]:
    """All registers that a line names: those of its first operand, of the others, then the guard's."""
    if isinstance(line, Label):
        return []
    found: list[Register] = []
    for operand in line.operands:
        kind = type(operand)
        if kind is Register:
            found.append(operand)  # type: ignore[arg-type]
        elif kind is Address:
            found.append(operand.base)  # type: ignore[union-attr]
        elif kind is Vector:
            found.extend(operand.items)  # type: ignore[union-attr]
    if line.guard is not None:
        found.append(line.guard.predicate)
    return found
