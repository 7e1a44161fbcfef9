"""Reductions and row operations, each its written composition, on arrays (specification, section 11)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy

from semantics import numerics
from semantics.numerics import F32, Array, lane_sum


def extreme(x: Array, axes: Sequence[int], largest: bool) -> Array:
    """`max` or `min`: the element that is first in its order."""
    flat = numerics.rows(x, axes)
    keys = numerics.ordered(flat, 1 if largest else -1)
    place = keys.argmax(axis=0) if largest else keys.argmin(axis=0)
    return numpy.take_along_axis(flat, place[numpy.newaxis], axis=0)[0]


def winner(x: Array, axis: int, largest: bool) -> Array:
    keys = numerics.ordered(x, 1 if largest else -1)
    place = keys.argmax(axis=axis) if largest else keys.argmin(axis=axis)
    return place.astype(numpy.int32)


def mean(x: Array, axes: Sequence[int]) -> Array:
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return lane_sum(x, axes) / x.dtype.type(count)


def _spread(x: Array, axes: Sequence[int]) -> Array:
    """The reduced axes put back with size 1."""
    return numpy.expand_dims(x, tuple(axes))


def _shift(x: Array, axes: Sequence[int]) -> Array:
    m = extreme(x, axes, True)
    return numpy.where(m == -numpy.inf, F32(0), m)


def _mass(e: Array, axes: Sequence[int]) -> Array:
    z = lane_sum(e, axes)
    return numpy.where(z == 0, F32(1), z)


def softmax(x: Array, axis: int) -> Array:
    e = numerics.exp(x - _spread(_shift(x, (axis,)), (axis,)))
    return e / _spread(_mass(e, (axis,)), (axis,))


def log_softmax(x: Array, axis: int) -> Array:
    shifted = x - _spread(_shift(x, (axis,)), (axis,))
    z = _mass(numerics.exp(shifted), (axis,))
    return shifted - _spread(numerics.log(z), (axis,))


def log_sum_exp(x: Array, axes: Sequence[int]) -> Array:
    m = _shift(x, axes)
    return m + numerics.log(lane_sum(numerics.exp(x - _spread(m, axes)), axes))


def pick(x: Array, label: Array) -> Array:
    return numpy.take_along_axis(x, label[..., numpy.newaxis], axis=-1)[..., 0]


def cross_entropy(x: Array, label: Array) -> Array:
    axes = (x.ndim - 1,)
    m = _shift(x, axes)
    z = _mass(numerics.exp(x - _spread(m, axes)), axes)
    return numerics.log(z) - (pick(x, label) - m)
