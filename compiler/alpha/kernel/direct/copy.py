"""Copies between buffers along axes with strides: what every movement is made of."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.kernel.builder import KernelBuilder
from alpha.kernel.direct.site import nest
from alpha.kernel.node import LANES, Atom, Constant, Scalar, ValueType


@record
class Axis:
    """`extent` places; from one to the next it is `source` elements there and `target` elements here."""

    extent: int
    source: int
    target: int


def merged(axes: Sequence[Axis]) -> list[Axis]:
    """Axes from the outermost, without those of one place; neighbours that run on in both buffers become one."""
    found: list[Axis] = []
    for axis in axes:
        if axis.extent == 1:
            continue
        if found and (found[-1].source, found[-1].target) == (
            axis.extent * axis.source,
            axis.extent * axis.target,
        ):
            found[-1] = Axis(found[-1].extent * axis.extent, axis.source, axis.target)
        else:
            found.append(axis)
    return found


@record
class Origin:
    """Where elements come from: a buffer from a base place on, or nowhere, which gives zeros."""

    buffer: int | None
    scalar: Scalar
    base: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def read(
        self, builder: KernelBuilder, terms: Sequence[tuple[Atom, int]], stride: int, lanes: int
    ) -> Atom:
        if self.buffer is None:
            return zero(self.scalar, lanes)
        place = builder.affine([*self.base, *terms], self.constant)
        return builder.strided(self.buffer, place, stride, lanes)


def zero(scalar: Scalar, lanes: int) -> Constant:
    if scalar is Scalar.BOOL:
        return Constant(False, ValueType(scalar, lanes))
    return Constant(0 if scalar.is_integer else 0.0, ValueType(scalar, lanes))


def copy(
    builder: KernelBuilder,
    origin: Origin,
    target: int,
    axes: Sequence[Axis],
    *,
    base: Sequence[tuple[Atom, int]] = (),
    constant: int = 0,
    parallel: bool = False,
) -> None:
    """Copies along `axes` to `target`, from the place `base` plus `constant` on. `parallel` splits the first loop."""
    dims = merged(axes)
    outer, last = dims[:-1], dims[-1] if dims else Axis(1, 1, 1)
    with nest(builder, [axis.extent for axis in outer], parallel) as indices:
        inside = parallel and not outer
        there = [(atom, axis.source) for atom, axis in zip(indices, outer, strict=True)]
        here = [*base, *((atom, axis.target) for atom, axis in zip(indices, outer, strict=True))]
        blocks, rest = divmod(last.extent, LANES) if last.target == 1 else (0, last.extent)
        done = blocks * LANES
        if blocks:
            with builder.loop(blocks, parallel=inside) as block:
                terms = [*there, (block, LANES * last.source)]
                value = origin.read(builder, terms, last.source, LANES)
                builder.store(target, builder.affine([*here, (block, LANES)], constant), value)
        if rest:
            with builder.loop(rest, parallel=inside) as item:
                shifted = Origin(
                    origin.buffer,
                    origin.scalar,
                    origin.base,
                    origin.constant + done * last.source,
                )
                value = shifted.read(builder, [*there, (item, last.source)], 1, 1)
                place = builder.affine([*here, (item, last.target)], constant + done * last.target)
                builder.store(target, place, value)
