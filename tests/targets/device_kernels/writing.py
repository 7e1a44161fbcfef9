"""Which elements the threads of a launch write: an interpreter of places that knows nothing of the verifier.

It follows indices and conditions for all threads at once. What else a kernel computes is not known to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy

from alpha.kernel.node import (
    Atom,
    Compute,
    Constant,
    If,
    Kernel,
    Loop,
    Scalar,
    Statement,
    Store,
    Variable,
)

Array = Any
Known = dict[Variable, Array]

OPERATORS: Mapping[str, Callable[..., Array]] = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "quotient": numpy.floor_divide,
    "remainder": numpy.remainder,
    "minimum": numpy.minimum,
    "maximum": numpy.maximum,
    "and": numpy.bitwise_and,
    "or": numpy.bitwise_or,
    "xor": numpy.bitwise_xor,
    "equal": numpy.equal,
    "notEqual": numpy.not_equal,
    "less": numpy.less,
    "lessEqual": numpy.less_equal,
    "greater": numpy.greater,
    "greaterEqual": numpy.greater_equal,
    "select": numpy.where,
}
"""`quotient` and `remainder` as they are of numbers that are not negative, which all places are."""


def writes(kernel: Kernel) -> dict[int, Array]:
    """How often each element of each buffer that the kernel writes is stored to."""
    assert kernel.grid is not None
    grid = kernel.grid
    number = numpy.arange(grid.blocks * grid.threads)
    known = {grid.block: number // grid.threads, grid.thread: number % grid.threads}
    counts = {
        buffer: numpy.zeros(kernel.buffers[buffer].count, numpy.int64) for buffer in kernel.written
    }
    _run(kernel.body, known, numpy.ones(len(number), bool), counts)
    return counts


def _value(atom: Atom, known: Known) -> Array | None:
    if isinstance(atom, Constant):
        return None if isinstance(atom.value, float) else numpy.asarray(atom.value)
    return known.get(atom)


def _run(
    block: tuple[Statement, ...], known: Known, here: Array, counts: Mapping[int, Array]
) -> None:
    """`here` tells the threads that have come to the block."""
    for statement in block:
        match statement:
            case Compute(result=result, operator=operator, operands=operands):
                values = [_value(atom, known) for atom in operands]
                scalars = {result.type.scalar, *(atom.type.scalar for atom in operands)}
                whole = scalars <= {Scalar.I64, Scalar.BOOL} and operator in OPERATORS
                if whole and not any(value is None for value in values):
                    known[result] = OPERATORS[operator](*values)
            case Store(buffer=buffer, index=place, value=stored):
                first = _value(place, known)
                assert first is not None, "a place that depends on what was loaded"
                places = numpy.broadcast_to(first, here.shape)[here]
                for lane in range(stored.type.lanes):
                    numpy.add.at(counts[buffer], places + lane, 1)
            case If(condition=condition, body=body) if _stores(body):
                holds = _value(condition, known)
                assert holds is not None, "a store that depends on what was loaded"
                _run(body, dict(known), here & holds, counts)
            case Loop(index=index, start=start, stop=stop, step=step, body=body) if _stores(body):
                for turn in range(start, stop, step):
                    _run(body, {**known, index: numpy.asarray(turn)}, here, counts)
            case _:
                pass


def _stores(block: tuple[Statement, ...]) -> bool:
    return any(
        isinstance(item, Store) or (isinstance(item, If | Loop) and _stores(item.body))
        for item in block
    )
