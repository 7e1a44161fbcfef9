"""The one table of intrinsics."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.evaluate.files import FileAccess
from alpha.evaluate.intrinsics import (
    arithmetic,
    contraction,
    elementwise,
    lists,
    loops,
    movement,
    randomness,
    reductions,
    structure,
    training,
)
from alpha.evaluate.machine import Row

FAMILIES: tuple[Mapping[str, Row], ...] = (
    arithmetic.ROWS,
    lists.ROWS,
    elementwise.ROWS,
    reductions.ROWS,
    movement.ROWS,
    contraction.ROWS,
    randomness.ROWS,
    loops.ROWS,
    structure.ROWS,
    training.ROWS,
)


def operations(files: FileAccess, platform: Mapping[str, Row]) -> dict[str, Row]:
    """Every intrinsic by name. `platform` are those of platform modules, which ask the levels below."""
    table: dict[str, Row] = {"run": training.run_record(files), **platform}
    for family in FAMILIES:
        table |= family
    return table
