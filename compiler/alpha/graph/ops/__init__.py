"""The table of operations: for each its name, type rule, meaning and gradient. One file a family.

`TABLE` maps a name to its row. It is put together here, once, from the families' tuples; nothing registers itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from alpha.graph.ops import (
    contraction,
    convolution,
    elementwise,
    movement,
    random,
    reduction,
    rowwise,
    structure,
)
from alpha.graph.ops.row import Attributes, Operation, Use

__all__ = ["TABLE", "Attributes", "Operation", "Use"]

_FAMILIES: tuple[tuple[Operation, ...], ...] = (
    structure.ROWS,
    elementwise.ROWS,
    reduction.ROWS,
    rowwise.ROWS,
    contraction.ROWS,
    convolution.ROWS,
    movement.ROWS,
    random.ROWS,
)

TABLE: Mapping[str, Operation] = MappingProxyType(
    {row.name: row for family in _FAMILIES for row in family}
)
