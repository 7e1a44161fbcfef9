"""One instruction's access to memory: what it moves, and how addresses become rows of an array."""

from __future__ import annotations

from typing import Any

import numpy

Array = Any

ELEMENTS: dict[str, Any] = {
    "u8": numpy.uint8,
    "u16": numpy.uint16,
    "b16": numpy.uint16,
    "u32": numpy.uint32,
    "b32": numpy.uint32,
    "f32": numpy.float32,
    "u64": numpy.uint64,
    "b64": numpy.uint64,
    "f64": numpy.float64,
}
_UNSIGNED = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}


class Access:
    """`lanes` elements of a kind at once, `offset` bytes past the address; `number` tells accesses apart.

    `element` and `bytes` are sizes in bytes, `shift` the logarithm of `bytes`.
    """

    def __init__(
        self, number: int, line: int, space: str, kind: str, lanes: int, offset: int, store: bool
    ) -> None:
        self.number = number
        self.line = line
        self.space = space
        self.kind = kind
        self.lanes = lanes
        self.offset = offset
        self.store = store
        self.element = int(numpy.dtype(ELEMENTS[kind]).itemsize)
        self.bytes = self.element * lanes
        self.shift = self.bytes.bit_length() - 1
        self.odd: Array = numpy.array(
            self.bytes - 1, numpy.uint64 if space != "shared" else numpy.uint32
        )
        self.by: Array = numpy.array(self.shift, self.odd.dtype)


def some(mask: Array) -> bool:
    """Whether an array of truth values has a true one; quicker than numpy's own ways for a few thousand lanes."""
    return 1 in mask.tobytes()


def rows(data: Array, kind: str, lanes: int) -> Array:
    """Bytes as rows of `lanes` elements, or as elements if there is one to a row. What is left over is left out."""
    type_ = numpy.dtype(ELEMENTS[kind])
    size = type_.itemsize * lanes
    seen = data[: data.size // size * size].view(type_)
    return seen if lanes == 1 else seen.reshape(-1, lanes)


def wide(shadow: Array, size: int) -> Array:
    """A shadow of bytes in units of `size` bytes; 16 make a row of two."""
    unit = min(size, 8)
    seen = shadow[: shadow.size // size * size].view(_UNSIGNED[unit])
    return seen if size <= 8 else seen.reshape(-1, size // unit)


def stamped(stamps: Array, count: int) -> Array:
    """Stamps in rows of `count`, or as they are if that is one."""
    return stamps if count == 1 else stamps[: stamps.size // count * count].reshape(-1, count)


def column(values: Array, like: Array) -> Array:
    """One value a row, for comparison with rows of several."""
    return values if like.ndim == 1 else values[:, None]


def first_row(bad: Array) -> int:
    """The first row with something bad in it."""
    return int(numpy.flatnonzero(bad if bad.ndim == 1 else bad.any(axis=1))[0])
