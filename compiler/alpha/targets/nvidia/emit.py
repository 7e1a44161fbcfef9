"""From kernels to PTX: what a thread does, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from alpha.kernel.affine import Indices
from alpha.kernel.node import (
    INDEX,
    Atom,
    Barrier,
    Compute,
    Constant,
    Grid,
    If,
    Kernel,
    Load,
    Loop,
    Scalar,
    SharedLoad,
    SharedStore,
    Shuffle,
    Statement,
    Store,
    Variable,
)
from alpha.targets.nvidia.accesses import Accesses
from alpha.targets.nvidia.loops import turns_at_once, written_last
from alpha.targets.nvidia.operators import COMPARED, Operators, kind_of, literal
from alpha.targets.nvidia.places import Place, Places, narrow
from alpha.targets.nvidia.ptx import (
    BLOCK,
    THREAD,
    Entry,
    Guard,
    Kind,
    Module,
    Name,
    Operand,
    Register,
    Whole,
)
from alpha.targets.nvidia.unused import without_unused
from alpha.targets.nvidia.writer import Writer

FULL_WARP = Whole(-1)


def emit_module(kernels: Iterable[tuple[str, Kernel]], target: str) -> Module:
    """The module of the architecture `target` with an entry of each name."""
    return Module(target, tuple(emit_entry(name, kernel) for name, kernel in kernels))


def emit_entry(name: str, kernel: Kernel) -> Entry:
    """The kernel must be for a device, and verified."""
    if kernel.grid is None:
        raise ValueError(f"`{kernel.symbol}` is for a host")
    return _Emitter(kernel, kernel.grid).entry(name)


class _Emitter:
    """`values` has the lanes of each variable, `places` the indices that are not computed yet."""

    def __init__(self, kernel: Kernel, grid: Grid) -> None:
        self.kernel = kernel
        self.grid = grid
        self.writer = Writer()
        self.places = Places(self.writer)
        self.operators = Operators(self.writer)
        self.indices = Indices(kernel.buffers)
        self.values: dict[Variable, tuple[Operand, ...]] = {}
        self.indexed: dict[Variable, Place] = {}
        self.settled: dict[Variable, tuple[Register, ...]] = {}

    def entry(self, name: str) -> Entry:
        grid = self.grid
        for variable, count, special in (
            (grid.block, grid.blocks, BLOCK),
            (grid.thread, grid.threads, THREAD),
        ):
            self.indices.ranged(variable, count)
            if count == 1:
                self.indexed[variable] = Place(None)
            else:
                self.indexed[variable] = Place(self.writer.once("mov.u32", Name(special)))
        self.accesses = Accesses(self.kernel, grid, self.writer, self.places)
        self._block(self.kernel.body)
        self.writer.emit("ret")
        return Entry(
            name,
            len(self.kernel.buffers),
            grid.threads,
            grid.registers,
            grid.shared_bytes,
            without_unused(self.writer.lines),
        )

    # Values.

    def _place(self, atom: Atom) -> Place:
        if isinstance(atom, Constant):
            assert isinstance(atom.value, int)
            return Place(None, 1, atom.value)
        if atom in self.indexed:
            return self.indexed[atom]
        (value,) = self.values[atom]
        return Place(self.writer.held(value))

    def _lanes(self, atom: Atom, wide: bool = True) -> tuple[Operand, ...]:
        """The operand in each lane; indices with 64 bits unless all that is done needs no more than 32."""
        if isinstance(atom, Constant):
            assert not isinstance(atom.value, tuple)
            return (literal(atom.value, atom.type.scalar),) * atom.type.lanes
        if atom in self.values:
            return self.values[atom]
        place = self.indexed[atom]
        return (self.places.wide(place) if wide else self.places.number(place),)

    def _define(self, result: Variable, lanes: Sequence[Operand]) -> None:
        self.values[result] = tuple(lanes)

    # Statements.

    def _block(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Compute():
                    self._compute(statement)
                case Load():
                    self._load(statement)
                case Store():
                    place = self._place(statement.index)
                    self.accesses.store(statement, place, self._lanes(statement.value))
                case Loop():
                    self._loop(statement)
                case If():
                    self._if(statement)
                case SharedLoad():
                    place = self._place(statement.index)
                    self._define(statement.result, self.accesses.load(statement, place))
                case SharedStore():
                    place = self._place(statement.index)
                    self.accesses.store(statement, place, self._lanes(statement.value))
                case Shuffle():
                    self._shuffle(statement)
                case Barrier():
                    self.writer.emit("bar.sync", Whole(0))
                case _:
                    assert_never(statement)

    def _compute(self, statement: Compute) -> None:
        self.indices.compute(statement)
        result, operands = statement.result, statement.operands
        if result.type == INDEX and self._index(statement):
            return
        lanes = result.type.lanes
        match statement.operator:
            case "splat":
                self._define(result, self._lanes(operands[0]) * lanes)
                return
            case "extract":
                lane = operands[1]
                assert isinstance(lane, Constant) and isinstance(lane.value, int)
                self._define(result, (self._lanes(operands[0])[lane.value],))
                return
            case "pack":
                self._define(result, [self._lanes(item)[0] for item in operands])
                return
            case _:
                pass
        source, target = operands[-1].type.scalar, result.type.scalar
        if statement.operator == "convert" and operands[0] in self.indexed:
            self._define(result, (self._from_index(operands[0], target),))
            return
        if statement.operator in COMPARED and source is Scalar.I64:
            self._define(result, (self._compared(statement),))
            return
        columns = [self._lanes(item) for item in operands]
        settled = self.settled.get(result)
        self._define(
            result,
            [
                self.operators.apply(
                    statement.operator,
                    [column[lane] for column in columns],
                    source,
                    target,
                    settled[lane] if settled else None,
                )
                for lane in range(lanes)
            ],
        )

    def _index(self, statement: Compute) -> bool:
        """Whether the result is an index that is known as a place."""
        operator, operands, result = statement.operator, statement.operands, statement.result
        within = self.indices.interval(self.indices.form(result))
        found: Place | None = None
        match operator:
            case "add":
                found = self.places.add(self._place(operands[0]), self._place(operands[1]), within)
            case "sub":
                low, high = self.indices.interval(self.indices.form(operands[1]))
                taken = self.places.scaled(self._place(operands[1]), -1, (-high, -low))
                found = self.places.add(self._place(operands[0]), taken, within)
            case "mul":
                a, b = (self._place(item) for item in operands)
                if b.known is not None:
                    found = self.places.scaled(a, b.known, within)
                elif a.known is not None:
                    found = self.places.scaled(b, a.known, within)
            case "quotient" | "remainder":
                by = self._place(operands[1]).known
                if by is not None and by > 0:
                    of = self.indices.interval(self.indices.form(operands[0]))
                    place = self._place(operands[0])
                    found = self.places.divided(place, by, operator == "remainder", of)
            case "minimum" | "maximum":
                numbers = [self.places.number(self._place(item)) for item in operands]
                if all(map(_is_narrow, numbers)):
                    found = Place(self.writer.once(f"{operator[:3]}.s32", *numbers))
            case "convert" if operands[0].type.scalar.is_integer and narrow(within):
                (value,) = self._lanes(operands[0])
                held = self.writer.held(value)
                if held.kind is Kind.B32:
                    found = Place(held)
            case _:
                pass
        if found is not None:
            self.indexed[result] = found
        return found is not None

    def _compared(self, statement: Compute) -> Operand:
        numbers = [self._lanes(item, wide=False)[0] for item in statement.operands]
        if all(_is_narrow(item) for item in numbers):
            return self.operators.apply(statement.operator, numbers, Scalar.I32, Scalar.BOOL, None)
        wide = [self._lanes(item)[0] for item in statement.operands]
        return self.operators.apply(statement.operator, wide, Scalar.I64, Scalar.BOOL, None)

    def _from_index(self, atom: Atom, target: Scalar) -> Operand:
        number = self.places.number(self._place(atom))
        source = Scalar.I64
        if isinstance(number, Whole) or (isinstance(number, Register) and number.kind is Kind.B32):
            source = Scalar.I32
        if source is target:
            return number
        return self.operators.apply("convert", (number,), source, target, None)

    def _load(self, statement: Load) -> None:
        place = self._place(statement.index)
        self.indices.load(statement)
        self._define(statement.result, self.accesses.load(statement, place))

    def _shuffle(self, statement: Shuffle) -> None:
        (value,) = self._lanes(statement.value)
        held = self.writer.held(value)
        result = self.writer.fresh(held.kind)
        mask = Whole(statement.mask)
        self.writer.emit("shfl.sync.bfly.b32", result, held, mask, Whole(31), FULL_WARP)
        self._define(statement.result, (result,))

    # Blocks.

    def _if(self, statement: If) -> None:
        (condition,) = self._lanes(statement.condition)
        behind = self.writer.label()
        self.writer.branch(behind, Guard(self.operators.predicate(condition), True))
        with self.writer.block(), self.indices.where(statement.condition):
            self._block(statement.body)
        self.writer.place(behind)

    def _loop(self, loop: Loop) -> None:
        """Turns are written out where there are few; else several at once, and the rest goes round."""
        turns = range(loop.start, loop.stop, loop.step)
        self.indices.loop(loop.index, loop.start, loop.stop, loop.step)
        carried = [self._lanes(item.initial) for item in loop.carried]
        at_once = turns_at_once(loop)
        if at_once >= len(turns):
            for index in turns:
                self.indexed[loop.index] = Place(None, 1, index)
                carried = self._turn(loop, carried)
        else:
            carried = self._round(loop, at_once, carried)
        for item, lanes in zip(loop.carried, carried, strict=True):
            self._define(item.result, lanes)

    def _turn(
        self, loop: Loop, carried: Sequence[tuple[Operand, ...]]
    ) -> list[tuple[Operand, ...]]:
        for item, lanes in zip(loop.carried, carried, strict=True):
            self._define(item.inside, lanes)
        self._block(loop.body)
        return [self._lanes(item.next) for item in loop.carried]

    def _round(
        self, loop: Loop, at_once: int, initial: Sequence[tuple[Operand, ...]]
    ) -> list[tuple[Operand, ...]]:
        writer = self.writer
        index = writer.made("mov.u32", Whole(loop.start))
        homes: list[tuple[Register, ...]] = []
        for item, lanes in zip(loop.carried, initial, strict=True):
            home = tuple(writer.fresh(kind_of(item.inside.type.scalar)) for _ in lanes)
            for register, value in zip(home, lanes, strict=True):
                writer.move(register, self._like(register, value))
            homes.append(home)
        again = writer.label()
        writer.place(again)
        carried: list[tuple[Operand, ...]] = list(homes)
        with writer.block():
            for turn in range(at_once):
                self.indexed[loop.index] = Place(index, 1, turn * loop.step)
                if turn == at_once - 1:
                    for place in written_last(loop, at_once == 1):
                        following = loop.carried[place].next
                        assert isinstance(following, Variable)
                        self.settled[following] = homes[place]
                carried = self._turn(loop, carried)
            self._bring(homes, carried)
            writer.emit("add.s32", index, index, Whole(at_once * loop.step))
            more = writer.made("setp.lt.s32", index, Whole(loop.stop))
            writer.branch(again, Guard(more))
        for item in loop.carried:
            if isinstance(item.next, Variable):
                self.settled.pop(item.next, None)
        return list(homes)

    def _bring(
        self, homes: Sequence[tuple[Register, ...]], carried: Sequence[tuple[Operand, ...]]
    ) -> None:
        """Moves what the turn carries on to where the next turn finds it; values that change places do so at once."""
        moves = [
            (register, self._like(register, value))
            for home, lanes in zip(homes, carried, strict=True)
            for register, value in zip(home, lanes, strict=True)
            if register != value
        ]
        targets = {register for register, _ in moves}
        saved: dict[Operand, Register] = {}
        for _, value in moves:
            if value in targets and isinstance(value, Register) and value not in saved:
                saved[value] = self.writer.fresh(value.kind)
                self.writer.move(saved[value], value)
        for register, value in moves:
            self.writer.move(register, saved.get(value, value))

    def _like(self, register: Register, value: Operand) -> Operand:
        """The value as that kind of register takes it."""
        if register.kind is Kind.PRED:
            return self.operators.predicate(value)
        if isinstance(value, Register) and (value.kind, register.kind) == (Kind.B32, Kind.B64):
            return self.writer.wide(value)
        return value


def _is_narrow(number: Operand) -> bool:
    if isinstance(number, Whole):
        return narrow((number.value, number.value))
    return isinstance(number, Register) and number.kind is Kind.B32
