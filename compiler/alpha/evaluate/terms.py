"""How each class of term is evaluated: a table of small functions that push work and give results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.core import term as core
from alpha.core.dim import Dim
from alpha.core.types import TypeArgument
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.definitions import global_value, operands, operation
from alpha.evaluate.grounding import ground, number
from alpha.evaluate.literals import DoesNotFit, literal
from alpha.evaluate.machine import Machine, Visit
from alpha.evaluate.models import sizes
from alpha.evaluate.patterns import NotKnown, take
from alpha.evaluate.scope import General, Scope
from alpha.evaluate.selection import select, subscript
from alpha.evaluate.values import (
    FALSE,
    TRUE,
    Closure,
    ConstructorFunction,
    ListValue,
    ModelValue,
    Operation,
    Record,
    Scalar,
    TupleValue,
    Value,
    Variant,
)

Here = Scope[Value]


def _local(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Local)
    found = scope.find(term.name)
    if isinstance(found, General):
        names = [name for name, _ in found.term.scheme.variables]
        arguments = [ground(argument, scope.types) for argument in term.arguments]
        inner = found.scope.typed(dict(zip(names, arguments, strict=True)))
        machine.push(found.term.value, inner)
    else:
        machine.give(found)


def _global(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Global)
    arguments = tuple([ground(argument, scope.types) for argument in term.arguments])
    global_value(machine, term.symbol, arguments, operands(term.type), term.span)


def _constructor(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Constructor)
    if term.name in _BOOLEANS:
        machine.give(_BOOLEANS[term.name])
        return
    arity = machine.index.arity(term.name)
    machine.give(ConstructorFunction(term.name, arity) if arity else Variant(term.name))


_BOOLEANS = {"True": TRUE, "False": FALSE}


def _literal(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Literal)
    try:
        value = literal(term.value, ground(term.type, scope.types))
    except DoesNotFit:
        raise Refused(errors.literal(term.type, term.span)) from None
    machine.give(value, size_of(value))


def size_of(value: Value) -> int:
    """Bytes of an `Int`, a `Text` or a scalar that was made just now."""
    if isinstance(value, int):
        return budget.integer(value)
    if isinstance(value, str):
        return budget.text(value)
    return budget.SCALAR


def _dim_value(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.DimValue)
    value = number(term.dim, scope.types)
    machine.give(value, budget.integer(value))


def _intrinsic(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Intrinsic)
    plain = machine.plain_operations.get(id(term))
    if plain is not None:
        machine.give(plain[1])
        return
    shape = None
    if term.shape is not None:
        shape = tuple(number(axis, scope.types) for axis in term.shape)
        if any(size < 1 for size in shape):
            written = [str(axis) for axis in term.shape]
            values = {
                name: dim.value
                for name, dim in scope.types.items()
                if isinstance(dim, Dim) and dim.value is not None
            }
            raise Refused(errors.size_below_one(shape, term.span, written, values))
    arguments = tuple(ground(argument, scope.types) for argument in term.arguments)
    operation(
        machine,
        term.name,
        operands(term.type),
        term.span,
        axes=term.axes,
        shape=shape,
        einsum=term.einsum,
        arguments=arguments,
    )
    made = machine.last()
    if not arguments and shape is None and isinstance(made, Operation):
        machine.plain_operations[id(term)] = (term, made)


def _lambda(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Lambda)
    machine.give(Closure(term, scope, machine.place.owner), budget.CLOSURE)


def _apply(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Apply)
    known = _known(machine, term, scope) if machine.watched is None else None
    if known is not None:
        machine.apply(known[0], tuple(known[1:]), term.span)
        return
    machine.later(partial(_applied, machine, len(term.arguments), term.span))
    machine.push_all((term.function, *term.arguments), scope)


def _known(machine: Machine, term: core.Apply, scope: Here) -> list[Value] | None:
    """The function and its arguments where nothing has to be done for them: most applications are of that kind."""
    found: list[Value] = []
    operations = machine.plain_operations
    for each in (term.function, *term.arguments):
        if isinstance(each, core.Local):
            value = scope.find(each.name)
            if isinstance(value, General):
                return None
            found.append(value)
        elif id(each) in operations:
            found.append(operations[id(each)][1])
        else:
            return None
    return found


def _applied(machine: Machine, count: int, span: Span) -> None:
    function, *arguments = machine.take(count + 1)
    machine.apply(function, tuple(arguments), span)


def _let(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Let)
    machine.later(partial(_bind, machine, term, scope))
    machine.push(term.value, scope)


def _bind(machine: Machine, term: core.Let, scope: Here) -> None:
    (value,) = machine.take(1)
    names: dict[str, Value] = {}
    take(term.pattern, value, names)
    machine.push(term.body, scope.bound(names))


def _let_general(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.LetGeneral)
    machine.push(term.body, scope.bound({term.name: General(term, scope)}))


def _if(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.If)
    machine.later(partial(_choose, machine, term, scope))
    machine.push(term.condition, scope)


def _choose(machine: Machine, term: core.If, scope: Here) -> None:
    (condition,) = machine.take(1)
    if not isinstance(condition, Scalar):
        raise Refused(errors.staged_choice("if", term.condition.span, machine.trail))
    assert condition.dtype is Dtype.BOOL
    machine.step()
    machine.push(term.then if condition.value else term.otherwise, scope)


def _match(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Match)
    machine.later(partial(_arm, machine, term, scope))
    machine.push(term.value, scope)


def _arm(machine: Machine, term: core.Match, scope: Here) -> None:
    (value,) = machine.take(1)
    machine.step()
    for arm in term.arms:
        names: dict[str, Value] = {}
        try:
            chosen = take(arm.pattern, value, names)
        except NotKnown:
            raise Refused(errors.staged_choice("match", term.value.span, machine.trail)) from None
        if chosen:
            machine.push(arm.body, scope.bound(names))
            return
    raise AssertionError("no arm fits: the checker proved that one does")


def _list(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.ListTerm)
    machine.later(partial(_collect_list, machine, len(term.items)))
    machine.push_all(term.items, scope)


def _collect_list(machine: Machine, count: int) -> None:
    machine.give(ListValue(machine.take(count)), budget.compound(count))


def _tuple(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.TupleTerm)
    machine.later(partial(_collect_tuple, machine, len(term.items)))
    machine.push_all(term.items, scope)


def _collect_tuple(machine: Machine, count: int) -> None:
    machine.give(TupleValue(machine.take(count)), budget.compound(count))


def _record(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.RecordTerm)
    names = tuple(name for name, _ in term.fields)
    machine.later(partial(_collect_record, machine, type_name(term.type, scope), names))
    machine.push_all(tuple(value for _, value in term.fields), scope)


def type_name(type: TypeArgument, scope: Here) -> str:
    """The name of a nominal type; empty for one that has none (the result of an optimizer's rule)."""
    name: str = getattr(type, "name", "")
    return name


def _collect_record(machine: Machine, type: str, names: tuple[str, ...]) -> None:
    values = machine.take(len(names))
    machine.give(Record(type, dict(zip(names, values, strict=True))), budget.compound(len(names)))


def _update(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Update)
    names = tuple(name for name, _ in term.fields)
    machine.later(partial(_updated, machine, names))
    machine.push_all((term.base, *(value for _, value in term.fields)), scope)


def _updated(machine: Machine, names: tuple[str, ...]) -> None:
    base, *values = machine.take(len(names) + 1)
    assert isinstance(base, Record)
    fields: Mapping[str, Value] = {**base.fields, **dict(zip(names, values, strict=True))}
    machine.give(Record(base.type, fields), budget.compound(len(fields)))


def _select(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Select)
    machine.later(partial(_selected, machine, term))
    machine.push(term.value, scope)


def _selected(machine: Machine, term: core.Select) -> None:
    (value,) = machine.take(1)
    select(machine, value, term.field, term.span)


def _subscript(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.Subscript)
    machine.later(partial(_subscripted, machine, term, scope))
    machine.push(term.value, scope)


def _subscripted(machine: Machine, term: core.Subscript, scope: Here) -> None:
    (value,) = machine.take(1)
    machine.step()
    machine.give(subscript(machine, value, term, scope.types), budget.NODE)


def _model_value(machine: Machine, term: core.Term, scope: Here) -> None:
    assert isinstance(term, core.ModelValue)
    dims = tuple(number(dim, scope.types) for dim in term.dims)
    value = ModelValue(term.model, dims)
    sizes(machine.index, value, term.span)
    machine.give(value, budget.compound(len(dims)))


VISIT: Mapping[type, Visit] = {
    core.Local: _local,
    core.Global: _global,
    core.Constructor: _constructor,
    core.Literal: _literal,
    core.DimValue: _dim_value,
    core.Intrinsic: _intrinsic,
    core.Lambda: _lambda,
    core.Apply: _apply,
    core.Let: _let,
    core.LetGeneral: _let_general,
    core.If: _if,
    core.Match: _match,
    core.ListTerm: _list,
    core.TupleTerm: _tuple,
    core.RecordTerm: _record,
    core.Update: _update,
    core.Select: _select,
    core.Subscript: _subscript,
    core.ModelValue: _model_value,
}
