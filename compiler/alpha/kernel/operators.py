"""The operators of kernel code: for each its type rule. Their meaning is IEEE-754 and two's complement, exactly.

Nothing is approximate, nothing is contracted or reassociated, and integers wrap. All operands have the same number of
lanes, except where the rule says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from alpha.kernel.node import LANES, QUAD, Scalar, ValueType

Types = Sequence[ValueType]
Rule = Callable[[Types, ValueType], bool]
"""Whether operands of these types give a result of that type."""

FLOATS = frozenset({Scalar.F64, Scalar.F32})
INTEGERS = frozenset(scalar for scalar in Scalar if scalar.is_integer)
NUMBERS = FLOATS | INTEGERS
SIGNED = FLOATS | {Scalar.I64, Scalar.I32}
LOGIC = INTEGERS | {Scalar.BOOL}
SEVERAL = (LANES, QUAD)
STORED = FLOATS | {Scalar.F16}
"""Floats that hardware converts; bf16 is rounded by integer code."""


def _same(count: int, scalars: frozenset[Scalar]) -> Rule:
    def rule(types: Types, result: ValueType) -> bool:
        return (
            len(types) == count
            and all(type_ == result for type_ in types)
            and result.scalar in scalars
        )

    return rule


def _comparison(types: Types, result: ValueType) -> bool:
    return (
        len(types) == 2
        and types[0] == types[1]
        and types[0].scalar in NUMBERS | {Scalar.BOOL}
        and result == ValueType(Scalar.BOOL, types[0].lanes)
    )


def _unordered(types: Types, result: ValueType) -> bool:
    return (
        len(types) == 1
        and types[0].scalar in FLOATS
        and result == ValueType(Scalar.BOOL, types[0].lanes)
    )


def _select(types: Types, result: ValueType) -> bool:
    return len(types) == 3 and (
        types[0] == ValueType(Scalar.BOOL, result.lanes) and types[1] == types[2] == result
    )


def _bits(types: Types, result: ValueType) -> bool:
    return (
        len(types) == 1
        and types[0].lanes == result.lanes
        and types[0].scalar.size == result.scalar.size
        and Scalar.BOOL not in (types[0].scalar, result.scalar)
    )


def _convert(types: Types, result: ValueType) -> bool:
    known = NUMBERS | {Scalar.BOOL}
    return (
        len(types) == 1
        and types[0].lanes == result.lanes
        and (
            (types[0].scalar in known and result.scalar in NUMBERS)
            or (types[0].scalar in STORED and result.scalar in STORED)
        )
        and types[0].scalar is not result.scalar
    )


def _splat(types: Types, result: ValueType) -> bool:
    return len(types) == 1 and types[0] == ValueType(result.scalar) and result.lanes in SEVERAL


def _pack(types: Types, result: ValueType) -> bool:
    return list(types) == [ValueType(result.scalar)] * QUAD and result.lanes == QUAD


def _extract(types: Types, result: ValueType) -> bool:
    return (
        len(types) == 2
        and types[0].scalar is result.scalar
        and types[0].lanes in SEVERAL
        and types[1] == ValueType(Scalar.I64)
        and result.lanes == 1
    )


def _tree(types: Types, result: ValueType) -> bool:
    return (
        len(types) == 1
        and types[0] == ValueType(result.scalar, LANES)
        and result.lanes == 1
        and result.scalar in NUMBERS
    )


TABLE: Mapping[str, Rule] = MappingProxyType(
    {
        "add": _same(2, NUMBERS),
        "sub": _same(2, NUMBERS),
        "mul": _same(2, NUMBERS),
        "div": _same(2, FLOATS),
        "fma": _same(3, FLOATS),
        "neg": _same(1, FLOATS),  # the sign bit only
        "abs": _same(1, FLOATS),  # the sign bit only
        "sqrt": _same(1, FLOATS),
        "floor": _same(1, FLOATS),
        "roundEven": _same(1, FLOATS),
        "maximum": _same(2, NUMBERS),  # NaN if either is NaN; +0 above -0
        "minimum": _same(2, NUMBERS),
        "quotient": _same(
            2, INTEGERS
        ),  # toward zero; the divisor is a constant that cannot overflow
        "remainder": _same(2, INTEGERS),  # of `quotient`
        "mulHigh": _same(2, frozenset({Scalar.U32})),  # bits 32 to 63 of the product
        "and": _same(2, LOGIC),
        "or": _same(2, LOGIC),
        "xor": _same(2, LOGIC),
        "shiftLeft": _same(2, INTEGERS),  # by a constant below the width
        "shiftRight": _same(2, INTEGERS),  # arithmetic on signed types
        "equal": _comparison,  # a NaN is not equal, less or greater
        "notEqual": _comparison,  # the negation of `equal`
        "less": _comparison,
        "lessEqual": _comparison,
        "greater": _comparison,
        "greaterEqual": _comparison,
        "isNan": _unordered,
        "select": _select,
        "bits": _bits,  # the same bits as another type of the same size
        "convert": _convert,  # as `cast`, specification, section 10
        "splat": _splat,  # the one lane in all 16, or all 4
        "pack": _pack,  # four values as the lanes of one
        "extract": _extract,  # lane number `operand 1`, a constant
        "treeAdd": _tree,  # h = 8, 4, 2, 1: lane j = lane j + lane j+h for j < h; lane 0
        "treeMaximum": _tree,
        "treeMinimum": _tree,
    }
)
