"""The letters of a contraction in groups, and where along a group an element of an operand or of the result lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.graph.ops.contraction import contracted, sizes
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.direct.site import Site, strides
from alpha.kernel.node import QUAD, Atom


@record
class Axis:
    """`extent` places, `stride` elements from one to the next."""

    extent: int
    stride: int


Axes = tuple[Axis, ...]
"""A group of letters in one tensor, outermost first; neighbours that run on are one axis."""


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
        found: list[Axis] = []
        for letter in letters:
            extent, stride = self.extents[letter], steps.get(letter, 0)
            if extent == 1:
                continue
            if found and found[-1].stride == extent * stride:
                found[-1] = Axis(found[-1].extent * extent, stride)
            else:
                found.append(Axis(extent, stride))
        return tuple(found)

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


def place_along(builder: KernelBuilder, axes: Axes, number: Atom) -> Atom:
    """Elements from the first place of a group to place number `number`, row-major."""
    terms: list[tuple[Atom, int]] = []
    for position, axis in enumerate(axes):
        if not axis.stride:
            continue
        turn = builder.apply(
            "quotient", number, index(prod(a.extent for a in axes[position + 1 :]))
        )
        if position:
            turn = builder.apply("remainder", turn, index(axis.extent))
        terms.append((turn, axis.stride))
    return builder.affine(terms)


def in_fours(axes: Axes, others: Sequence[Axes]) -> Axes | None:
    """The group counted in fours of neighbours; None if they do not all begin at multiples of four elements.

    `others` are the remaining groups of the same tensor.
    """
    *outer, last = axes or (Axis(1, 0),)
    steps = [axis.stride for group in (outer, *others) for axis in group]
    if last.stride != 1 or last.extent % QUAD or any(step % QUAD for step in steps):
        return None
    return (*outer, Axis(last.extent // QUAD, QUAD))
