"""The direct lane: one fixed template for each primitive operation. `TEMPLATES` maps the operation to its template.

No template fuses, tiles or tunes anything, so what runs can be read off the graph line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from alpha.kernel.direct.arithmetic import ELEMENTS
from alpha.kernel.direct.contraction import contraction, window_contraction
from alpha.kernel.direct.elementwise import elementwise
from alpha.kernel.direct.movement import (
    add_rows,
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
from alpha.kernel.direct.random import derive_key, draw, key
from alpha.kernel.direct.reduction import COMBINATIONS, reduction
from alpha.kernel.direct.site import Template
from alpha.kernel.direct.winner import winner

__all__ = ["ELEMENTS", "TEMPLATES"]

TEMPLATES: Mapping[str, Template] = MappingProxyType(
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
    }
)
"""`input` and `constant` make nothing, `reshape` and `broadcast` are ways to look at their operand."""
