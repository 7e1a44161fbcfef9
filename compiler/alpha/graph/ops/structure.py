"""Inputs, constants, loops, and the operation that stops a gradient."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import TensorType
from alpha.graph.formula import Term
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Operation, Types, Use


def _stated(types: Types, attributes: Attributes) -> TensorType:
    raise AssertionError("a leaf has a stated type")


def _identity(types: Types, attributes: Attributes) -> TensorType:
    rules.count("stopGradient", types, 1)
    return types[0]


def _operand(use: Use) -> Term:
    """x"""
    return use.operands[0]


def _stopped(use: Use, g: Term) -> Sequence[Term | None]:
    """none"""
    return (None,)


ROWS: tuple[Operation, ...] = (
    Operation("input", "a named tensor from outside", _stated, ("name",), leaf=True),
    Operation("constant", "one known number", _stated, ("value",), leaf=True),
    Operation(
        "loop", "a body that is evaluated once a turn (`graph.node.Loop`)", _stated, leaf=True
    ),
    Operation("result", "result `place` of a loop", _stated, ("place",), leaf=True),
    Operation(
        "stopGradient", "x, with no gradient", _identity, expansion=_operand, gradient=_stopped
    ),
)
