"""A launch: blocks in batches, barriers, divergence, and the limits of the machine.

All threads of a batch of blocks run together. While they agree, a basic block runs once for all of them. When a branch
divides them, the threads that stand earliest in the text run first (min-PC reconvergence) until all have met again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy

from checked.sm86 import occupancy
from checked.sm86.access import Access
from checked.sm86.counts import Counts
from checked.sm86.faults import Fault, FaultKind
from checked.sm86.flow import Block, blocks, result, sources
from checked.sm86.generate import TYPES, Code, generate
from checked.sm86.lanes import Lanes, Violation
from checked.sm86.memory import Memory, Window
from checked.sm86.parse import Address, Entry, Module, Register
from checked.sm86.shared import Shared
from checked.sm86.traffic import Traffic
from checked.sm86.windows import Global

Array = Any
BOUND = 1 << 22
"""The instructions that a thread may execute, if a launch says nothing else."""
LANES = 8192
"""Threads of a batch: enough to hide numpy's cost of a call, few enough to stay in a cache."""
_WAITING = 1 << 24
_ENDED = 1 << 25


class Plan:
    """What all launches of an entry share: its basic blocks and their functions, made when they are first needed."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.blocks = blocks(entry)
        registers = {
            register for item in entry.body for register in (*result(item), *sources(item))
        }
        ordered = sorted(registers, key=lambda item: (item.letter, item.number))
        self.slots = {register: slot for slot, register in enumerate(ordered)}
        self.types = [TYPES[register.letter] for register in ordered]
        self.watched = frozenset[Register]().union(*(block.unknown for block in self.blocks))
        self.accesses = _accesses(entry)
        self.mixes = [
            Counter(item.form.name for item in block.instructions) for block in self.blocks
        ]
        self._codes: dict[tuple[int, bool], Code] = {}

    def code(self, block: Block, part: bool) -> Code:
        key = (block.index, part)
        if key not in self._codes:
            self._codes[key] = generate(
                self.entry.name, block, self.slots, self.watched, part, self.accesses
            )
        return self._codes[key]

    def granule(self, space: str) -> int:
        """The smallest element of a space's accesses: shadows as fine as that see every byte alike."""
        sizes = [
            item.element
            for item in self.accesses.values()
            if (item.space == "shared") == (space == "shared")
        ]
        return min(sizes, default=4)


def _accesses(entry: Entry) -> dict[int, Access]:
    found: dict[int, Access] = {}
    for item in entry.body:
        if item.form.operation in ("ld", "st") and item.form.name != "ld.param.u64":
            words = item.form.name.split(".")
            address = next(operand for operand in item.operands if isinstance(operand, Address))
            space = "nc" if "nc" in words else words[1]
            lanes = next((int(word[1:]) for word in words if word in ("v2", "v4")), 1)
            found[item.line] = Access(
                len(found), item.line, space, words[-1], lanes, address.offset, words[0] == "st"
            )
    return found


