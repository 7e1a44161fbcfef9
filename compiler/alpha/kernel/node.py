"""Kernels: frozen statements over typed values. The level that every target lowers from.

A kernel is one launch. All extents are known, so loops have constant bounds; a value is a variable that one statement
defines, or a constant; nothing is mutable. What a loop carries from one turn to the next it names (`Carried`), so the
order of every accumulation is written down and stays what it is.

Values have 1 or 16 lanes. The 16 lanes are logical: a target may hold them in one register, two or four, and the bits
do not show which.

The body of a kernel with a `grid` is what one thread of a device does. There a value has 1 lane, or 4 that memory moves
at once; threads of a block meet at barriers and exchange values through shared arrays and shuffles.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from alpha.base.dtype import Dtype
from alpha.base.record import field, record
from alpha.base.span import Span

LANES = 16
QUAD = 4
WARP = 32


class Scalar(Enum):
    """The scalar types of values. `bf16` and `f16` are storage: they are moved and converted, never computed with.

    `i64` is also the type of every index. `bool` is one byte, 0 or 1, in a buffer.
    """

    F64 = "f64"
    F32 = "f32"
    BF16 = "bf16"
    F16 = "f16"
    I64 = "i64"
    U64 = "u64"
    I32 = "i32"
    U32 = "u32"
    U16 = "u16"
    U8 = "u8"
    BOOL = "bool"

    @property
    def size(self) -> int:
        """Bytes of one element in a buffer."""
        return _SIZES[self]

    @property
    def is_float(self) -> bool:
        """Whether arithmetic on it is IEEE arithmetic."""
        return self in (Scalar.F64, Scalar.F32)

    @property
    def is_signed(self) -> bool:
        return self in (Scalar.I64, Scalar.I32)

    @property
    def is_integer(self) -> bool:
        return self in _INTEGERS


_SIZES = {
    Scalar.F64: 8,
    Scalar.F32: 4,
    Scalar.BF16: 2,
    Scalar.F16: 2,
    Scalar.I64: 8,
    Scalar.U64: 8,
    Scalar.I32: 4,
    Scalar.U32: 4,
    Scalar.U16: 2,
    Scalar.U8: 1,
    Scalar.BOOL: 1,
}
_INTEGERS = frozenset(
    {Scalar.I64, Scalar.U64, Scalar.I32, Scalar.U32, Scalar.U16, Scalar.U8},
)


def scalar_of(dtype: Dtype) -> Scalar:
    """The scalar type that holds elements of a dtype; they share their names."""
    return Scalar(dtype.value)


@record
class ValueType:
    scalar: Scalar
    lanes: int = 1

    def __str__(self) -> str:
        return self.scalar.value if self.lanes == 1 else f"{self.scalar.value}x{self.lanes}"


INDEX = ValueType(Scalar.I64)


@record(eq=False)
class Variable:
    """Defined by exactly one statement or loop. `serial` numbers the variables of a kernel."""

    serial: int
    type: ValueType


@record
class Constant:
    """One number in every lane, or with a tuple one number a lane. Floats are exactly of their type."""

    value: int | float | bool | tuple[int, ...]
    type: ValueType


Atom = Variable | Constant


@record
class Row:
    """A buffer moves with a loop around its kernel: in the turn of index i it begins `i * stride` elements further on.

    The loop has `turns` turns. Its index is the u32 in the buffer `cell`, which lies at `offset` in the arena.
    """

    cell: str
    turns: int
    stride: int
    offset: int | None = None


@record
class Buffer:
    """`count` elements. `bound` is n where every element is known to be in 0 ... n - 1.

    `name` is unique in the kernel's program; `offset` is the place in the arena in bytes, None until it is planned.
    With `rows`, outermost loop first, the elements are a row of a larger buffer of that name, which has `whole`
    elements: another row in every turn of the loops.
    """

    name: str
    scalar: Scalar
    count: int
    bound: int | None = None
    offset: int | None = None
    rows: tuple[Row, ...] = ()
    whole: int | None = None

    @property
    def bytes(self) -> int:
        return self.count * self.scalar.size

    @property
    def elements(self) -> int:
        """Elements of the buffer that has this name in the program: `count` where it is not a row of one."""
        return self.count if self.whole is None else self.whole

    @property
    def reach(self) -> int:
        """Elements from the first of the first row to the last of the last one."""
        return self.count + sum((row.turns - 1) * row.stride for row in self.rows)


@record
class Shared:
    """An array of `count` elements that the threads of a block share. It holds nothing when the block begins."""

    name: str
    scalar: Scalar
    count: int

    @property
    def bytes(self) -> int:
        return self.count * self.scalar.size


@record
class Grid:
    """How a device launches a kernel: `blocks` blocks of `threads` threads, all in one dimension.

    `block` and `thread` are the numbers of a thread's block and of the thread in it, from 0 on. A thread has at most
    `registers` 32-bit registers. 32 threads in a row from a multiple of 32 on are a warp.
    """

    blocks: int
    threads: int
    registers: int
    block: Variable
    thread: Variable
    shared: tuple[Shared, ...] = ()

    @property
    def shared_places(self) -> tuple[int, ...]:
        """Where each shared array begins among the shared bytes of the block: at the next multiple of 16."""
        places: list[int] = []
        end = 0
        for item in self.shared:
            places.append(-(-end // 16) * 16)
            end = places[-1] + item.bytes
        return tuple(places)

    @property
    def shared_bytes(self) -> int:
        if not self.shared:
            return 0
        return self.shared_places[-1] + self.shared[-1].bytes


@record
class Compute:
    """`result = operator(operands)`; the operator is a row of `operators.TABLE`."""

    result: Variable
    operator: str
    operands: tuple[Atom, ...]


@record
class Load:
    """Elements of buffer number `buffer` of the kernel.

    With an index of one lane, a result of several lanes is the elements from there on; with an index of 16 lanes each
    lane reads its own element.
    """

    result: Variable
    buffer: int
    index: Atom


@record
class Store:
    """Writes one element, or as many in a row as `value` has lanes from `index` on."""

    buffer: int
    index: Atom
    value: Atom


@record
class Carried:
    """A value that goes round a loop: `inside` is `initial` in the first turn and then the `next` of the turn before.

    `result` is the last `next` (or `initial` if the loop has no turn), visible behind the loop.
    """

    result: Variable
    inside: Variable
    initial: Atom
    next: Atom


@record
class Loop:
    """`index` takes start, start + step, ... below `stop`, in ascending order.

    A parallel loop has start 0, step 1 and nothing carried; its turns are split among the parts of a launch.
    """

    index: Variable
    start: int
    stop: int
    step: int
    parallel: bool
    carried: tuple[Carried, ...]
    body: tuple[Statement, ...]


@record
class If:
    """Runs `body` where the condition (bool, one lane) holds."""

    condition: Atom
    body: tuple[Statement, ...]


@record
class SharedLoad:
    """Elements of shared array number `array` of the grid, as many in a row as the result has lanes."""

    result: Variable
    array: int
    index: Atom


@record
class SharedStore:
    """Writes as many elements in a row as `value` has lanes."""

    array: int
    index: Atom
    value: Atom


@record
class Barrier:
    """No thread of the block goes on before all have come here; each then sees what the others stored before."""


@record
class Shuffle:
    """`result` is what `value` is in the thread of the warp whose number there differs from one's own in `mask`."""

    result: Variable
    value: Atom
    mask: int


