"""Type rules that several families of operations share. Each gives a type or raises `OperationError`."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.node import Attribute
from alpha.graph.ops.row import Attributes, Rule, Types

FLOATS = frozenset(dtype for dtype in Dtype if dtype.is_float)
ELEMENTARY = FLOATS - {Dtype.F64}
"""Where the elementary functions are defined (specification, section 12.4)."""
INTEGERS = frozenset(dtype for dtype in Dtype if dtype.is_integer)
NUMERIC = FLOATS | INTEGERS
SIGNED = FLOATS | {Dtype.I32, Dtype.I64}
BOOLEAN = frozenset({Dtype.BOOL})


def count(name: str, types: Types, expected: int) -> None:
    if len(types) != expected:
        raise OperationError("E0302", f"`{name}` takes {expected} operands, not {len(types)}")


def defined(name: str, type_: TensorType, dtypes: frozenset[Dtype]) -> None:
    """E0404 unless `type_` has one of `dtypes` and is no `index n`."""
    if type_.dtype not in dtypes or type_.bound is not None:
        kind = type_.dtype.value if type_.bound is None else f"index {type_.bound}"
        raise OperationError("E0404", f"`{name}` is not defined for {kind}")


def equal_shapes(name: str, left: TensorType, right: TensorType) -> None:
    if len(left.shape) != len(right.shape):
        raise OperationError(
            "E0413", f"`{name}` joins rank {len(left.shape)} with rank {len(right.shape)}"
        )
    for axis, (a, b) in enumerate(zip(left.shape, right.shape, strict=True)):
        if a != b:
            raise OperationError("E0412", f"`{name}` joins sizes {a} and {b} on axis {axis}")


def equal_elements(name: str, left: TensorType, right: TensorType) -> None:
    if left.dtype is not right.dtype or left.bound != right.bound:
        raise OperationError(
            "E0401",
            f"`{name}` mixes {element_name(left)} with {element_name(right)}",
            hints=("`cast` one of them",),
        )


def element_name(type_: TensorType) -> str:
    return type_.dtype.value if type_.bound is None else f"index {type_.bound}"


def elementwise(name: str, operands: int, dtypes: frozenset[Dtype]) -> Rule:
    """All operands and the result have one type."""

    def rule(types: Types, attributes: Attributes) -> TensorType:
        count(name, types, operands)
        first = types[0]
        for other in types:
            defined(name, other, dtypes)
            equal_elements(name, first, other)
            equal_shapes(name, first, other)
        return first

    return rule


def axis_of(name: str, attributes: Attributes, rank: int, key: str = "axis") -> int:
    """One axis of an operand of this rank."""
    axis = attributes[key]
    if not isinstance(axis, int) or not 0 <= axis < rank:
        raise OperationError("E0418", f"`{name}` names axis {axis} of a tensor of rank {rank}")
    return axis


def axes_of(name: str, attributes: Attributes, rank: int) -> tuple[int, ...]:
    """The reduced axes: distinct, ascending, all inside the rank."""
    axes = integers(name, "axes", attributes["axes"])
    for axis in axes:
        if not 0 <= axis < rank:
            raise OperationError("E0418", f"`{name}` names axis {axis} of a tensor of rank {rank}")
    if list(axes) != sorted(set(axes)):
        raise OperationError(
            "E0418", f"`{name}` names the axes {list(axes)}, which are not ascending and distinct"
        )
    return axes


def integers(name: str, key: str, value: Attribute) -> tuple[int, ...]:
    if not isinstance(value, tuple):
        raise OperationError("E0301", f"`{name}` needs a tuple of numbers as `{key}`")
    found: list[int] = []
    for item in value:
        if not isinstance(item, int):
            raise OperationError("E0301", f"`{name}` needs a tuple of numbers as `{key}`")
        found.append(item)
    return tuple(found)


def integer(name: str, key: str, value: Attribute) -> int:
    if not isinstance(value, int):
        raise OperationError("E0301", f"`{name}` needs a number as `{key}`")
    return value


def shape_of(name: str, attributes: Attributes) -> tuple[int, ...]:
    shape = integers(name, "shape", attributes["shape"])
    for size in shape:
        if size < 1:
            raise OperationError("E0503", f"`{name}` makes an axis of size {size}")
    return shape


def without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def replaced(type_: TensorType, shape: Sequence[int]) -> TensorType:
    """The same elements in another shape."""
    return TensorType(type_.dtype, tuple(shape), type_.bound)
