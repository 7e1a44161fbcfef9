"""The lane of devices: one template for each primitive operation, for threads in blocks.

What an element is, and in which order it is made, is the code of the direct lane, so the bits are the same. A thread
makes one element of the result or four neighbours, unless its file says otherwise.
"""

from __future__ import annotations

from alpha.graph.node import Node
from alpha.kernel.device.contraction import contraction, window_contraction
from alpha.kernel.device.elementwise import copy_kernel, elementwise
from alpha.kernel.device.movement import (
    add_rows,
    broadcast,
    concat,
    gather,
    pad,
    pick,
    positions,
    repeat,
    reverse,
    slice_,
    transpose,
)
from alpha.kernel.device.random import derive_key, draw, key
from alpha.kernel.device.reduction import reduction, winner
from alpha.kernel.direct.arithmetic import ELEMENTS
from alpha.kernel.direct.reduction import COMBINATIONS
from alpha.kernel.lane import Lane

__all__ = ["DEVICE"]


def _as_it_lies(node: Node, place: int) -> None:
    """Operands of contractions stay as they are."""


DEVICE = Lane(
    "device",
    {
        **dict.fromkeys(ELEMENTS, elementwise),
        **dict.fromkeys(COMBINATIONS, reduction),
        "argmax": winner,
        "argmin": winner,
        "contract": contraction,
        "contractWindows": window_contraction,
        "transpose": transpose,
        "reverse": reverse,
        "repeat": repeat,
        "slice": slice_,
        "concat": concat,
        "pad": pad,
        "gather": gather,
        "addRows": add_rows,
        "pick": pick,
        "positions": positions,
        "key": key,
        "deriveKey": derive_key,
        "uniform": draw,
        "normal": draw,
    },
    broadcast,
    copy_kernel,
    _as_it_lies,
)
