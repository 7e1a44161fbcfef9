"""Reads the text of a module: exactly what `text` prints, and no other PTX.

Each line is taken apart, the module is held to the law of PTX, and then it is printed again: what the text says in
another way than Alpha does, as a register that is declared and not used, shows there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from alpha.targets.nvidia.errors import Damaged
from alpha.targets.nvidia.ptx import (
    SHARED,
    Address,
    Entry,
    Guard,
    Instruction,
    Kind,
    Label,
    Line,
    Module,
    Name,
    Operand,
    Parameter,
    Real,
    Register,
    Vector,
    Whole,
)
from alpha.targets.nvidia.text import to_text
from alpha.targets.nvidia.verify import breaks

_TARGET = re.compile(r"\.target (\w+)")
_ENTRY = re.compile(r"\.visible \.entry (\w+)\(")
_PARAMETER = re.compile(r"\t\.param \.u64 b(\d+),?")
_THREADS = re.compile(r"\.reqntid (\d+), 1, 1")
_BOUND = re.compile(r"\.maxnreg (\d+)")
_DECLARED = re.compile(r"\t\.reg \.\w+ %\w+<\d+>;")
_SHARED = re.compile(rf"\t\.shared \.align 16 \.b8 {SHARED}\[(\d+)\];")
_LABEL = re.compile(r"(\w+):")
_INSTRUCTION = re.compile(r"\t(?:@(!?)(%\w+) )?([A-Za-z][\w.]*)(?: ([^;]*))?;")
_OPERANDS = re.compile(r"\{[^{}]*\}|[^,{} ][^,{}]*")
_REGISTER = re.compile(r"%([a-z]+)(\d{1,9})")
_WHOLE = re.compile(r"-?\d{1,20}")
_REAL = re.compile(r"0f([0-9A-F]{8})|0d([0-9A-F]{16})")
_NAME = re.compile(r"%?\w+(?:\.\w+)?")
_HELD = re.compile(r"\[b(\d{1,9})\]")
_ADDRESS = re.compile(r"\[(%\w+)(?:\+(-?\d{1,20}))?\]")
_KINDS = {kind.value: kind for kind in Kind}


def from_text(text: str) -> Module:
    """The module that `to_text` printed. Raises `Damaged` with the line for every other text."""
    reader = _Reader(text)
    module = reader.module()
    for found in breaks(module):
        if found.entry is None:
            raise Damaged(2, found.reason)
        head, lines = reader.places[found.entry]
        number = lines[found.line] if found.line is not None and lines else head
        raise Damaged(number, found.reason)
    _same(text, to_text(module))
    return module


def _same(text: str, printed: str) -> None:
    """Refuses what is written in another way than Alpha writes it."""
    if text == printed:
        return
    lines, wanted = text.split("\n"), printed.split("\n")
    for number, (line, own) in enumerate(zip(lines, wanted, strict=False), 1):
        if line != own:
            raise Damaged(number, f"`{own.strip()}` is expected here")
    raise Damaged(min(len(lines), len(wanted)), "the text ends with one line break")


class _Reader:
    """`places` has for each entry the number of its first line, and those of the lines of its body."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._at = 0
        self._operands: dict[str, Operand] = {}
        self.places: list[tuple[int, list[int]]] = []

    def module(self) -> Module:
        self._at = 1  # the version is compared with the rest, in the end
        target = self._take(_TARGET, "`.target` with an architecture")[1]
        self._at += 1
        return Module(target, tuple(self._entries()))

    def _entries(self) -> Iterator[Entry]:
        while self._at + 1 < len(self._lines):
            self._at += 1
            self.places.append((self._at + 1, []))
            yield self._entry()

    def _take(self, pattern: re.Pattern[str], wanted: str) -> re.Match[str]:
        found = self._maybe(pattern)
        if found is None:
            # Behind the last line there is no line to name.
            raise Damaged(min(self._at + 1, len(self._lines)), f"{wanted} is expected here")
        return found

    def _maybe(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        line = self._lines[self._at] if self._at < len(self._lines) else ""
        found = pattern.fullmatch(line)
        self._at += found is not None
        return found

    def _count(self, digits: str) -> int:
        """A number of what there is of something: no more digits than any such number has."""
        if len(digits) > 9:
            raise Damaged(self._at, f"{digits[:9]}... is too large")
        return int(digits)

    def _entry(self) -> Entry:
        name = self._take(_ENTRY, "`.visible .entry` with a name")[1]
        parameters = 0
        while (found := self._maybe(_PARAMETER)) is not None:
            if self._count(found[1]) != parameters:
                raise Damaged(self._at, f"the parameter `b{parameters}` is expected here")
            parameters += 1
        self._take(re.compile(r"\)"), "`)`")
        threads = self._count(self._take(_THREADS, "`.reqntid` with three numbers")[1])
        registers = self._count(self._take(_BOUND, "`.maxnreg` with a number")[1])
        self._take(re.compile(r"\{"), "`{`")
        while self._maybe(_DECLARED) is not None:
            pass
        array = self._maybe(_SHARED)
        shared = self._count(array[1]) if array is not None else 0
        return Entry(name, parameters, threads, registers, shared, tuple(self._body()))

    def _body(self) -> Iterator[Line]:
        places = self.places[-1][1]
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if line == "}":
                return
            if not line and self._at == len(self._lines):
                break
            places.append(self._at)
            label = _LABEL.fullmatch(line)
            yield Label(label[1]) if label is not None else self._instruction(line)
        raise Damaged(len(self._lines), "`}` is expected here")

    def _instruction(self, line: str) -> Instruction:
        found = _INSTRUCTION.fullmatch(line)
        if found is None:
            raise Damaged(self._at, "this is no instruction")
        negated, predicate, form, operands = found.groups()
        guard = None
        if predicate is not None:
            guard = Guard(self._register(predicate), negated == "!")
        items = _OPERANDS.findall(operands) if operands is not None else ()
        return Instruction(form, tuple(map(self._operand, items)), guard)

    def _operand(self, text: str) -> Operand:
        found = self._operands.get(text)
        if found is None:
            found = self._operands[text] = self._parsed(text)
        return found

    def _parsed(self, text: str) -> Operand:
        if text.startswith("{"):
            return Vector(tuple(self._register(item) for item in text[1:-1].split(", ")))
        if _REGISTER.fullmatch(text) is not None:
            return self._register(text)
        if _WHOLE.fullmatch(text) is not None:
            return Whole(int(text))
        if (real := _REAL.fullmatch(text)) is not None:
            return Real(int(real[1] or real[2], 16), real[2] is not None)
        if (held := _HELD.fullmatch(text)) is not None:
            return Parameter(int(held[1]))
        if (address := _ADDRESS.fullmatch(text)) is not None:
            return Address(self._register(address[1]), int(address[2] or 0))
        if _NAME.fullmatch(text) is not None:
            return Name(text)
        raise Damaged(self._at, f"`{text}` is no operand")

    def _register(self, text: str) -> Register:
        found = _REGISTER.fullmatch(text)
        kind = _KINDS.get(found[1]) if found is not None else None
        if found is None or kind is None:
            raise Damaged(self._at, f"`{text}` is no register")
        return Register(kind, int(found[2]))
