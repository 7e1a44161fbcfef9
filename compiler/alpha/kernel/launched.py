"""What the law of kernels asks of those that a device launches: the limits of a grid, and who comes to a barrier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alpha.kernel.affine import Indices
from alpha.kernel.node import QUAD, WARP, Atom, Compute, Constant, Grid, Kernel, Variable

THREADS, REGISTERS, SHARED_BYTES = 1_024, 255, 48 * 1_024
"""Most threads of a block, registers of a thread, and shared bytes of a block, on every device that Alpha emits for."""
BLOCKS = BYTES = (1 << 31) - 1
"""Most blocks of a launch, and bytes of a buffer."""


def unlaunchable(kernel: Kernel, grid: Grid) -> Iterator[str]:
    """What is wrong with a grid."""
    if not 1 <= grid.blocks <= BLOCKS:
        yield f"{grid.blocks} blocks"
    if not 1 <= grid.threads <= THREADS or grid.threads % WARP:
        yield f"{grid.threads} threads in a block"
    if not 1 <= grid.registers <= REGISTERS:
        yield f"{grid.registers} registers in a thread"
    if grid.shared_bytes > SHARED_BYTES:
        yield f"{grid.shared_bytes} shared bytes in a block"
    if kernel.parallel:
        yield "a kernel that is split, too"
    for buffer in kernel.buffers:
        if buffer.bytes > BYTES:
            yield f"`{buffer.name}` has {buffer.bytes} bytes"
    for array in grid.shared:
        if array.count < 1:
            yield f"`{array.name}` has no element"


def lanes_of(kernel: Kernel) -> tuple[int, ...]:
    """How many lanes a value may have."""
    return (1, 16) if kernel.grid is None else (1, QUAD)


class Uniform:
    """Who comes to where a kernel is being read: `holds` for whole blocks, `holds_in_warps` for whole warps.

    Every variable is the same in all threads of a block, or in those of each warp, or it may differ from thread to
    thread. The number of a warp is a thread's number divided by 32 or a multiple of it, whatever multiples of 32 are
    added before.
    """

    __slots__ = ("_conditions", "_indices", "_own", "_thread", "_warps")

    def __init__(self, grid: Grid | None, indices: Indices) -> None:
        self._indices = indices
        self._thread = None if grid is None else grid.thread
        self._own: set[Variable] = set() if grid is None else {grid.thread}
        self._warps: set[Variable] = set()
        self._conditions: list[Atom] = []

    @property
    def holds(self) -> bool:
        return self.holds_in_warps and self._warps.isdisjoint(self._conditions)

    @property
    def holds_in_warps(self) -> bool:
        return self._own.isdisjoint(self._conditions)

    def unknown(self, variable: Variable) -> None:
        """The variable may differ from thread to thread."""
        self._own.add(variable)

    def compute(self, statement: Compute) -> None:
        """To be called when the indices know of the statement."""
        if not self._own.isdisjoint(statement.operands):
            same = statement.operator == "quotient" and self._of_warps(*statement.operands)
            (self._warps if same else self._own).add(statement.result)
        elif not self._warps.isdisjoint(statement.operands):
            self._warps.add(statement.result)

    def _of_warps(self, number: Atom, by: Atom) -> bool:
        """(32 m + thread) / 32 k is (m + thread / 32) / k, where nothing is below zero."""
        form = self._indices.form(number)
        others = {part: step for part, step in form.factors.items() if part is not self._thread}
        return (
            isinstance(by, Constant)
            and isinstance(by.value, int)
            and by.value % WARP == 0
            and self._thread is not None
            and form.factors.get(self._thread) == 1
            and not any(step % WARP for step in (form.constant, *others.values()))
            and self._own.isdisjoint(others)
            and self._indices.interval(form)[0] >= 0
        )

    @contextmanager
    def under(self, condition: Atom) -> Iterator[None]:
        self._conditions.append(condition)
        yield
        self._conditions.pop()
