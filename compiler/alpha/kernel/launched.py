"""What the law of kernels asks of those that a device launches: the limits of a grid, and who comes to a barrier."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from alpha.kernel.node import QUAD, WARP, Atom, Compute, Grid, Kernel, Variable

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
    """Whether all threads of a block come to where a kernel is being read: `holds`."""

    __slots__ = ("_depth", "_own")

    def __init__(self, grid: Grid | None) -> None:
        self._own: set[Variable] = set() if grid is None else {grid.thread}
        self._depth = 0

    @property
    def holds(self) -> bool:
        return not self._depth

    def unknown(self, variable: Variable) -> None:
        """The variable may differ from thread to thread."""
        self._own.add(variable)

    def compute(self, statement: Compute) -> None:
        if not self._own.isdisjoint(statement.operands):
            self._own.add(statement.result)

    @contextmanager
    def under(self, condition: Atom) -> Iterator[None]:
        own = condition in self._own
        self._depth += own
        yield
        self._depth -= own
