"""The law of the plan, checked on every plan. A broken law is a bug in Alpha: `PlanFault`.

Each law is one entry of `LAWS`:

1. `aligned`: every buffer starts at a multiple of 64 bytes.
2. `inside`: every buffer ends in the arena, and one that lives through all programs in its state.
3. `apart`: buffers that are live at once share no byte. Programs never run at the same time.
4. `adds`: the parts of a derivation add up to its amount, and the amount of a demand is that of its derivation.
5. `nested`: loops are those of the regions of their program, in their order, and each is inside the one before or
   behind it.
6. `turned`: a loop has a turn, and a u32 of its own that is live in all of them.
7. `launched`: on a device every region has a dispatch, and it keeps the limits of the device. Regions of one entry are
   launched with the same threads, registers, shared bytes and number of operands.
8. `matched`: the dispatch of a region says what its kernel says, and its operands are the buffers of the kernel.
9. `held`: what a kernel touches, in any turn, lies in a buffer that is live then, and what it reads is what was written
   there last, in this turn or the one before. A buffer moves only with loops around the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from alpha.base.dtype import Dtype
from alpha.kernel.node import Kernel
from alpha.plan.arena import ALIGNMENT
from alpha.plan.dispatches import launched, matched
from alpha.plan.plan import Buffer, Loop, Plan, ProgramPlan


class PlanFault(Exception):
    """The verifier found a plan that breaks the law of its level."""


def verify(plan: Plan, kernels: Sequence[Kernel] | None = None) -> None:
    """Checks every law; the first that is broken raises `PlanFault`. The last two need the kernels of all regions."""
    for name, law in LAWS:
        for fault in law(plan):
            raise PlanFault(f"the plan breaks the law `{name}`: {fault}")
    if kernels is not None:
        for fault in matched(plan, kernels):
            raise PlanFault(f"the plan breaks the law `matched`: {fault}")
        for fault in _held(plan, kernels):
            raise PlanFault(f"the plan breaks the law `held`: {fault}")


def _aligned(plan: Plan) -> Iterator[str]:
    for buffer in plan.buffers:
        if buffer.offset % ALIGNMENT or buffer.offset < 0:
            yield f"`{buffer.name}` lies at {buffer.offset}"


def _inside(plan: Plan) -> Iterator[str]:
    for buffer in plan.buffers:
        end = plan.arena if buffer.program else plan.state
        if buffer.offset + buffer.bytes > end:
            yield f"`{buffer.name}` leaves the {end} bytes it may lie in"


def _apart(plan: Plan) -> Iterator[str]:
    lasting = [buffer for buffer in plan.buffers if not buffer.program]
    yield from _shared(lasting)
    for program in dict.fromkeys(buffer.program for buffer in plan.buffers if buffer.program):
        own = [buffer for buffer in plan.buffers if buffer.program == program]
        for launch in sorted({buffer.first for buffer in own}):
            live = [item for item in own if item.first <= launch <= item.last]
            yield from _shared([*lasting, *live])


def _shared(buffers: Sequence[Buffer]) -> Iterator[str]:
    end, before = 0, ""
    for buffer in sorted(buffers, key=lambda item: (item.offset, item.bytes)):
        if buffer.offset < end:
            yield f"`{buffer.name}` and `{before}` share bytes while both are live"
        end, before = buffer.offset + buffer.bytes, buffer.name


def _adds(plan: Plan) -> Iterator[str]:
    for demand in plan.demands:
        if demand.derivation.amount != demand.amount.value:
            yield f"`{demand.name}` is {demand.amount.value}, derived {demand.derivation.amount}"
        pending = [demand.derivation]
        while pending:
            node = pending.pop()
            pending += node.parts
            if node.parts and sum(part.amount for part in node.parts) != node.amount:
                yield f"the parts of `{node.text}` do not add up to {node.amount}"


def _nested(plan: Plan) -> Iterator[str]:
    for program in plan.programs:
        open_: list[Loop] = []
        begins = 0
        for loop in program.loops:
            if not begins <= loop.first <= loop.last < len(program.regions):
                yield f"a loop over the regions {loop.first} to {loop.last} of `{program.name}`"
            begins = loop.first
            while open_ and open_[-1].last < loop.first:
                open_.pop()
            if open_ and loop.last > open_[-1].last:
                yield f"loops of `{program.name}` cross at region {loop.first}"
            open_.append(loop)


def _turned(plan: Plan) -> Iterator[str]:
    for program in plan.programs:
        own = {
            (item.offset, item.first, item.last)
            for item in plan.buffers
            if item.program == program.name and item.type.dtype is Dtype.U32 and not item.type.shape
        }
        for loop in program.loops:
            if not 1 <= loop.count < 1 << 32:
                yield f"a loop of {loop.count} turns in `{program.name}`"
            if (loop.cell, loop.first, loop.last) not in own:
                yield f"no cell at {loop.cell} for the loop at region {loop.first} of `{program.name}`"


def _held(plan: Plan, kernels: Sequence[Kernel]) -> Iterator[str]:
    following = iter(kernels)
    for program in plan.programs:
        own = [buffer for buffer in plan.buffers if buffer.program in ("", program.name)]
        yield from _Memory(own, program, list(islice(following, len(program.regions)))).run()


class _Memory:
    """Follows a program launch by launch, with at most two turns of each loop, and notes what memory holds."""

    def __init__(
        self, buffers: Sequence[Buffer], program: ProgramPlan, kernels: Sequence[Kernel]
    ) -> None:
        self.program = program
        self.kernels = kernels
        self.at: dict[int, list[Buffer]] = {}
        self.valid: dict[Buffer, None] = {}
        inputs = {offset for _, offset in program.inputs}
        for buffer in buffers:
            self.at.setdefault(buffer.offset, []).append(buffer)
            if not buffer.program or (buffer.first == 0 and buffer.offset in inputs):
                self.valid[buffer] = None

    def run(self) -> Iterator[str]:
        around: dict[int, int] = {}
        for event in _order(0, len(self.kernels), self.program.loops):
            if isinstance(event, Loop):
                around[event.cell] = event.count
                # Cells of loops that run one after the other may lie in one place.
                cell = self._live(event.cell, event.first)
                if cell is not None:
                    self._write(cell)
            else:
                yield from self._launch(event, around)

    def _launch(self, place: int, around: Mapping[int, int]) -> Iterator[str]:
        kernel = self.kernels[place]
        written: list[Buffer] = []
        for number, part in enumerate(kernel.buffers):
            buffer = self._live(part.offset, place)
            if buffer is not None and buffer.program and buffer.name != part.name:
                yield f"`{kernel.symbol}` finds `{buffer.name}` in the place of `{part.name}`"
            if buffer is None or part.reach * part.scalar.size > buffer.bytes:
                yield f"`{kernel.symbol}` leaves `{part.name}`, or it is not live"
                continue
            if number in kernel.written:
                written.append(buffer)
            elif buffer not in self.valid:
                yield f"`{kernel.symbol}` reads `{part.name}`, which something else has overwritten"
            for row in part.rows:
                cell = self._live(row.offset, place)
                if cell not in self.valid or around.get(cell.offset) != row.turns:
                    yield f"`{part.name}` moves with no loop around `{kernel.symbol}`"
        for buffer in written:
            self._write(buffer)

    def _live(self, offset: int | None, place: int) -> Buffer | None:
        found = self.at.get(-1 if offset is None else offset, ())
        return next((b for b in found if not b.program or b.first <= place <= b.last), None)

    def _write(self, buffer: Buffer) -> None:
        if buffer not in self.valid:
            end = buffer.offset + buffer.bytes
            lost = [b for b in self.valid if b.offset < end and buffer.offset < b.offset + b.bytes]
            for other in lost:
                del self.valid[other]
            self.valid[buffer] = None


def _order(first: int, stop: int, loops: Sequence[Loop]) -> Iterator[int | Loop]:
    """Launches as they run; a loop stands before each of its turns."""
    place = first
    while place < stop:
        if not loops or loops[0].first != place:
            yield place
            place += 1
            continue
        loop, *others = loops
        inner = [item for item in others if item.first <= loop.last]
        for _ in range(min(loop.count, 2)):
            yield loop
            yield from _order(loop.first, loop.last + 1, inner)
        loops, place = others[len(inner) :], loop.last + 1


LAWS: tuple[tuple[str, Callable[[Plan], Iterator[str]]], ...] = (
    ("aligned", _aligned),
    ("inside", _inside),
    ("apart", _apart),
    ("adds", _adds),
    ("nested", _nested),
    ("turned", _turned),
    ("launched", launched),
)
