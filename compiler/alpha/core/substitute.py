"""Putting type arguments in place of variables, and walking types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from alpha.base.dtype import Dtype
from alpha.core.dim import Dim
from alpha.core.types import (
    Element,
    Function,
    Index,
    Kind,
    Named,
    Scheme,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)

Arguments = Mapping[str, TypeArgument]


def in_dim(dim: Dim, arguments: Arguments) -> Dim:
    found = {}
    for name in dim.names:
        value = arguments.get(name)
        if type(value) is Dim:
            found[name] = value
    return dim.substituted(found) if found else dim


def in_shape(shape: Shape, arguments: Arguments) -> Shape:
    axes = tuple([in_dim(axis, arguments) for axis in shape.axes])
    lead = arguments.get(shape.lead) if shape.lead is not None else None
    if isinstance(lead, Shape):
        return Shape(lead.axes + axes, lead.lead)
    return Shape(axes, shape.lead)


def in_element(element: Element, arguments: Arguments) -> Element:
    if type(element) is Dtype:
        return element
    if type(element) is Index:
        return Index(in_dim(element.size, arguments))
    if type(element) is TypeVar:
        value = arguments.get(element.name)
        if isinstance(value, Dtype | Index | TypeVar):
            return value
    return element


def in_type(type_: Type, arguments: Arguments) -> Type:
    """`type_` with its variables replaced, all at once."""
    kind = type(type_)
    if kind is Tensor:
        assert isinstance(type_, Tensor)
        return Tensor(in_element(type_.element, arguments), in_shape(type_.shape, arguments))
    if kind is Named:
        assert isinstance(type_, Named)
        if not type_.arguments:
            return type_
        return Named(type_.name, tuple([in_argument(a, arguments) for a in type_.arguments]))
    if kind is Function:
        assert isinstance(type_, Function)
        return Function(in_type(type_.parameter, arguments), in_type(type_.result, arguments))
    if kind is TypeVar:
        assert isinstance(type_, TypeVar)
        value = arguments.get(type_.name)
        if isinstance(value, TypeVar | Named | Function | TupleType | Tensor):
            return value
        return type_
    assert isinstance(type_, TupleType)
    return TupleType(tuple([in_type(item, arguments) for item in type_.items]))


def in_argument(argument: TypeArgument, arguments: Arguments) -> TypeArgument:
    if isinstance(argument, Dim):
        return in_dim(argument, arguments)
    if isinstance(argument, Shape):
        return in_shape(argument, arguments)
    if isinstance(argument, Dtype | Index):
        return in_element(argument, arguments)
    if isinstance(argument, TypeVar) and isinstance(arguments.get(argument.name), Dtype | Index):
        return in_element(argument, arguments)
    return in_type(argument, arguments)


def instantiate(scheme: Scheme, arguments: tuple[TypeArgument, ...]) -> Type:
    """The type of a use that passes `arguments` in the order of the scheme's variables."""
    names = [name for name, _ in scheme.variables]
    return in_type(scheme.type, dict(zip(names, arguments, strict=True)))


def variables(argument: TypeArgument) -> Iterator[tuple[str, Kind]]:
    """The variables of a type from left to right, with repetitions; dimension names of one axis in sorted order."""
    if isinstance(argument, Tensor):
        yield from _element_variables(argument.element)
        yield from variables(argument.shape)
    elif isinstance(argument, TypeVar):
        yield argument.name, Kind.TYPE
    elif isinstance(argument, Named):
        for item in argument.arguments:
            yield from variables(item)
    elif isinstance(argument, Function):
        yield from variables(argument.parameter)
        yield from variables(argument.result)
    elif isinstance(argument, TupleType):
        for part in argument.items:
            yield from variables(part)
    elif isinstance(argument, Shape):
        if argument.lead is not None:
            yield argument.lead, Kind.SHAPE
        for axis in argument.axes:
            yield from variables(axis)
    elif isinstance(argument, Dim):
        for name in sorted(argument.names):
            yield name, Kind.DIM
    else:
        yield from _element_variables(argument)


def _element_variables(element: Element) -> Iterator[tuple[str, Kind]]:
    if isinstance(element, TypeVar):
        yield element.name, Kind.ELEMENT
    elif isinstance(element, Index):
        for name in sorted(element.size.names):
            yield name, Kind.DIM