def launch(
    module: Module,
    name: str,
    *,
    blocks: int,
    memory: Memory,
    windows: Sequence[Window],
    seed: int = 0,
    bound: int = BOUND,
    threads: int | None = None,
    batch: int | None = None,
    traffic: bool = False,
) -> Counts:
    """Executes an entry over `blocks` blocks; the addresses of `windows` are its arguments.

    `seed` chooses the order of blocks and where shared memory lies, `bound` how many instructions a thread may execute,
    and `batch` how many blocks run together. `threads`, where given, must be what the entry requires. With `traffic`
    the wavefronts and sectors of accesses are counted, which takes longer.
    Raises `Fault` for whatever the kernel may not do, ValueError for windows that lie outside of memory.
    """
    entry = module.entries[name]
    _limits(entry, blocks, threads, windows)
    for window in windows:
        if not memory.inside(window.address, window.bytes):
            raise ValueError(f"window {window.name} does not lie in one allocation")
    plan = entry.plan
    if not isinstance(plan, Plan):
        plan = entry.plan = Plan(entry)
    chance = random.Random(seed)
    order = list(range(blocks))
    chance.shuffle(order)
    size = batch or max(1, LANES // entry.threads)
    counts = Counts()
    measured = Traffic() if traffic else None
    seen = Global(memory, windows, plan.granule("global"), measured)
    arguments = [window.address for window in windows]
    base = 0x400 + 16 * chance.randrange(1024)
    steps = [0] * len(plan.blocks)
    with numpy.errstate(all="ignore"):
        for start in range(0, blocks, size):
            numbers = numpy.array(sorted(order[start : start + size]), numpy.int64)
            run = Run(plan, numbers, arguments, seen, base, bound, counts, steps)
            try:
                run.run()
            except Violation as found:
                raise run.fault(found) from None
    for number, warps in enumerate(steps):
        for form, times in plan.mixes[number].items():
            counts.warp_instructions[form] += warps * times
    if measured is not None:
        counts.shared_wavefronts = measured.wavefronts
        counts.global_sectors = measured.sectors
    if (missing := seen.finish()) is not None:
        window, address = missing
        raise Fault(
            FaultKind.NOT_WRITTEN,
            name,
            f"window {window.name} has a byte that nobody wrote",
            address=address,
        )
    return counts


def _limits(entry: Entry, blocks: int, threads: int | None, windows: Sequence[Window]) -> None:
    def refuse(kind: FaultKind, text: str) -> None:
        raise Fault(kind, entry.name, text, entry.line)

    if threads is not None and threads != entry.threads:
        refuse(FaultKind.MISMATCH, f"launched with {threads} threads, it requires {entry.threads}")
    if len(windows) != len(entry.parameters):
        refuse(
            FaultKind.MISMATCH,
            f"launched with {len(windows)} arguments, it has {len(entry.parameters)} parameters",
        )
    if not 1 <= entry.threads <= occupancy.THREADS or entry.threads % 32:
        refuse(
            FaultKind.LAUNCH_LIMIT,
            f"{entry.threads} threads a block: whole warps, at most {occupancy.THREADS}",
        )
    if entry.shared > occupancy.SHARED_STATIC:
        refuse(FaultKind.LAUNCH_LIMIT, f"{entry.shared} shared bytes, of {occupancy.SHARED_STATIC}")
    if not 1 <= blocks < 2**31 or blocks * entry.threads >= 2**31:
        refuse(FaultKind.LAUNCH_LIMIT, f"{blocks} blocks")
    if entry.registers is not None and not occupancy.blocks_per_processor(
        entry.threads, entry.registers, entry.shared
    ):
        refuse(
            FaultKind.LAUNCH_LIMIT,
            f"no block with {entry.registers} registers a thread fits a processor",
        )


class Run:
    """One batch of blocks on its way through an entry."""

    def __init__(
        self,
        plan: Plan,
        numbers: Array,
        arguments: Sequence[int],
        memory: Global,
        base: int,
        bound: int,
        counts: Counts,
        steps: list[int],
    ) -> None:
        self.plan = plan
        self.lanes = Lanes(numbers, plan.entry.threads)
        self.blocks = int(numbers.size)
        self.arguments = arguments
        self.memory = memory
        self.base = base
        self.bound = bound
        self.counts = counts
        self.steps = steps
        self.registers: list[Array] = [None] * len(plan.slots)
        self._known: dict[int, Array] = {}

    @cached_property
    def shared(self) -> Shared:
        return Shared(
            self.blocks,
            self.plan.entry.shared,
            self.base,
            self.plan.granule("shared"),
            self.memory.traffic,
        )

    @cached_property
    def shared_address(self) -> Array:
        return numpy.array(self.base, numpy.uint32)

    # ---- scheduling

    def run(self) -> None:
        """Until every thread has ended."""
        blocks = self.plan.blocks
        lanes, count = self.lanes, self.lanes.count
        warps = lanes.warps
        at, executed = 0, 0
        while True:
            block = blocks[at]
            size = len(block.instructions)
            executed += size
            if executed > self.bound:
                self._beyond(block, lanes, 0)
            self.steps[at] += warps
            self.counts.thread_instructions += size * count
            condition = self.plan.code(block, False)(self, lanes)
            form = block.last.form.name
            if condition is not None:
                taken = numpy.count_nonzero(condition)
                if 0 < taken < count:
                    where: Array = numpy.full(count, block.follower, numpy.int32)
                    where[condition] = block.target
                    met = self._apart(where, executed)
                    if met is None:
                        return
                    at, executed = met
                    continue
                following = block.target if taken else block.follower
            elif form == "ret":
                return
            else:
                if form == "bar.sync":
                    self._pass_barrier(self.blocks)
                following = block.target if form == "bra" else block.follower
            assert following is not None
            at = following

    def _apart(self, where: Array, executed: int) -> tuple[int, int] | None:
        """Runs threads that have parted until all meet in one block: that block, and the instructions so far."""
        blocks = self.plan.blocks
        done = numpy.full(where.size, executed, numpy.int64)
        while True:
            number = int(where.min())
            if number >= _WAITING:
                if number == _ENDED:
                    return None
                self._release(where)
                continue
            at = numpy.flatnonzero(where == number)
            if at.size == where.size:
                return number, int(done.max())
            block = blocks[number]
            lanes = self.lanes.part(at)
            done[at] += len(block.instructions)
            if (most := int(done[at].max())) > self.bound:
                self._beyond(block, lanes, int(numpy.flatnonzero(done[at] == most)[0]))
            self.steps[number] += lanes.warps
            self.counts.thread_instructions += len(block.instructions) * lanes.count
            condition = self.plan.code(block, True)(self, lanes)
            form = block.last.form.name
            if condition is not None:
                where[at] = block.follower
                where[at[condition]] = block.target
            elif form == "ret":
                where[at] = _ENDED
            elif form == "bar.sync":
                where[at] = _WAITING + number
            else:
                where[at] = block.target if form == "bra" else block.follower

    def _release(self, where: Array) -> None:
        """Nobody can go on: in each block all threads wait at one barrier, or all have ended."""
        places = where.reshape(self.blocks, -1)
        apart = places != places[:, :1]
        if numpy.count_nonzero(apart):
            slot, thread = (int(found[0]) for found in numpy.nonzero(apart))
            mine, first = int(places[slot, thread]), int(places[slot, 0])
            waits = min(mine, first) - _WAITING
            line = self.plan.blocks[waits].last.line
            lane = slot * places.shape[1] + (thread if mine < first else 0)
            other = max(mine, first)
            elsewhere = (
                "has ended"
                if other == _ENDED
                else f"waits at line {self.plan.blocks[other - _WAITING].last.line}"
            )
            raise Violation(
                FaultKind.BARRIER_DIVERGENCE,
                f"another thread of the block {elsewhere}",
                self.lanes,
                lane,
                line,
            )
        waiting = where != _ENDED
        self._pass_barrier(int(numpy.count_nonzero(places[:, 0] != _ENDED)))
        follower = numpy.array([block.follower or 0 for block in self.plan.blocks], numpy.int32)
        where[waiting] = follower[where[waiting] - _WAITING]

    def _pass_barrier(self, blocks: int) -> None:
        self.counts.barriers += blocks
        if self.plan.entry.shared:
            self.shared.next_epoch()
            self.lanes.mark = (self.lanes.thread + (self.shared.floor + 1)).astype(numpy.int32)

    def _beyond(self, block: Block, lanes: Lanes, lane: int) -> None:
        line = block.instructions[0].line
        raise Violation(
            FaultKind.STEP_BOUND, f"a thread executes more than {self.bound}", lanes, lane, line
        )

    # ---- what the functions of blocks call

    def spread(self, value: Array, lanes: Lanes) -> Array:
        return numpy.full(lanes.count, value)

    def parameter(self, index: int, lanes: Lanes) -> Array:
        return numpy.full(lanes.count, self.arguments[index], numpy.uint64)

    def scatter(self, slot: int, value: Array, at: Array) -> None:
        held = self.registers[slot]
        if held is None:
            held = self.registers[slot] = numpy.zeros(self.lanes.count, self.plan.types[slot])
        held[at] = value

    def define(self, slot: int, at: Array | None) -> None:
        """Notes that a register has a value now, in these lanes or in all."""
        known = self._known.get(slot)
        if known is None:
            known = self._known[slot] = numpy.zeros(self.lanes.count, bool)
        known[slice(None) if at is None else at] = True

    def check(self, slot: int, name: str, line: int, lanes: Lanes) -> None:
        known = self._known.get(slot)
        if known is None:
            raise Violation(
                FaultKind.UNINITIALISED_REGISTER, f"{name} has no value", lanes, 0, line
            )
        lacking = ~lanes.pick(known)
        if numpy.count_nonzero(lacking):
            lane = int(numpy.flatnonzero(lacking)[0])
            raise Violation(
                FaultKind.UNINITIALISED_REGISTER, f"{name} has no value", lanes, lane, line
            )

    def divisor(self, value: Array, line: int, lanes: Lanes) -> None:
        if numpy.count_nonzero(value) != value.size:
            lane = int(numpy.flatnonzero(numpy.broadcast_to(value, (lanes.count,)) == 0)[0])
            raise Violation(
                FaultKind.DIVISION_BY_ZERO, "the result is not defined", lanes, lane, line
            )

    def shuffle(self, value: Array, mask: int, line: int, lanes: Lanes) -> Array:
        """The value of the thread whose number in the warp is the own one exclusive-or `mask`."""
        if lanes.at is not None:
            warps, sizes = numpy.unique(lanes.at >> 5, return_counts=True)
            if numpy.count_nonzero(sizes == 32) != sizes.size:
                broken = int(warps[numpy.flatnonzero(sizes != 32)[0]])
                lane = int(numpy.flatnonzero(lanes.at >> 5 == broken)[0])
                raise Violation(
                    FaultKind.WARP_DIVERGENCE,
                    "threads of the warp are elsewhere",
                    lanes,
                    lane,
                    line,
                )
        order = numpy.arange(32) ^ (mask & 31)
        return value.reshape(-1, 32)[:, order].reshape(-1)

    def fault(self, found: Violation) -> Fault:
        return Fault(
            found.kind, self.plan.entry.name, found.text, found.line, *found.place, found.address
        )
