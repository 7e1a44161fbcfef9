"""Graphs of one operation whose sizes lie around multiples of the 16 lanes."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from alpha.base.dtype import Dtype
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from laws.graphs import Pool, step

SIZES = (1, 2, 3, 7, 10, 15, 16, 17, 31, 32, 33, 40)
LARGEST = 6_000
"""Elements of an operand, at most: the reference is slow."""


class WidePool(Pool):
    """Operands whose sizes lie around multiples of the lanes."""

    def width(self) -> int:
        return int(self.draw(st.sampled_from((*SIZES, 63, 64, 65))))

    def shape(self, least: int = 0, most: int = 3) -> tuple[int, ...]:
        rank = self.draw(st.integers(least, most))
        sizes: list[int] = []
        room = LARGEST
        for _ in range(rank):
            size = self.draw(st.sampled_from([size for size in SIZES if size <= room]))
            sizes.append(size)
            room //= size
        return tuple(sizes)


@st.composite
def wide(draw: Any, operation: str, dtype: Dtype) -> Graph:
    pool = WidePool(draw, Builder(), [])
    node = step(pool, operation, dtype)
    return pool.builder.graph("wide", [("y", node)])
