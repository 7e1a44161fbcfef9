"""The table of operations: for each its name, type rule, meaning and gradient. One file a family.

`TABLE` maps a name to its row. It is put together here, once, from the families' tuples; nothing registers itself.
"""

from __future__ import annotations

from types import MappingProxyType

from alpha.graph.ops import (
    contraction,
    elementwise,
    movement,
    random,
    reduction,
    rowwise,
    structure,
)
from alpha.graph.ops.row import Attributes, Operation, Use

__all__ = ["TABLE", "Attributes", "Operation", "Use"]

TABLE = MappingProxyType(
    {
        row.name: row
        for family in (structure, elementwise, reduction, rowwise, contraction, movement, random)
        for row in family.ROWS
    }
)
