"""How the values of a data field are stored: as little-endian numbers of the smallest exact dtype."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Mapping, Sequence

from alpha.base.dtype import Dtype
from alpha.graph.scalar import limits

CODES = {
    Dtype.F64: "d",
    Dtype.F32: "f",
    Dtype.F16: "e",
    Dtype.I64: "q",
    Dtype.I32: "i",
    Dtype.U32: "I",
    Dtype.U8: "B",
}
"""The dtypes of which data is read, with their codes of `struct` and numpy. Neither has bf16."""

STORED_CODES = {**CODES, Dtype.BOOL: "?"}
"""The dtypes that data is stored as."""

_NARROW = (Dtype.U8, Dtype.I32, Dtype.U32)


def smallest(values: Collection[int | float], dtype: Dtype) -> Dtype:
    """The smallest integer dtype that holds every value exactly, else the dtype itself.

    A negative zero is no integer, so a field that holds one keeps its dtype.
    """
    for value in values:
        if not math.isfinite(value) or value != int(value):
            return dtype
        if value == 0 and math.copysign(1, value) < 0:
            return dtype
    lowest, highest = min(values), max(values)
    for narrow in _NARROW:
        low, high = limits(narrow)
        if narrow.size < dtype.size and low <= lowest and highest <= high:
            return narrow
    return dtype


def packed(texts: Sequence[str], values: Mapping[str, int | float], dtype: Dtype) -> bytes:
    """The values of the texts, each exactly one of `dtype`, one after the other."""
    if dtype.is_integer:
        values = {text: int(value) for text, value in values.items()}
    return struct.pack(f"<{len(texts)}{CODES[dtype]}", *map(values.__getitem__, texts))
