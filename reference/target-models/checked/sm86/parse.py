"""Reads the subset of PTX strictly, line by line. Whatever else a line holds makes the text malformed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from checked.sm86.faults import Malformed
from checked.sm86.forms import BITS, CLASSES, FORMS, PREFIX, SPECIAL, Form, Slot

VERSIONS = {"sm_86": "7.1", "sm_89": "7.8"}
"""The version of PTX that a text for each architecture is in: the least that has it."""
SHARED = "smem"
"""The name of an entry's only shared array."""


@dataclass(frozen=True)
class Register:
    letter: str
    number: int

    def __str__(self) -> str:
        return f"%{PREFIX[self.letter]}{self.number}"


@dataclass(frozen=True)
class Immediate:
    """A number: `bits` is its pattern in the width of its place."""

    letter: str
    bits: int


@dataclass(frozen=True)
class Special:
    """A special register, or the shared array's address under its name."""

    name: str


@dataclass(frozen=True)
class Vector:
    registers: tuple[Register, ...]


@dataclass(frozen=True)
class Address:
    """A register plus a number of bytes."""

    base: Register
    offset: int


@dataclass(frozen=True)
class Parameter:
    index: int


@dataclass(frozen=True)
class Label:
    name: str


Operand = Register | Immediate | Special | Vector | Address | Parameter | Label


@dataclass(frozen=True)
class Instruction:
    """`guard` is the predicate of a branch, which is taken where it is true, or false if `negated`."""

    line: int
    form: Form
    operands: tuple[Operand, ...]
    guard: Register | None = None
    negated: bool = False


@dataclass
class Entry:
    """A kernel. `labels` gives the number of the instruction that follows a label; sizes are in bytes."""

    name: str
    line: int
    parameters: tuple[str, ...]
    threads: int = 0
    registers: int = 0
    shared: int = 0
    declared: dict[str, int] = field(default_factory=dict)
    body: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    plan: object = None
    """What the machine prepares once for all launches."""


@dataclass
class Module:
    target: str
    entries: dict[str, Entry]


_NAME = r"[a-z][A-Za-z0-9_]*"
_ENTRY = re.compile(rf"\.visible \.entry ({_NAME})\(")
_PARAMETER = re.compile(r"\t\.param \.u64 b(\d+)(,?)")
_THREADS = re.compile(r"\.reqntid (\d+), 1, 1")
_BOUND = re.compile(r"\.maxnreg (\d+)")
_REGISTERS = re.compile(r"\t\.reg \.(\w+) %([a-z]+)<(\d+)>;")
_ARRAY = re.compile(rf"\t\.shared \.align 16 \.b8 {SHARED}\[(\d+)\];")
_LABEL = re.compile(r"(L\d+):")
_INSTRUCTION = re.compile(r"\t(?:@(!?)%p(\d+) )?([a-zA-Z0-9.]+)(?: ([^;]+))?;")
_REGISTER = re.compile(r"%(p|h|rd|r|fd|f)(\d+)")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)")
_ADDRESS = re.compile(r"\[(%rd?\d+)(?:\+(-?[1-9]\d*))?\]")
_OPERANDS = re.compile(r"\{[^{}]*\}|[^,{}]+")
_LETTER = {prefix: letter for letter, prefix in PREFIX.items()}


