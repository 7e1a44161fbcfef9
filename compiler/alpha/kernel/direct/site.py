"""What a template gets: one node, the buffer of its result, and where its operands are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from alpha.base.record import record
from alpha.graph.node import Node
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.node import Atom, Buffer, Kernel, Scalar, scalar_of

PARALLEL_WORK = 32_768
"""Operations on elements from which a kernel is worth splitting: below it, waking a thread costs more than it saves."""


@record
class Held:
    """An operand in memory. Element i of the operand is element `i mod buffer.count` of the buffer."""

    buffer: Buffer


@record
class Number:
    """An operand that is one known number in every place."""

    value: int | float | bool
    scalar: Scalar


Operand = Held | Number


@record
class Site:
    """`operands` stand for the node's operands in order; only elementwise templates meet other than whole buffers."""

    node: Node
    symbol: str
    result: Buffer
    operands: tuple[Operand, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.node.type.shape

    @property
    def count(self) -> int:
        return self.node.type.count

    @property
    def scalar(self) -> Scalar:
        return scalar_of(self.node.type.dtype)

    def operand_shape(self, place: int) -> tuple[int, ...]:
        return self.node.operands[place].type.shape

    def buffer(self, place: int) -> Buffer:
        """The buffer of an operand that is held whole."""
        operand = self.operands[place]
        assert isinstance(operand, Held)
        assert operand.buffer.count == self.node.operands[place].type.count
        return operand.buffer

    def integer(self, name: str) -> int:
        value = self.node.attribute(name)
        assert isinstance(value, int)
        return value

    def integers(self, name: str) -> tuple[int, ...]:
        value = self.node.attribute(name)
        assert isinstance(value, tuple)
        return tuple(item for item in value if isinstance(item, int))

    def text(self, name: str) -> str:
        value = self.node.attribute(name)
        assert isinstance(value, str)
        return value

    def kernel(
        self,
        builder: KernelBuilder,
        work: int,
        *,
        parallel: bool = True,
        accumulates: bool = False,
        aligned: Sequence[int] = (),
    ) -> Kernel:
        return builder.kernel(
            self.symbol,
            self.node.operation,
            work,
            parallel and splits(work),
            self.node.span,
            accumulates=accumulates,
            aligned=aligned,
        )


Template = Callable[[Site], Kernel]


def splits(work: int) -> bool:
    """Whether a kernel of so much work is split over an output axis."""
    return work >= PARALLEL_WORK


@contextmanager
def nest(
    builder: KernelBuilder, extents: Sequence[int], parallel: bool
) -> Iterator[tuple[Atom, ...]]:
    """Loops one in the other, the first one split among the parts if `parallel`."""
    with ExitStack() as loops:
        yield tuple(
            loops.enter_context(builder.loop(extent, parallel=parallel and place == 0))
            for place, extent in enumerate(extents)
        )


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements from one place of an axis to the next, row-major."""
    found: list[int] = []
    stride = 1
    for size in reversed(shape):
        found.append(stride)
        stride *= size
    return tuple(reversed(found))
