"""The exact meaning of operations on known scalars, so that folding one changes no bits (specification, section 12).

A float of any dtype is a Python float that is exactly a value of that dtype; an integer dtype is a Python int in its
range; `bool` is a bool. bf16 and f16 widen to f32, compute, and round once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from alpha.base.dtype import Dtype
from alpha.graph.elementary import ELEMENTARY
from alpha.graph.ieee import floor, fused, nearest, quotient, root, round_even, rounded
from alpha.graph.node import Attribute

Scalar = int | float | bool


def evaluate(
    operation: str, operands: Sequence[Scalar], attributes: Mapping[str, Attribute], dtype: Dtype
) -> Scalar:
    """The result of an operation on scalars. `dtype` is that of the operands (of the chosen ones for `select`)."""
    if operation == "select":
        return operands[1] if operands[0] else operands[2]
    if operation == "cast":
        return cast(operands[0], dtype, Dtype(attributes["dtype"]))
    if operation in _MOVEMENTS:
        return operands[0]
    if dtype is Dtype.BOOL:
        return _BOOLEAN[operation](*operands)
    if dtype.is_integer:
        return _integer(operation, [int(operand) for operand in operands], attributes, dtype)
    if operation == "powStep":
        return _narrow(_power(float(operands[0]), int(operands[1]), _wide(dtype)), dtype)
    return _float(operation, [float(operand) for operand in operands], attributes, dtype)


def defined(operation: str) -> bool:
    """Whether `evaluate` knows the operation on scalars."""
    return (
        operation in ("select", "cast", "pow", "powStep", "fma", "floorDiv", "rem")
        or operation in _MOVEMENTS
        or operation in _BOOLEAN
        or operation in _COMPARISONS
        or operation in _FLOAT
        or operation in ELEMENTARY
        or operation in _INTEGER
    )


def cast(value: Scalar, source: Dtype, target: Dtype) -> Scalar:
    """Section 10: `value` of dtype `source` as a `target`."""
    if target.is_float:
        if isinstance(value, float):
            return nearest(value, target)
        return nearest(int(value), target)
    if isinstance(value, float):
        low, high = limits(target)
        if math.isnan(value):
            return 0
        return (
            max(low, min(high, int(value)))
            if math.isfinite(value)
            else (high if value > 0 else low)
        )
    return _wrap(int(value), target)


def limits(dtype: Dtype) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype."""
    bits = 8 * dtype.size
    if dtype in (Dtype.I32, Dtype.I64):
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


def _wrap(value: int, dtype: Dtype) -> int:
    low, _ = limits(dtype)
    return (value - low) % (1 << (8 * dtype.size)) + low


def _wide(dtype: Dtype) -> Dtype:
    return dtype if dtype is Dtype.F64 else Dtype.F32


def _narrow(value: float, dtype: Dtype) -> float:
    return value if dtype in (Dtype.F64, Dtype.F32) else nearest(value, dtype)


def _float(
    operation: str, operands: list[float], attributes: Mapping[str, Attribute], dtype: Dtype
) -> Scalar:
    comparison = _COMPARISONS.get(operation)
    if comparison is not None:
        return comparison(operands[0], operands[1])
    wide = _wide(dtype)
    if operation == "pow":
        exponent = attributes["exponent"]
        assert isinstance(exponent, int)
        return _narrow(_power(operands[0], exponent, wide), dtype)
    if operation == "fma":
        return _narrow(fused(operands[0], operands[1], operands[2], wide), dtype)
    elementary = ELEMENTARY.get(operation)
    if elementary is not None:
        return _narrow(elementary(operands[0]), dtype)
    return _narrow(rounded(_FLOAT[operation](*operands), wide), dtype)


def _power(x: float, exponent: int, dtype: Dtype) -> float:
    if exponent < 0:
        return rounded(quotient(1.0, _power(x, -exponent, dtype)), dtype)
    result, base = 1.0, x
    while exponent:
        if exponent & 1:
            result = rounded(result * base, dtype)
        base = rounded(base * base, dtype)
        exponent >>= 1
    return result


def _integer(
    operation: str, operands: list[int], attributes: Mapping[str, Attribute], dtype: Dtype
) -> Scalar:
    comparison = _COMPARISONS.get(operation)
    if comparison is not None:
        return comparison(operands[0], operands[1])
    if operation in ("floorDiv", "rem"):
        by = attributes["by"]
        assert isinstance(by, int)
        return _wrap(operands[0] // by if operation == "floorDiv" else operands[0] % by, dtype)
    return _wrap(_INTEGER[operation](*operands), dtype)


def _maximum(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b if math.copysign(1, a) < 0 else a
    return max(a, b)


def _minimum(a: float, b: float) -> float:
    return -_maximum(-a, -b)


def _sign(x: float) -> float:
    return 1.0 if x > 0 else (-1.0 if x < 0 else x)


_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "less": lambda a, b: a < b,
    "lessEqual": lambda a, b: a <= b,
    "greater": lambda a, b: a > b,
    "greaterEqual": lambda a, b: a >= b,
}
_BOOLEAN: dict[str, Callable[..., bool]] = {
    **_COMPARISONS,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
}
_INTEGER: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "maximum": max,
    "minimum": min,
}
_FLOAT: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": quotient,
    "neg": lambda a: -a,
    "abs": abs,
    "sqrt": root,
    "relu": lambda x: 0.0 if x <= 0 else x,
    "sign": _sign,
    "floor": floor,
    "round": round_even,
    "maximum": _maximum,
    "minimum": _minimum,
}
_MOVEMENTS = frozenset(
    {"broadcast", "reshape", "transpose", "stopGradient", "sum", "mean", "max", "min"}
)
"""The identity on a scalar."""