class _Lines:
    """The lines of a text, one at a time."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.at = 0

    @property
    def number(self) -> int:
        return self.at + 1

    def peek(self) -> str | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def skip_empty(self) -> None:
        while self.peek() == "":
            self.at += 1

    def take(self, pattern: re.Pattern[str], wanted: str) -> re.Match[str]:
        found = self.maybe(pattern)
        if found is None:
            raise Malformed(self.number, f"{wanted} is expected")
        return found

    def maybe(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        line = self.peek()
        found = pattern.fullmatch(line) if line is not None else None
        if found is not None:
            self.at += 1
        return found

    def exactly(self, line: str) -> None:
        self.take(re.compile(re.escape(line)), f"`{line.strip()}`")


def parse(text: str) -> Module:
    """The entries of a PTX text. Raises `Malformed` for whatever is outside of the subset."""
    lines = _Lines(text)
    version = lines.take(re.compile(r"\.version (7\.[18])"), "`.version 7.1` or `.version 7.8`")[1]
    target = lines.take(re.compile(rf"\.target ({'|'.join(VERSIONS)})"), "a known .target")[1]
    if VERSIONS[target] != version:
        raise Malformed(2, f"{target} is not of .version {version}")
    lines.exactly(".address_size 64")
    entries: dict[str, Entry] = {}
    lines.skip_empty()
    while lines.peek() is not None:
        entry = _entry(lines)
        if entry.name in entries:
            raise Malformed(entry.line, f"there are two entries {entry.name}")
        entries[entry.name] = entry
        lines.skip_empty()
    return Module(target, entries)


def _entry(lines: _Lines) -> Entry:
    line = lines.number
    name = lines.take(_ENTRY, "an entry")[1]
    parameters: list[str] = []
    more = lines.peek() != ")"
    while more:
        found = lines.take(_PARAMETER, "a parameter")
        if int(found[1]) != len(parameters):
            raise Malformed(lines.number - 1, f"parameter b{len(parameters)} is expected")
        parameters.append(f"b{found[1]}")
        more = found[2] == ","
    lines.exactly(")")
    entry = Entry(name, line, tuple(parameters))
    entry.threads = int(lines.take(_THREADS, ".reqntid")[1])
    entry.registers = int(lines.take(_BOUND, ".maxnreg")[1])
    lines.exactly("{")
    _declarations(lines, entry)
    _body(lines, entry)
    return entry


def _declarations(lines: _Lines, entry: Entry) -> None:
    while found := lines.maybe(_REGISTERS):
        letter = _LETTER.get(found[2], "")
        if CLASSES.get(letter) != found[1]:
            raise Malformed(lines.number - 1, f"registers %{found[2]} are not .{found[1]}")
        if letter in entry.declared:
            raise Malformed(lines.number - 1, f"registers %{found[2]} are declared twice")
        entry.declared[letter] = int(found[3])
    if array := lines.maybe(_ARRAY):
        entry.shared = int(array[1])


def _body(lines: _Lines, entry: Entry) -> None:
    while lines.peek() not in ("}", None):
        if label := lines.maybe(_LABEL):
            if label[1] in entry.labels:
                raise Malformed(lines.number - 1, f"label {label[1]} stands twice")
            entry.labels[label[1]] = len(entry.body)
        else:
            entry.body.append(_instruction(lines, entry))
    end = lines.number
    lines.exactly("}")
    if not entry.body or not _leaves(entry.body[-1]) or len(entry.body) in entry.labels.values():
        raise Malformed(end, "the body ends without ret or bra")
    for instruction in entry.body:
        for operand in instruction.operands:
            if isinstance(operand, Label) and operand.name not in entry.labels:
                raise Malformed(instruction.line, f"there is no label {operand.name}")


def _leaves(instruction: Instruction) -> bool:
    return instruction.guard is None and instruction.form.name in ("ret", "bra")


def _instruction(lines: _Lines, entry: Entry) -> Instruction:
    line = lines.number
    found = lines.take(_INSTRUCTION, "an instruction, a label or `}`")
    form = FORMS.get(found[3])
    if form is None:
        raise Malformed(line, f"instruction {found[3]} is outside of the subset")
    words = _words(found[4] or "", line)
    if len(words) != len(form.slots):
        raise Malformed(line, f"{form.name} takes {len(form.slots)} operands")
    operands = tuple(
        _operand(word, slot, entry, line) for word, slot in zip(words, form.slots, strict=True)
    )
    guard = None
    if found[2] is not None:
        if form.name != "bra":
            raise Malformed(line, f"{form.name} takes no guard")
        guard = _register(f"%p{found[2]}", "p", entry, line)
    if form.name in ("mov.b32", "mov.b64"):
        kinds = [operand.letter for operand in operands if isinstance(operand, Register)]
        if kinds[0] == kinds[1]:
            raise Malformed(line, f"{form.name} moves bits from one class of registers to another")
    return Instruction(line, form, operands, guard, found[1] == "!")


def _words(text: str, line: int) -> list[str]:
    """The operands of an instruction, which `, ` separates outside of braces."""
    if not text:
        return []
    words = [word.strip() for word in _OPERANDS.findall(text) if word.strip()]
    if ", ".join(words) != text:
        raise Malformed(line, "operands are separated by `, `")
    return words


def _operand(word: str, slot: Slot, entry: Entry, line: int) -> Operand:
    if slot.place == "label":
        return Label(word)
    if slot.place == "exactly":
        if word != str(slot.number):
            raise Malformed(line, f"{slot.number} is expected in place of {word}")
        return Immediate("r", slot.number & 0xFFFFFFFF)
    if slot.place == "parameter":
        if word[:1] + word[-1:] != "[]" or word[1:-1] not in entry.parameters:
            raise Malformed(line, f"{word} is no parameter")
        return Parameter(entry.parameters.index(word[1:-1]))
    if slot.place in ("global", "shared"):
        return _address(word, slot.place, entry, line)
    if slot.lanes > 1:
        return _vector(word, slot, entry, line)
    if word.startswith("%") and word not in SPECIAL:
        return _register(word, slot.classes, entry, line)
    if slot.special and (word in SPECIAL or (word == SHARED and entry.shared)):
        return Special(word)
    if slot.immediate:
        return _immediate(word, slot.classes or "r", line)
    raise Malformed(line, f"{word} cannot stand here")


def _register(word: str, classes: str, entry: Entry, line: int) -> Register:
    found = _REGISTER.fullmatch(word)
    if found is None:
        raise Malformed(line, f"{word} is no register")
    letter, number = _LETTER[found[1]], int(found[2])
    if letter not in classes:
        raise Malformed(line, f"{word} is of another class than the instruction's")
    if number >= entry.declared.get(letter, 0) or found[2] != str(number):
        raise Malformed(line, f"register {word} is not declared")
    return Register(letter, number)


def _vector(word: str, slot: Slot, entry: Entry, line: int) -> Vector:
    parts = word[1:-1].split(", ") if word[:1] + word[-1:] == "{}" else []
    if len(parts) != slot.lanes:
        raise Malformed(line, f"{slot.lanes} registers in braces are expected")
    registers = tuple(_register(part, slot.classes, entry, line) for part in parts)
    return Vector(registers)


def _address(word: str, space: str, entry: Entry, line: int) -> Address:
    found = _ADDRESS.fullmatch(word)
    if found is None:
        raise Malformed(line, f"{word} is no address")
    base = _register(found[1], "d" if space == "global" else "r", entry, line)
    return Address(base, int(found[2] or 0))


def _immediate(word: str, letter: str, line: int) -> Immediate:
    width = BITS[letter]
    if letter in "fg":
        if not re.fullmatch(r"0f[0-9A-F]{8}" if letter == "f" else r"0d[0-9A-F]{16}", word):
            raise Malformed(line, f"{word} is no number of {width} bits")
        return Immediate(letter, int(word[2:], 16))
    if not _NUMBER.fullmatch(word) or not -(2 ** (width - 1)) <= int(word) < 2**width:
        raise Malformed(line, f"{word} is no number of {width} bits")
    return Immediate(letter, int(word) % 2**width)
