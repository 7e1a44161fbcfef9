"""The parameters of a model: their paths, sizes and order, and the bundles that hold a value for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from alpha.base.dtype import TensorType
from alpha.base.record import record
from alpha.base.span import Span
from alpha.core import term as core
from alpha.core.dim import Dim
from alpha.core.types import Named, Tensor
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import errors
from alpha.evaluate.grounding import Types, number, tensor
from alpha.evaluate.program import Index
from alpha.evaluate.values import Bundle, ModelValue, StackValue, Value


@record
class Parameter:
    """One parameter. `axes` is its own shape, without the leading axes of the stacks around it.

    `initialiser` is a term of type `Init` in the scope of `model`, whose sizes are `types`.
    """

    path: str
    type: TensorType
    axes: tuple[int, ...]
    initialiser: core.Term
    model: str
    types: Types
    span: Span


def sizes(index: Index, model: ModelValue, span: Span) -> Types:
    """What the dimension names of a model stand for. Its `where` must hold (E0412), every size be positive (E0503)."""
    declared = index.model(model.symbol)
    types = {name: Dim.constant(size) for name, size in zip(declared.dims, model.dims, strict=True)}
    for name, value in declared.where:
        expected = number(value, types)
        if name not in types:
            types[name] = Dim.constant(expected)
        elif types[name].value != expected:
            raise Refused(
                errors.where_broken(name, number(Dim.variable(name), types), expected, span)
            )
    values = tuple(number(Dim.variable(name), types) for name in types)
    if any(size < 1 for size in values):
        raise Refused(errors.size_below_one(values, span, tuple(types)))
    return types


def parameters(index: Index, model: ModelValue) -> tuple[Parameter, ...]:
    """Every parameter in parameter order: declaration order, depth first."""
    return tuple(_parameters(index, model, "", ()))


def _parameters(
    index: Index, model: ModelValue, prefix: str, stacks: tuple[int, ...]
) -> Iterator[Parameter]:
    declared = index.model(model.symbol)
    types = sizes(index, model, declared.span)
    for parameter in declared.parameters:
        path = prefix + parameter.name
        if isinstance(parameter.type, Tensor):
            own = tensor(parameter.type, types)
            if any(size < 1 for size in own.shape):
                written = [str(axis) for axis in parameter.type.shape.axes]
                values = {name: number(Dim.variable(name), types) for name in types}
                raise Refused(errors.size_below_one(own.shape, parameter.span, written, values))
            assert parameter.initialiser is not None
            whole = TensorType(own.dtype, stacks + own.shape)
            yield Parameter(
                path,
                whole,
                own.shape,
                parameter.initialiser,
                model.symbol,
                types,
                parameter.span,
            )
        else:
            inner, count = _nested(parameter, types)
            around = stacks if count is None else (*stacks, count)
            yield from _parameters(index, inner, f"{path}.", around)


def _nested(parameter: core.ModelParameter, types: Types) -> tuple[ModelValue, int | None]:
    """The model of a nested bundle or stack, and the number of layers of a stack."""
    type = parameter.type
    assert isinstance(type, Named)
    count = None
    if type.name == "Stack":
        layers, type_ = type.arguments
        assert isinstance(layers, Dim)
        assert isinstance(type_, Named)
        count, type = number(layers, types), type_
        if count < 1:
            raise Refused(errors.size_below_one((count,), parameter.span))
    dims = tuple(number(dim, types) for dim in type.arguments if isinstance(dim, Dim))
    return ModelValue(type.name, dims), count


def bundle(index: Index, model: ModelValue, leaf: Callable[[Parameter], Value]) -> Bundle:
    """A bundle with one value for each parameter, made in parameter order."""
    values = iter([leaf(parameter) for parameter in parameters(index, model)])
    return _bundle(index, model, values)


def _bundle(index: Index, model: ModelValue, values: Iterator[Value]) -> Bundle:
    declared = index.model(model.symbol)
    types = sizes(index, model, declared.span)
    fields: dict[str, Value] = {}
    for parameter in declared.parameters:
        if isinstance(parameter.type, Tensor):
            fields[parameter.name] = next(values)
        else:
            inner, count = _nested(parameter, types)
            nested = _bundle(index, inner, values)
            fields[parameter.name] = nested if count is None else StackValue(count, nested)
    return Bundle(model.symbol, fields)
