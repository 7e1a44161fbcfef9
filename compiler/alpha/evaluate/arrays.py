"""Numpy arrays of the language's dtypes, and their smallest exact storage."""

from __future__ import annotations

import numpy

from alpha.base.dtype import Dtype
from alpha.graph.scalar import limits

Array = numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.generic]]

NUMPY: dict[Dtype, numpy.dtype[numpy.generic]] = {
    Dtype.F64: numpy.dtype("<f8"),
    Dtype.F32: numpy.dtype("<f4"),
    Dtype.F16: numpy.dtype("<f2"),
    Dtype.I64: numpy.dtype("<i8"),
    Dtype.I32: numpy.dtype("<i4"),
    Dtype.U32: numpy.dtype("<u4"),
    Dtype.U8: numpy.dtype("u1"),
    Dtype.BOOL: numpy.dtype("u1"),
}
"""Numpy has no bf16."""

_NARROW = (Dtype.U8, Dtype.I32, Dtype.U32)


def smallest(array: Array, dtype: Dtype) -> tuple[Dtype, Array]:
    """The smallest integer dtype that holds every value exactly, and the array in it; else the dtype itself.

    A negative zero is no integer, so a field that holds one keeps its dtype.
    """
    if dtype is Dtype.BOOL or bool(numpy.signbit(array[array == 0]).any()):
        return dtype, array
    for narrow in _NARROW:
        if narrow.size >= dtype.size:
            continue
        low, high = limits(narrow)
        if not low <= array.min() <= array.max() <= high:
            continue
        stored = array.astype(NUMPY[narrow])
        if bool((stored == array).all()):
            return narrow, stored
    return dtype, array
