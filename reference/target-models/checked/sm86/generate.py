"""Turns a basic block into one function of Python, so that an instruction costs its arithmetic and little else.

There are two versions of each: `whole` works on all threads of the batch, whose registers are arrays; `part` works on
some of them, takes their values out of the arrays when the block begins, and puts back what later blocks may read when
it ends. Arrays are never changed in place within a function, so two registers may never share one after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy

from checked.sm86.access import ELEMENTS, Access
from checked.sm86.flow import Block, result, sources
from checked.sm86.opcodes import MEANINGS, NAMES, ROUNDED
from checked.sm86.parse import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Parameter,
    Register,
    Special,
    Vector,
)

Array = Any
Code = Callable[[Any, Any], Any]
TYPES: dict[str, Any] = {
    "p": numpy.bool_, "h": numpy.uint16, "r": numpy.uint32, "d": numpy.uint64, "f": numpy.float32, "g": numpy.float64,
}  # fmt: skip
_OWN = {"h": "u2", "r": "u4", "d": "u8"}


def generate(
    name: str,
    block: Block,
    slots: dict[Register, int],
    watched: frozenset[Register],
    part: bool,
    accesses: dict[int, Access],
) -> Code:
    """The function of a block, `(machine, lanes) -> condition of its branch`, where that has one.

    `slots` numbers the registers of the entry, `watched` are those that may be read without a value somewhere, and
    `accesses` has the block's loads and stores by line.
    """
    writer = _Writer(block, slots, watched, part, accesses)
    lines = writer.lines()
    text = "def block(m, lanes):\n" + "".join(f"    {line}\n" for line in lines)
    space = dict(writer.space)
    exec(compile(text, f"<{name} block {block.index}>", "exec"), space)
    code: Code = space["block"]
    return code


class _Writer:
    def __init__(
        self,
        block: Block,
        slots: dict[Register, int],
        watched: frozenset[Register],
        part: bool,
        accesses: dict[int, Access],
    ) -> None:
        self.block = block
        self.slots = slots
        self.watched = watched
        self.part = part
        self.accesses = accesses
        self.space: dict[str, Any] = dict(NAMES)
        self.out: list[str] = []
        self.held: set[Register] = set()  # in a local variable
        self.defined: set[Register] = set()
        self.rounded: set[Register] = set()  # may hold a NaN that is not the card's
        self.widened: set[Register] = set()  # also held as binary64

    def lines(self) -> list[str]:
        self.out.append("R = m.registers")
        for item in self.block.instructions:
            self._instruction(item)
        self._leave()
        last = self.block.last
        if last.guard is not None:
            self.out.append(f"return {'~' if last.negated else ''}{_local(last.guard)}")
        return self.out

    # ---- registers

    def _take(self, item: Instruction) -> None:
        """Puts what an instruction reads into local variables, and refuses what may have no value."""
        for register in dict.fromkeys(sources(item)):
            if register in self.block.unknown and register not in self.defined:
                self.out.append(
                    f"m.check({self.slots[register]}, '{register}', {item.line}, lanes)"
                )
            if register not in self.held:
                self.held.add(register)
                pick = ".take(lanes.at)" if self.part else ""
                self.out.append(f"{_local(register)} = R[{self.slots[register]}]{pick}")

    def _give(self, register: Register, text: str, rounded: bool = False) -> None:
        self.out.append(f"{_local(register)} = {text}")
        self._gave(register, rounded)

    def _gave(self, register: Register, rounded: bool = False) -> None:
        self.held.add(register)
        self.defined.add(register)
        self.widened.discard(register)
        (self.rounded.add if rounded else self.rounded.discard)(register)

    def _leave(self) -> None:
        """Puts what later blocks may read back into the machine's registers."""
        for register in sorted(self.defined, key=self.slots.__getitem__):
            slot = self.slots[register]
            if register in self.block.kept:
                value = self._seen(register)
                if self.part:
                    self.out.append(f"m.scatter({slot}, {value}, lanes.at)")
                else:
                    self.out.append(f"R[{slot}] = {value}")
            if register in self.watched:
                self.out.append(f"m.define({slot}, lanes.at)")

    def _seen(self, register: Register) -> str:
        """A register whose bits are looked at."""
        if register in self.rounded:
            self.rounded.discard(register)
            self.out.append(f"{_local(register)} = canonical({_local(register)})")
        return _local(register)

    # ---- operands

    def _constant(self, letter: str, bits: int) -> str:
        name = f"k_{letter}{bits}"
        if name not in self.space:
            plain = {"f": "u4", "g": "u8"}.get(letter, _OWN.get(letter, ""))
            self.space[name] = numpy.array(bits, NAMES[plain]).view(TYPES[letter])
        return name

    def _value(self, operand: Operand) -> str:
        if isinstance(operand, Register):
            return _local(operand)
        assert isinstance(operand, Immediate)
        return self._constant(operand.letter, operand.bits)

    def _values(self, operands: Iterable[Operand]) -> list[str]:
        """Sources as expressions, of which at least one is an array of all lanes."""
        operands = list(operands)
        texts = [self._value(operand) for operand in operands]
        if not any(isinstance(operand, Register) for operand in operands):
            texts[0] = f"m.spread({texts[0]}, lanes)"
        return texts

    # ---- instructions

    def _instruction(self, item: Instruction) -> None:
        self._take(item)
        name = item.form.name
        operation = item.form.operation
        if name in ("bra", "ret", "bar.sync"):
            return
        if name == "ld.param.u64":
            parameter = item.operands[1]
            assert isinstance(parameter, Parameter)
            self._give(result(item)[0], f"m.parameter({parameter.index}, lanes)")
        elif operation in ("ld", "st"):
            self._access(item)
        elif operation == "shfl":
            mask = item.operands[2]
            assert isinstance(mask, Immediate)
            target, source = result(item)[0], item.operands[1]
            assert isinstance(source, Register)
            self._give(target, f"m.shuffle({self._seen(source)}, {mask.bits}, {item.line}, lanes)")
        elif name in ("mov.b32", "mov.b64"):
            self._bits(item)
        elif name == "fma.rn.f32":
            self._fma(item)
        elif name == "mov.u32" and isinstance(item.operands[1], Special):
            special = {"%tid.x": "lanes.thread.copy()", "%ctaid.x": "lanes.block.copy()"}
            shared = "m.spread(m.shared_address, lanes)"
            self._give(result(item)[0], special.get(item.operands[1].name, shared))
        else:
            self._arithmetic(item)

    def _arithmetic(self, item: Instruction) -> None:
        name = item.form.name
        target = result(item)[0]
        operands = item.operands[1:]
        moves = item.form.operation in ("mov", "selp")
        if moves:  # the bits of an operand stay what they are, so each is made the card's first
            for operand in operands:
                if isinstance(operand, Register):
                    self._seen(operand)
        texts = self._values(operands)
        if item.form.operation in ("div", "rem") and not name.startswith("div.rn"):
            self.out.append(f"m.divisor({texts[1]}, {item.line}, lanes)")
        text = MEANINGS[name].format(**dict(zip("abcd", texts, strict=False)))
        self._give(target, text, name in ROUNDED)

    def _bits(self, item: Instruction) -> None:
        source = item.operands[1]
        assert isinstance(source, Register)
        type_ = {"r": "u4", "f": "f4", "d": "u8", "g": "f8"}[result(item)[0].letter]
        self._give(result(item)[0], f"{self._seen(source)}.view({type_}).copy()")

    def _fma(self, item: Instruction) -> None:
        """Sources are kept as binary64 as long as their register keeps its value: fragments of tiles are used often."""
        target = result(item)[0]
        texts = []
        operands = item.operands[1:]
        spread = not any(isinstance(operand, Register) for operand in operands)
        for operand in operands:
            if isinstance(operand, Register) and operand in self.widened:
                texts.append(_local(operand, "w"))
            elif isinstance(operand, Register) and operand != target:
                self.out.append(f"{_local(operand, 'w')} = {_local(operand)}.astype(f8)")
                self.widened.add(operand)
                texts.append(_local(operand, "w"))
            else:
                value = self._value(operand)
                texts.append(f"{f'm.spread({value}, lanes)' if spread else value}.astype(f8)")
                spread = False
        self._give(target, f"fma32({', '.join(texts)})")

    def _access(self, item: Instruction) -> None:
        access = self.accesses[item.line]
        name = f"s{access.number}"
        self.space[name] = access
        store = access.store
        address = item.operands[0 if store else 1]
        value = item.operands[1 if store else 0]
        assert isinstance(address, Address)
        where = (
            _local(address.base)
            if address.base is not None
            else "m.spread(m.shared_address, lanes)"
        )
        registers = value.registers if isinstance(value, Vector) else (value,)
        whole = [register for register in registers if isinstance(register, Register)]
        space = "shared" if access.space == "shared" else "memory"
        if store:
            values = [self._seen(register) for register in whole]
            self.out.append(f"m.{space}.store({name}, {where}, ({', '.join(values)},), lanes)")
            return
        names = ", ".join(map(_local, whole))
        text = f"m.{space}.load({name}, {where}, lanes)"
        if TYPES[whole[0].letter] != ELEMENTS[access.kind]:
            text += f".astype({_OWN[whole[0].letter]})"
        self.out.append(f"{names} = {text}")
        for register in whole:
            self._gave(register)


def _local(register: Register, prefix: str = "v") -> str:
    return f"{prefix}_{register.letter}{register.number}"
