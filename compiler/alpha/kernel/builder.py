"""Writes the body of one kernel, statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from alpha.base.record import replace
from alpha.base.span import Span
from alpha.kernel.node import (
    INDEX,
    LANES,
    QUAD,
    Atom,
    Barrier,
    Buffer,
    Carried,
    Compute,
    Constant,
    Grid,
    If,
    Kernel,
    Load,
    Loop,
    Scalar,
    Shared,
    SharedLoad,
    SharedStore,
    Shuffle,
    Statement,
    Store,
    ValueType,
    Variable,
)

COMPARISONS = frozenset(
    {"equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual", "isNan"}
)
IOTA = tuple(range(LANES))

Turn = Callable[[Variable, Sequence[Atom]], Sequence[Atom]]
"""The body of a loop: its index and what the turn before carried, to what this one carries on."""


def index(value: int) -> Constant:
    return Constant(value, INDEX)


class KernelBuilder:
    """Extends the innermost open block. Arithmetic on known indices is done at once and leaves no statement."""

    __slots__ = ("_block", "_grid", "_serial", "_shared", "buffers", "written")

    def __init__(self) -> None:
        self.buffers: list[Buffer] = []
        self.written: list[int] = []
        self._grid: Grid | None = None
        self._shared: list[Shared] = []
        self._block: list[Statement] = []
        self._serial = 0

    def reads(self, buffer: Buffer) -> int:
        """The number of a buffer that the kernel loads from; the same buffer is named once."""
        if buffer in self.buffers:
            return self.buffers.index(buffer)
        self.buffers.append(buffer)
        return len(self.buffers) - 1

    def writes(self, buffer: Buffer) -> int:
        """The number of the buffer that the kernel stores to."""
        self.buffers.append(buffer)
        self.written.append(len(self.buffers) - 1)
        return len(self.buffers) - 1

    def apply(self, operator: str, *operands: Atom, to: ValueType | None = None) -> Atom:
        """One operator. The result has the type of the last operand, unless `to` or the operator says otherwise."""
        last = operands[-1].type
        type_ = to or (ValueType(Scalar.BOOL, last.lanes) if operator in COMPARISONS else last)
        if type_ == INDEX:
            known = _known(operator, operands)
            if known is not None:
                return known
        result = self._variable(type_)
        self._block.append(Compute(result, operator, operands))
        return result

    def add(self, a: Atom, b: Atom) -> Atom:
        return self.apply("add", a, b)

    def scaled(self, a: Atom, factor: int) -> Atom:
        """An index times a known number."""
        return self.apply("mul", a, index(factor))

    def affine(self, terms: Sequence[tuple[Atom, int]], constant: int = 0) -> Atom:
        """The sum of indices times known strides, and a constant."""
        total: Atom = index(0)
        for atom, stride in terms:
            total = self.add(total, self.scaled(atom, stride))
        return self.add(total, index(constant))

    def splat(self, value: Atom, lanes: int) -> Atom:
        """One lane in every lane; `value` itself for one lane."""
        if lanes == 1 or value.type.lanes == lanes:
            return value
        if isinstance(value, Constant):
            return Constant(value.value, ValueType(value.type.scalar, lanes))
        return self.apply("splat", value, to=ValueType(value.type.scalar, lanes))

    def convert(self, value: Atom, scalar: Scalar) -> Atom:
        if value.type.scalar is scalar:
            return value
        return self.apply("convert", value, to=ValueType(scalar, value.type.lanes))

    def bits(self, value: Atom, scalar: Scalar) -> Atom:
        if value.type.scalar is scalar:
            return value
        return self.apply("bits", value, to=ValueType(scalar, value.type.lanes))

    def extract(self, value: Atom, lane: int) -> Atom:
        return self.apply("extract", value, index(lane), to=ValueType(value.type.scalar))

    def load(self, buffer: int, place: Atom, lanes: int = 1) -> Atom:
        """One element, or 16 in a row from `place` on."""
        result = self._variable(ValueType(self.buffers[buffer].scalar, lanes))
        self._block.append(Load(result, buffer, place))
        return result

    def strided(self, buffer: int, place: Atom, stride: int, lanes: int) -> Atom:
        """Lane j holds the element at `place + j * stride`."""
        if lanes == 1 or stride == 1:
            return self.load(buffer, place, lanes)
        if stride == 0:
            return self.splat(self.load(buffer, place), lanes)
        steps = Constant(tuple(lane * stride for lane in IOTA), ValueType(Scalar.I64, LANES))
        return self.load(buffer, self.apply("add", self.splat(place, lanes), steps), lanes)

    def store(self, buffer: int, place: Atom, value: Atom) -> None:
        self._block.append(Store(buffer, place, value))

    # What only the threads of a device do.

    def launch(self, blocks: int, threads: int, registers: int) -> tuple[Atom, Atom]:
        """The kernel is for a device, in so many blocks. The numbers of the block and of the thread in it."""
        block, thread = self._variable(INDEX), self._variable(INDEX)
        self._grid = Grid(blocks, threads, registers, block, thread)
        return (
            block if blocks > 1 else index(0),
            thread if threads > 1 else index(0),
        )

    def shares(self, name: str, scalar: Scalar, count: int) -> int:
        """The number of a new array that the threads of a block share."""
        self._shared.append(Shared(name, scalar, count))
        return len(self._shared) - 1

    def shared_load(self, array: int, place: Atom, lanes: int = 1) -> Atom:
        result = self._variable(ValueType(self._shared[array].scalar, lanes))
        self._block.append(SharedLoad(result, array, place))
        return result

    def shared_store(self, array: int, place: Atom, value: Atom) -> None:
        self._block.append(SharedStore(array, place, value))

    def barrier(self) -> None:
        self._block.append(Barrier())

    def shuffle(self, value: Atom, mask: int) -> Atom:
        result = self._variable(value.type)
        self._block.append(Shuffle(result, value, mask))
        return result

    def pack(self, values: Sequence[Atom]) -> Atom:
        """Four values as the lanes of one."""
        return self.apply("pack", *values, to=ValueType(values[0].type.scalar, QUAD))

    @contextmanager
    def when(self, condition: Atom) -> Iterator[None]:
        """What is written within is done where the condition holds."""
        outer, self._block = self._block, []
        yield
        body, self._block = tuple(self._block), outer
        self._block.append(If(condition, body))

    @contextmanager
    def below(self, place: Atom, count: int, most: int) -> Iterator[None]:
        """What is written within is done where `place`, at most `most`, is less than `count`."""
        if most < count:
            yield
            return
        with self.when(self.apply("less", place, index(count))):
            yield

    @contextmanager
    def loop(self, extent: int, *, parallel: bool = False) -> Iterator[Atom]:
        """`extent` turns with the index from 0. A serial loop of one turn is its body with the index 0."""
        if extent == 1 and not parallel:
            yield index(0)
            return
        variable = self._variable(INDEX)
        outer, self._block = self._block, []
        yield variable
        body, self._block = tuple(self._block), outer
        if extent:
            self._block.append(Loop(variable, 0, extent, 1, parallel, (), body))

    def fold(
        self, start: int, stop: int, initial: Sequence[Atom], turn: Turn, step: int = 1
    ) -> list[Atom]:
        """Runs `turn` for start, start + step, ... below stop; what the last turn carries, `initial` without a turn."""
        if start >= stop:
            return list(initial)
        variable = self._variable(INDEX)
        inside = [self._variable(atom.type) for atom in initial]
        outer, self._block = self._block, []
        following = turn(variable, inside)
        body, self._block = tuple(self._block), outer
        results = [self._variable(atom.type) for atom in initial]
        carried = tuple(
            Carried(*item) for item in zip(results, inside, initial, following, strict=True)
        )
        self._block.append(Loop(variable, start, stop, step, False, carried, body))
        return list(results)

    def kernel(
        self,
        symbol: str,
        operation: str,
        work: int,
        parallel: bool,
        span: Span | None,
        *,
        accumulates: bool = False,
        aligned: Sequence[int] = (),
    ) -> Kernel:
        return Kernel(
            symbol,
            operation,
            tuple(self.buffers),
            tuple(self.written),
            tuple(self._block),
            parallel,
            work,
            accumulates,
            tuple(aligned),
            span,
            replace(self._grid, shared=tuple(self._shared)) if self._grid is not None else None,
        )

    def _variable(self, type_: ValueType) -> Variable:
        variable = Variable(self._serial, type_)
        self._serial += 1
        return variable


def _known(operator: str, operands: Sequence[Atom]) -> Atom | None:
    """Index arithmetic whose result is a constant or an operand."""
    if len(operands) != 2:
        return None
    left, right = operands
    a = left.value if isinstance(left, Constant) else None
    b = right.value if isinstance(right, Constant) else None
    match operator:
        case "add" if a == 0:
            return right
        case "add" | "sub" if b == 0:
            return left
        case "mul" if a == 1:
            return right
        case "mul" | "quotient" if b == 1:
            return left
        case "mul" if a == 0 or b == 0:
            return index(0)
        case "remainder" if b == 1:
            return index(0)
    if isinstance(a, int) and isinstance(b, int):
        match operator:
            case "add":
                return index(a + b)
            case "sub":
                return index(a - b)
            case "mul":
                return index(a * b)
            case "quotient" if a >= 0 < b:
                return index(a // b)
            case "remainder" if a >= 0 < b:
                return index(a % b)
    return None
