"""The plan of one build: every buffer, every region, every demand. Plain data with a JSON form."""

from __future__ import annotations

from alpha.base.device import DeviceTarget
from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core.term import Amount


@record
class Buffer:
    """A range of the arena that is live from region `first` to region `last` of `program`, both inclusive.

    State and batch buffers live through all programs: `program` is "" for them. Offsets are multiples of 64.
    """

    name: str
    type: TensorType
    offset: int
    bytes: int
    program: str
    first: int
    last: int
    span: Span | None = field(compare=False, repr=False)


@record
class Result:
    """What a region writes to the workspace: `count` elements from `offset` on.

    For each of `rows` (a cell's offset in the arena, a stride in bytes) they begin that stride times the u32 in the
    cell further on.
    """

    dtype: Dtype
    offset: int
    count: int
    rows: tuple[tuple[int, int], ...] = ()


@record
class Operand:
    """A buffer of a launch on a device: `bytes` from `offset` of the arena on, which the kernel writes or reads.

    For each of `rows` (a cell's offset in the arena, a stride in bytes) they begin that stride times the u32 in the
    cell further on: whoever launches adds it to the address.
    """

    offset: int
    bytes: int
    written: bool
    rows: tuple[tuple[int, int], ...] = ()


@record
class Dispatch:
    """How a device launches a kernel: its `entry`, so many `blocks` of so many `threads`, all in one dimension.

    `registers` bounds the 32-bit registers of a thread, `shared` are the bytes of a block's arrays. The arguments are
    the addresses of the `operands`, in their order. A kernel that `accumulates` may also read what it writes.
    """

    entry: str
    blocks: int
    threads: int
    registers: int
    shared: int
    operands: tuple[Operand, ...]
    accumulates: bool = False


@record
class Region:
    """One launch. On a host `symbol` is the kernel function `void(ptr arena, i64 part, i64 parts)`.

    `parallel` regions are called once by every thread with its part; others once, as part 0 of 1. On a device
    `dispatch` says how the kernel of that symbol is launched.
    """

    symbol: str
    parallel: bool
    span: Span | None = field(compare=False, repr=False)
    results: tuple[Result, ...] = ()
    dispatch: Dispatch | None = None


@record
class Loop:
    """The regions `first` to `last`, both included, run `count` times.

    Before each turn its index is written to `cell`, a u32 at that offset in the arena: from 0 on, or `backward` from
    `count - 1` down to 0.
    """

    first: int
    last: int
    count: int
    backward: bool
    cell: int
    span: Span | None = field(compare=False, repr=False)


@record
class ProgramPlan:
    """The launch order of one graph, and where its inputs and outputs lie in the arena.

    `loops` stand in the order they begin, outer ones before those inside them.
    """

    name: str
    regions: tuple[Region, ...]
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    loops: tuple[Loop, ...] = ()


@record
class Derivation:
    """A tree whose leaves add up to `amount`; `text` says how (`2,410 x 4 B`)."""

    text: str
    amount: int
    span: Span | None = field(default=None, compare=False, repr=False)
    parts: tuple[Derivation, ...] = ()


@record
class Demand:
    """`kind` is `Abi`, `Feature` or `Resource`; `bound` is `Exactly` or `AtLeast`."""

    name: str
    kind: str
    bound: str
    amount: Amount
    derivation: Derivation


@record
class Plan:
    """`arena` is the exact peak of the arena in bytes over all programs; `state` the part that lives throughout.

    Checkpointed state (`net.*`, then `slots.*`) comes first, from offset 0, in checkpoint order; each tensor starts at
    the next multiple of 64, so up to 60 bytes lie between two. Behind it lie the batch (`batch.*`) and the numbers that
    the host and the programs exchange (`step`, `rate`, `key`, `<program>.loss`, `<program>.metric.<name>`), all with
    the program "" and the launches 0 to 0; then the workspace, which programs share.

    `device` is what the kernels are for, and holds the arena; None where the host itself runs them.
    """

    arena: int
    state: int
    buffers: tuple[Buffer, ...]
    programs: tuple[ProgramPlan, ...]
    demands: tuple[Demand, ...]
    device: DeviceTarget | None = None

    def program(self, name: str) -> ProgramPlan:
        for program in self.programs:
            if program.name == name:
                return program
        raise KeyError(name)
