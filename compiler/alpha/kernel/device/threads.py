"""How the elements of a result are given to threads, and where in a tensor a thread is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.node import WARP, Atom

THREADS = 256
"""Threads of a block, where there are enough: eight warps, so that six blocks fill a multiprocessor of sm_86."""

WORD = 4
"""Bytes of an element of which four are moved at once."""

MOVING, COMPUTING, FOLDING, FOLDING_WIDE = 32, 40, 64, 104
"""Bounds on the registers of a thread: of kernels that move elements, compute them, or keep many totals at once, of 32
or of 64 bits."""


@contextmanager
def each(builder: KernelBuilder, count: int, registers: int) -> Iterator[Atom]:
    """What one of `count` threads does; the number of the thread among all of them."""
    threads = min(THREADS, -(-count // WARP) * WARP)
    blocks = -(-count // threads)
    block, thread = builder.launch(blocks, threads, registers)
    place = builder.affine([(block, threads), (thread, 1)])
    with builder.below(place, count, blocks * threads - 1):
        yield place


def coordinates(builder: KernelBuilder, place: Atom, extents: Sequence[int]) -> list[Atom]:
    """The index along each axis of element number `place`, row-major."""
    found: list[Atom] = []
    for axis, extent in enumerate(extents):
        inner = prod(extents[axis + 1 :])
        turn = builder.apply("quotient", place, index(inner))
        if axis:
            turn = builder.apply("remainder", turn, index(extent))
        found.append(turn)
    return found
