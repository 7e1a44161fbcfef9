"""What a message proposes where dtypes or sizes differ: the cast that loses nothing, the axis that is repeated."""

from __future__ import annotations

import re
import struct

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.core.dim import Dim
from alpha.core.types import Shape
from alpha.diagnostics.diagnostic import Fix

_WIDTHS = tuple(map(Dtype, ("bool", "u8", "u32", "i32", "i64", "f16", "bf16", "f32", "f64")))
_FORMATS = {Dtype.F16: "<e", Dtype.F32: "<f"}
_TIGHT = re.compile(r"[\w.']+|\([^()]*\)")


def wider_of(left: object, right: object) -> Dtype | None:
    """The dtype of the two that a cast should go to, by its range; None if one of them is a variable."""
    if not isinstance(left, Dtype) or not isinstance(right, Dtype):
        return None
    return max(left, right, key=_WIDTHS.index)


def cast_of(operand: Span, dtype: Dtype, argument: bool) -> tuple[Fix, ...]:
    """The edit that casts `operand`, which may be an `argument`. Never sure: a cast can lose what matters."""
    if "\n" in operand.text or dtype is Dtype.BOOL:
        return ()
    text = f"cast {dtype.value} {_tight(operand.text)}"
    return (Fix(f"cast to `{dtype.value}`", operand, f"({text})" if argument else text),)


def repeat_of(operand: Span, shape: Shape, place: int, size: Dim) -> tuple[Fix, ...]:
    """The edit that repeats the axis at `place` from the end, which has one element, `size` times."""
    if shape.lead is not None or "\n" in operand.text:
        return ()
    at = len(shape.axes) - place
    index = ", ".join("0" if axis == at else ":" for axis in range(len(shape.axes)))
    many = str(size) if str(size).isalnum() else f"({size})"
    text = f"(repeat[-{place}] {many} {_tight(operand.text)}[{index}])"
    return (Fix("repeat the axis", operand, text),)


def repeated(operand: Span, axis: int, size: Dim) -> tuple[Fix, ...]:
    """The edit that gives `operand` the axis back which a reduction took."""
    if "\n" in operand.text:
        return ()
    many = str(size) if str(size).isalnum() else f"({size})"
    text = f"(repeat[{axis}] {many} {_tight(operand.text)})"
    return (Fix("repeat along the axis", operand, text),)


def nearest(written: str, dtype: Dtype) -> str:
    """The value of a float dtype that is nearest to a whole number, as it would be written; "" if there is none."""
    form = _FORMATS.get(dtype)
    digits = written.replace("_", "")
    if form is None or not digits.removeprefix("-").isdecimal():
        return ""
    try:
        (value,) = struct.unpack(form, struct.pack(form, int(digits)))
    except OverflowError:
        return ""
    return f"{int(value):_}"


def _tight(text: str) -> str:
    return text if _TIGHT.fullmatch(text) else f"({text})"
