"""What a contraction multiplies: its letters, and the strides along them of the operands and of the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.graph.ops.contraction import contracted, sizes
from alpha.kernel.device.axes import Axes, Axis, merged
from alpha.kernel.direct.site import Site, strides


@record
class Product:
    """A contraction: its letters, their sizes, and the stride along each letter of the operands and of the result.

    `summed` stands in the order of the law: an element of the result is one chain over it, the last letter fastest.
    """

    left: str
    right: str
    result: str
    summed: str
    extents: Mapping[str, int]
    operands: tuple[Mapping[str, int], Mapping[str, int]]
    target: Mapping[str, int]

    def count(self, letters: str) -> int:
        """How many places a group of letters has."""
        return prod(self.extents[letter] for letter in letters)

    def axes(self, letters: str, steps: Mapping[str, int]) -> Axes:
        """The group in a tensor with such strides; a tensor without a letter stays where it is along it."""
        return merged([Axis(self.extents[a], steps.get(a, 0)) for a in letters])

    @property
    def work(self) -> int:
        return self.count(self.result) * self.count(self.summed)


def product(
    site: Site,
    left: str,
    right: str,
    types: Sequence[TensorType],
    steps: Sequence[tuple[int, ...]],
) -> Product:
    """`steps` are the elements from one place of each operand's letters to the next."""
    result = site.text("result")
    return Product(
        left,
        right,
        result,
        contracted(left, right, result),
        sizes(left, right, types),
        (
            dict(zip(left, steps[0], strict=True)),
            dict(zip(right, steps[1], strict=True)),
        ),
        dict(zip(result, strides(site.shape), strict=True)),
    )
