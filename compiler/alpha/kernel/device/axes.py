"""Groups of axes of a tensor that are counted through as one, and where a place along such a group lies."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from alpha.base.record import record
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.node import QUAD, Atom


@record
class Axis:
    """`extent` places, `stride` elements from one to the next."""

    extent: int
    stride: int


Axes = tuple[Axis, ...]
"""Outermost first; the places of a group are numbered row-major."""


def merged(axes: Sequence[Axis]) -> Axes:
    """The same places in as few axes as can be: without those of one place, neighbours that run on as one."""
    found: list[Axis] = []
    for axis in axes:
        if axis.extent == 1:
            continue
        if found and found[-1].stride == axis.extent * axis.stride:
            found[-1] = Axis(found[-1].extent * axis.extent, axis.stride)
        else:
            found.append(axis)
    return tuple(found)


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
