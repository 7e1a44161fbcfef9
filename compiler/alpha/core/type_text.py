"""Types as Alpha source: for messages, for inferred signatures and for the text form of the core."""

from __future__ import annotations

from alpha.base.dtype import Dtype
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


def type_text(type_: TypeArgument, *, qualified: bool = False) -> str:
    """The type as a reader would write it; module names are left out unless `qualified`."""
    return _text(type_, 0, qualified)


def shape_text(shape: Shape) -> str:
    """`[...lead, n, 4 * m]`, or the name alone of a whole shape."""
    if shape.lead is not None and not shape.axes:
        return shape.lead
    lead = [] if shape.lead is None else [f"...{shape.lead}"]
    return f"[{', '.join(lead + [str(axis) for axis in shape.axes])}]"


def element_text(element: Element) -> str:
    if isinstance(element, Dtype):
        return element.value
    if isinstance(element, Index):
        size = str(element.size)
        return f"index {size}" if size.isidentifier() or size.isdigit() else f"index ({size})"
    return element.name


def _text(item: TypeArgument, tightness: int, qualified: bool) -> str:
    """`tightness`: 0 anywhere, 1 left of an arrow, 2 as an argument."""
    if isinstance(item, Dim):
        return f"[{item}]"
    if isinstance(item, Shape):
        return shape_text(item)
    if isinstance(item, Dtype | Index):
        text = element_text(item)
        return f"({text})" if tightness == 2 and " " in text else text
    if isinstance(item, TypeVar):
        return item.name
    if isinstance(item, TupleType):
        return f"({', '.join(_text(part, 0, qualified) for part in item.items)})"
    if isinstance(item, Function):
        text = f"{_text(item.parameter, 1, qualified)} -> {_text(item.result, 0, qualified)}"
        return f"({text})" if tightness else text
    if isinstance(item, Tensor):
        return _tensor_text(item, tightness)
    return _named_text(item, tightness, qualified)


def _tensor_text(tensor: Tensor, tightness: int) -> str:
    scalar = tensor.shape == Shape(())
    if scalar and tensor.element is Dtype.BOOL:
        return "Bool"
    element = element_text(tensor.element)
    if scalar and not isinstance(tensor.element, TypeVar):
        text = element
    else:
        inner = f"({element})" if " " in element else element
        text = f"Tensor {inner} {shape_text(tensor.shape)}"
    return f"({text})" if tightness == 2 and " " in text else text


def _named_text(named: Named, tightness: int, qualified: bool) -> str:
    name = named.name if qualified else named.name.rpartition(".")[2]
    if not named.arguments:
        return name
    if named.name == "Stack":
        count, layer = named.arguments
        size = str(count) if isinstance(count, Dim) else _text(count, 2, qualified)
        size = f"({size})" if " " in size else size
        text = f"Stack {size} {_text(layer, 2, qualified)}"
        return f"({text})" if tightness == 2 else text
    parts = [name]
    dims: list[str] = []
    for argument in named.arguments:
        if isinstance(argument, Dim):
            dims.append(str(argument))
        else:
            parts.append(_text(argument, 2, qualified))
    if dims:
        parts.append(f"[{', '.join(dims)}]")
    text = " ".join(parts)
    return f"({text})" if tightness == 2 else text


def arrow(parameters: tuple[Type, ...], result: Type) -> Type:
    """The curried function type of several parameters."""
    for parameter in reversed(parameters):
        result = Function(parameter, result)
    return result
