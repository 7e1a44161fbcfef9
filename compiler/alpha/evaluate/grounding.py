"""Types whose variables are all known: dimensions become numbers, tensors become `TensorType`s."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.dtype import Dtype, TensorType
from alpha.core.dim import Dim
from alpha.core.types import (
    Element,
    Function,
    Index,
    Named,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)

Types = Mapping[str, TypeArgument]


class Undetermined(Exception):
    """A variable has no meaning here: the checker let an undetermined type through."""


def number(dim: Dim, types: Types) -> int:
    """The value of a dimension."""
    total = 0
    for monomial, coefficient in dim.terms:
        product = coefficient
        for name in monomial:
            known = types.get(name)
            if not isinstance(known, Dim) or known.value is None:
                raise Undetermined(name)
            product *= known.value
        total += product
    return total


def element(written: Element, types: Types) -> tuple[Dtype, int | None]:
    """The storage type, and n for `index n`."""
    match written:
        case Dtype():
            return written, None
        case Index(size):
            return Dtype.I32, number(size, types)
        case TypeVar(name):
            known = types.get(name)
            if isinstance(known, Dtype | Index):
                return element(known, types)
            raise Undetermined(name)


def shape(written: Shape, types: Types) -> tuple[int, ...]:
    axes = tuple(number(axis, types) for axis in written.axes)
    if written.lead is None:
        return axes
    lead = types.get(written.lead)
    if not isinstance(lead, Shape):
        raise Undetermined(written.lead)
    return shape(lead, types) + axes


def tensor(written: Tensor, types: Types) -> TensorType:
    dtype, bound = element(written.element, types)
    return TensorType(dtype, shape(written.shape, types), bound)


def ground(written: TypeArgument, types: Types) -> TypeArgument:
    """`written` with every variable replaced by what it stands for."""
    if isinstance(written, Dtype) or (isinstance(written, Named) and not written.arguments):
        return written
    match written:
        case Dim():
            return Dim.constant(number(written, types))
        case Shape():
            return Shape(tuple(Dim.constant(size) for size in shape(written, types)))
        case Index(size):
            return Index(Dim.constant(number(size, types)))
        case TypeVar(name):
            if name not in types:
                raise Undetermined(name)
            return types[name]
        case Tensor(inner, axes):
            dtype, bound = element(inner, types)
            sizes = tuple(Dim.constant(size) for size in shape(axes, types))
            return Tensor(dtype if bound is None else Index(Dim.constant(bound)), Shape(sizes))
        case Named(name, arguments):
            return Named(name, tuple(ground(argument, types) for argument in arguments))
        case Function(parameter, result):
            return Function(as_type(parameter, types), as_type(result, types))
        case TupleType(items):
            return TupleType(tuple(as_type(item, types) for item in items))


def as_type(written: Type, types: Types) -> Type:
    """As `ground`, where only a type can stand."""
    known = ground(written, types)
    if isinstance(known, Dim | Shape | Index | Dtype):
        raise Undetermined(str(written))
    return known


def sizes(*numbers: int) -> Shape:
    """The shape with these axes."""
    return Shape(tuple(Dim.constant(size) for size in numbers))
