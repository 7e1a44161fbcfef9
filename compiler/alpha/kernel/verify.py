"""The law of the kernel level, checked on every kernel. A broken law is a bug in Alpha: `KernelFault`.

1. `defined`: a variable is defined once, before its use, in a block that encloses it.
2. `typed`: every operator has operands and a result of types that its row in `operators.TABLE` allows; a load gives and
   a store takes the element type of its buffer; an index is i64; what a loop carries keeps its type.
3. `inside`: every index that is read or written lies in its buffer, for every turn of every loop and every lane.
4. `declared`: only buffers named in `written` are stored to, each at least once; they are not loaded from, unless the
   kernel accumulates.
5. `apart`: turns of a parallel loop write different elements, and so do different parallel loops of one kernel, so the
   parts of a launch never race. Only a parallel kernel has parallel loops, none inside another, and it writes nothing
   outside them.
6. `unambiguous`: divisors and shifts are constants for which the operator is defined.
7. `rows`: a buffer that moves with loops stays inside the buffer of its name in every turn, and no two turns have an
   element in common.
8. `launched`: a kernel of a device has a grid within the limits of every device and no parallel loop; values have 1 or
   4 lanes there; four elements are moved at once only from multiples of four.
   That threads write different elements is not checked here: the model of the machine sees every race when it runs.
9. `uniform`: barriers stand where all threads of a block come alike, shuffles where those of a warp do: under no
   condition that a thread's number, or something loaded, decides; for a shuffle the number of its warp may.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from math import gcd
from typing import NoReturn, assert_never

from alpha.base.record import record
from alpha.kernel.affine import Form, Indices, Interval
from alpha.kernel.errors import KernelFault
from alpha.kernel.launched import Uniform, lanes_of, unlaunchable
from alpha.kernel.node import (
    INDEX,
    LANES,
    QUAD,
    Atom,
    Barrier,
    Buffer,
    Compute,
    Constant,
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
    ValueType,
    Variable,
)
from alpha.kernel.operators import TABLE

INDICES = (INDEX, ValueType(Scalar.I64, LANES))


@record
class _Written:
    """One store: its place, its lanes, and the parallel loop around it."""

    buffer: int
    form: Form
    lanes: int
    loop: Loop | None


def verify(kernel: Kernel) -> None:
    """Check every law; the first that is broken raises `KernelFault`."""
    _Verifier(kernel).run()


class _Verifier:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.indices = Indices(kernel.buffers)
        self.visible: set[Variable] = set()
        self.known: set[Variable] = set()
        self.written: list[_Written] = []
        self.loaded: set[int] = set()
        self.parallel: Loop | None = None
        self.lanes = lanes_of(kernel)
        self.uniform = Uniform(kernel.grid, self.indices)

    def run(self) -> None:
        self._launch()
        for named in self.kernel.buffers:
            self._rows(named)
        self._statements(self.kernel.body)
        stored = {item.buffer for item in self.written}
        if stored != set(self.kernel.written):
            self._fault("declared", f"stores to {sorted(stored)}, not {self.kernel.written}")
        both = stored & self.loaded
        if both and not self.kernel.accumulates:
            self._fault("declared", f"loads from {sorted(both)}, which it stores to")
        if self.kernel.parallel:
            for buffer in stored:
                self._apart([item for item in self.written if item.buffer == buffer])

    def _launch(self) -> None:
        grid = self.kernel.grid
        if grid is None:
            return
        for problem in unlaunchable(self.kernel, grid):
            self._fault("launched", problem)
        for variable, count in ((grid.block, grid.blocks), (grid.thread, grid.threads)):
            self._define(variable)
            self.indices.ranged(variable, count)

    def _fault(self, law: str, what: str) -> NoReturn:
        raise KernelFault(f"kernel `{self.kernel.symbol}` breaks the law `{law}`: {what}")

    def _rows(self, buffer: Buffer) -> None:
        """Rows are apart if each stride reaches over everything that moves within it."""
        if buffer.reach > buffer.elements:
            self._fault("rows", f"`{buffer.name}` reaches {buffer.reach} of {buffer.elements}")
        inside = buffer.count
        moving = [row for row in buffer.rows if row.turns != 1]
        for row in sorted(moving, key=lambda row: row.stride):
            if row.turns < 1 or row.stride < inside:
                self._fault("rows", f"rows of `{buffer.name}` share elements")
            inside += (row.turns - 1) * row.stride
        if len({row.cell for row in buffer.rows}) != len(buffer.rows):
            self._fault("rows", f"`{buffer.name}` moves twice with one loop")

    def _define(self, variable: Variable) -> None:
        if variable in self.known:
            self._fault("defined", f"%{variable.serial} twice")
        if variable.type.lanes not in self.lanes:
            self._fault("typed", f"%{variable.serial} has {variable.type.lanes} lanes")
        self.known.add(variable)
        self.visible.add(variable)

    def _use(self, *atoms: Atom) -> None:
        for atom in atoms:
            if isinstance(atom, Variable) and atom not in self.visible:
                self._fault("defined", f"%{atom.serial} is not defined here")

    def _statements(self, statements: Sequence[Statement]) -> None:
        """A block whose definitions stay visible; the caller closes its scope."""
        for statement in statements:
            match statement:
                case Compute():
                    self._compute(statement)
                case Load():
                    self._load(statement)
                case Store():
                    self._store(statement)
                case Loop():
                    self._loop(statement)
                case If():
                    self._if(statement)
                case SharedLoad() | SharedStore() | Barrier() | Shuffle():
                    self._of_a_device(statement)
                case _:
                    assert_never(statement)

    def _if(self, statement: If) -> None:
        self._use(statement.condition)
        if statement.condition.type != ValueType(Scalar.BOOL):
            self._fault("typed", "a condition that is no bool")
        before = set(self.visible)
        with self.indices.where(statement.condition), self.uniform.under(statement.condition):
            self._statements(statement.body)
        self.visible = before

    def _of_a_device(self, statement: SharedLoad | SharedStore | Barrier | Shuffle) -> None:
        grid = self.kernel.grid
        if grid is None:
            self._fault("launched", "a statement for a device in a kernel for a host")
        match statement:
            case SharedLoad(result=result, array=array, index=index):
                self._use(index)
                self._shared(array, index, result.type)
                self._define(result)
                self.uniform.unknown(result)
            case SharedStore(array=array, index=index, value=value):
                self._use(index, value)
                self._shared(array, index, value.type)
            case Shuffle(result=result, value=value, mask=mask):
                self._use(value)
                if result.type != value.type or result.type.lanes != 1 or mask not in range(1, 32):
                    self._fault("typed", f"a shuffle of {value.type} by {mask}")
                if not self.uniform.holds_in_warps:
                    self._fault("uniform", "a shuffle that some threads may not come to")
                self._define(result)
                self.uniform.unknown(result)
            case Barrier():
                if not self.uniform.holds:
                    self._fault("uniform", "a barrier that some threads may not come to")

    def _shared(self, array: int, index: Atom, type_: ValueType) -> None:
        grid = self.kernel.grid
        assert grid is not None
        shared = grid.shared[array]
        if index.type != INDEX or type_.scalar is not shared.scalar:
            self._fault("typed", f"{type_} in `{shared.name}`")
        self._reached(shared.name, shared.count, self.indices.form(index), type_.lanes)

    def _reached(self, name: str, count: int, form: Form, in_a_row: int) -> None:
        low, high = self.indices.interval(form)
        if low < 0 or high + in_a_row > count:
            self._fault("inside", f"elements {low} to {high + in_a_row - 1} of {count} in `{name}`")
        four = (form.constant, *form.factors.values())
        if in_a_row == QUAD and any(by % QUAD for by in four):
            self._fault("launched", f"four elements of `{name}` from no multiple of four on")

    def _compute(self, statement: Compute) -> None:
        self._use(*statement.operands)
        rule = TABLE.get(statement.operator)
        types = [operand.type for operand in statement.operands]
        if rule is None or not rule(types, statement.result.type):
            shown = ", ".join(map(str, types))
            self._fault("typed", f"{statement.operator}({shown}) : {statement.result.type}")
        for problem in _ambiguous(statement):
            self._fault("unambiguous", problem)
        self._define(statement.result)
        self.indices.compute(statement)
        self.uniform.compute(statement)

    def _load(self, statement: Load) -> None:
        self._use(statement.index)
        buffer = self.kernel.buffers[statement.buffer]
        type_ = statement.result.type
        if type_.scalar is not buffer.scalar or statement.index.type not in INDICES:
            self._fault("typed", f"{type_} from `{buffer.name}`")
        if statement.index.type.lanes > type_.lanes:
            self._fault("typed", f"one lane from 16 places of `{buffer.name}`")
        if statement.buffer not in self.kernel.written or not self.kernel.accumulates:
            self.loaded.add(statement.buffer)
        in_a_row = type_.lanes if statement.index.type.lanes == 1 else 1
        self._inside(statement.buffer, self.indices.form(statement.index), in_a_row)
        self._define(statement.result)
        self.indices.load(statement)
        self.uniform.unknown(statement.result)

    def _store(self, statement: Store) -> None:
        self._use(statement.index, statement.value)
        buffer = self.kernel.buffers[statement.buffer]
        if statement.value.type.scalar is not buffer.scalar or statement.index.type != INDEX:
            self._fault("typed", f"{statement.value.type} into `{buffer.name}`")
        if statement.buffer not in self.kernel.written:
            self._fault("declared", f"stores to `{buffer.name}`")
        form = self.indices.form(statement.index)
        lanes = statement.value.type.lanes
        self._inside(statement.buffer, form, lanes)
        self.written.append(_Written(statement.buffer, form, lanes, self.parallel))

    def _inside(self, buffer: int, form: Form, in_a_row: int) -> None:
        named = self.kernel.buffers[buffer]
        self._reached(named.name, named.count, form, in_a_row)
        if in_a_row == QUAD and any(row.stride % QUAD for row in named.rows):
            self._fault("launched", f"four elements of a row of `{named.name}` from anywhere on")

    def _loop(self, loop: Loop) -> None:
        if loop.step < 1 or loop.start < 0:
            self._fault("typed", f"a loop from {loop.start} by {loop.step}")
        if loop.index.type != INDEX:
            self._fault("typed", "a loop over something other than i64")
        outer = self.parallel
        if loop.parallel:
            if not self.kernel.parallel or outer is not None:
                self._fault("apart", "a parallel loop inside another, or in a serial kernel")
            if loop.start or loop.step != 1 or loop.carried:
                self._fault(
                    "apart", "a parallel loop that is not from 0 by 1, or carries something"
                )
            self.parallel = loop
        for item in loop.carried:
            self._use(item.initial)
            types = {item.initial.type, item.inside.type, item.next.type, item.result.type}
            if len(types) != 1:
                self._fault("typed", f"%{item.inside.serial} changes its type")
            if self.kernel.grid is not None:
                self.uniform.unknown(item.inside)
                self.uniform.unknown(item.result)
        before = set(self.visible)
        self._define(loop.index)
        self.indices.loop(loop.index, loop.start, loop.stop, loop.step)
        for item in loop.carried:
            self._define(item.inside)
        self._statements(loop.body)
        for item in loop.carried:
            self._use(item.next)
        self.visible = before
        for item in loop.carried:
            self._define(item.result)
        self.parallel = outer

    def _apart(self, stores: Sequence[_Written]) -> None:
        loops = list(dict.fromkeys(id(item.loop) for item in stores))
        groups = [[item for item in stores if id(item.loop) == place] for place in loops]
        for group in groups:
            loop = group[0].loop
            if loop is None:
                self._fault("apart", "a store outside of the parallel loops")
            if loop.stop > 1:
                self._turns_apart(loop, group)
        spans = sorted(_hull(self._span(item) for item in group) for group in groups)
        for (_, high), (low, _) in pairwise(spans):
            if low <= high:
                self._fault("apart", "two parallel loops write the same elements")

    def _span(self, item: _Written) -> Interval:
        low, high = self.indices.interval(item.form)
        return low, high + item.lanes - 1

    def _turns_apart(self, loop: Loop, stores: Sequence[_Written]) -> None:
        """Modulo M, turn t writes only to c * t ... c * t + c - 1, and c times the turns is at most M."""
        factors = {item.form.factors.get(loop.index, 0) for item in stores}
        factor = factors.pop()
        if factors or factor <= 0:
            self._fault("apart", "turns of a parallel loop write to the same place")
        modulus = 0
        rests: list[Interval] = []
        for item in stores:
            low = high = item.form.constant
            for part, stride in item.form.factors.items():
                if part is loop.index:
                    continue
                if abs(stride) >= factor * loop.stop:
                    modulus = gcd(modulus, stride)
                    continue
                first, last = self.indices.of_part(part)
                low += min(first * stride, last * stride)
                high += max(first * stride, last * stride)
            rests.append((low, high + item.lanes - 1))
        low, high = _hull(rests)
        if modulus and modulus < factor * loop.stop:
            self._fault("apart", "turns of a parallel loop meet in the outer loops")
        if high - low >= factor:
            self._fault("apart", "turns of a parallel loop overlap")


def _hull(intervals: Iterator[Interval] | Sequence[Interval]) -> Interval:
    return reduce(lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), intervals)


def _ambiguous(statement: Compute) -> Iterator[str]:
    operator, operands = statement.operator, statement.operands
    bits = 8 * statement.result.type.scalar.size
    if operator in ("shiftLeft", "shiftRight"):
        by = operands[1]
        if not isinstance(by, Constant) or not isinstance(by.value, int):
            yield f"{operator} by something unknown"
        elif not 0 <= by.value < bits:
            yield f"{operator} by {by.value}"
    elif operator in ("quotient", "remainder"):
        by = operands[1]
        if not isinstance(by, Constant) or by.value in (0, -1):
            yield f"{operator} by zero, minus one, or something unknown"
    elif operator == "extract":
        lane = operands[1]
        if not isinstance(lane, Constant) or lane.value not in range(operands[0].type.lanes):
            yield "a lane that does not exist"