Statement = Compute | Load | Store | Loop | If | SharedLoad | SharedStore | Barrier | Shuffle


@record
class Kernel:
    """One launch. `operation` is the graph operation it came from, `work` about how many element operations it does.

    `written` are the numbers of the buffers it stores to, which it does not load from, except in a kernel with
    `accumulates`. `parallel` says that it is worth splitting; its results never depend on the number of parts.
    `aligned` are the numbers of buffers of which it loads, for each element it stores, the element in the same place
    and none else: such a buffer may share its bytes with the one stored to. With a `grid` it is launched on a device.
    """

    symbol: str
    operation: str
    buffers: tuple[Buffer, ...]
    written: tuple[int, ...]
    body: tuple[Statement, ...]
    parallel: bool
    work: int
    accumulates: bool = False
    aligned: tuple[int, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    grid: Grid | None = None

    @property
    def reads(self) -> tuple[Buffer, ...]:
        return tuple(
            buffer for place, buffer in enumerate(self.buffers) if place not in self.written
        )

    @property
    def writes(self) -> tuple[Buffer, ...]:
        return tuple(self.buffers[place] for place in self.written)


def definitions(statement: Statement) -> Sequence[Variable]:
    """The variables a statement defines for what follows it."""
    match statement:
        case (
            Compute(result=result)
            | Load(result=result)
            | SharedLoad(result=result)
            | Shuffle(result=result)
        ):
            return (result,)
        case Loop(carried=carried):
            return tuple(item.result for item in carried)
        case _:
            return ()
