"""What a global name stands for."""

from __future__ import annotations

from functools import partial

from alpha.base.span import Span
from alpha.core import term as core
from alpha.core.term import EinsumSpec
from alpha.core.types import Function, Type, TypeArgument
from alpha.diagnostics.diagnostic import Refused
from alpha.diagnostics.not_yet import not_yet
from alpha.evaluate.machine import VARIABLE, Machine, Place
from alpha.evaluate.profiles import profile_steps
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import (
    Closure,
    LearnerValue,
    Operation,
    OptimizerFunction,
    OptimizerValue,
    PolicyValue,
    Value,
)


def global_value(
    machine: Machine,
    symbol: str,
    arguments: tuple[TypeArgument, ...],
    count: int,
    span: Span,
) -> None:
    """Give the value of a module-level name, instantiated at `arguments`. `count` is how many its type takes."""
    declaration = machine.index.declarations[symbol]
    match declaration:
        case core.Definition():
            _definition(machine, declaration, arguments, count, span)
        case core.Optimizer():
            count = len(declaration.parameters)
            machine.give(OptimizerFunction(symbol, count) if count else OptimizerValue(symbol, ()))
        case core.Learner():
            machine.give(LearnerValue(symbol))
        case core.Policy():
            machine.give(PolicyValue(symbol))
        case core.Profile():
            _profile(machine, declaration, span)
        case core.Model() | core.Pairing():
            raise AssertionError(f"the checker refuses `{symbol}` where a value stands")


def operation(
    machine: Machine,
    name: str,
    count: int,
    span: Span,
    *,
    axes: tuple[int, ...] | None = None,
    shape: tuple[int, ...] | None = None,
    einsum: EinsumSpec | None = None,
    arguments: tuple[TypeArgument, ...] = (),
) -> None:
    """Give the intrinsic `name`: a function, or the value of one without parameters; one not built yet is E0011.

    `count` is how many operands its type takes, for those that take any number.
    """
    row = machine.operations.get(name)
    if row is None:
        raise Refused(not_yet(f"`{name}`", span))
    arity = row.arity if row.arity != VARIABLE else count
    function = Operation(name, arity, axes, shape, einsum, arguments)
    if arity:
        machine.give(function)
    else:
        machine.apply(function, (), span)


def operands(type: Type) -> int:
    """How many operands a function type takes before it gives a tensor."""
    count = 0
    while isinstance(type, Function):
        count, type = count + 1, type.result
    return count


def _definition(
    machine: Machine,
    definition: core.Definition,
    arguments: tuple[TypeArgument, ...],
    count: int,
    span: Span,
) -> None:
    symbol, value = definition.symbol, definition.value
    names = [name for name, _ in definition.scheme.variables]
    scope: Scope[Value] = Scope(dict(zip(names, arguments, strict=True)))
    if value is None:
        name = symbol.rpartition(".")[2]
        operation(machine, name, count, span, arguments=arguments)
    elif isinstance(value, core.Lambda):
        machine.give(Closure(value, scope, symbol))
    elif arguments:
        machine.enter(symbol, span)
        machine.push(value, scope)
    else:
        _constant(machine, symbol, value, scope, span)


def _constant(
    machine: Machine, symbol: str, value: core.Term, scope: Scope[Value], span: Span
) -> None:
    """A definition without parameters: evaluated once, on its own module's account, unless it holds nodes."""
    if symbol in machine.constants:
        machine.give(machine.constants[symbol])
    elif symbol in machine.staged:
        _in_this_graph(machine, symbol, value, scope, span)
    else:
        kept = _own_place(machine, symbol)
        machine.later(partial(_settle, machine, symbol, kept, value, scope, span))
        machine.trail.append((symbol, span))
        machine.push(value, scope)


def _own_place(machine: Machine, symbol: str) -> Place:
    """Move to the account of `symbol`'s module and a graph of its own; the place that was left."""
    kept = machine.place
    machine.return_to(Place(machine.account(machine.index.home[symbol]), symbol, Staging()))
    return kept


def _settle(
    machine: Machine,
    symbol: str,
    kept: Place,
    value: core.Term,
    scope: Scope[Value],
    span: Span,
) -> None:
    staged = machine.staging.used
    machine.trail.pop()
    machine.return_to(kept)
    if staged:
        machine.take(1)
        machine.staged.add(symbol)
        _in_this_graph(machine, symbol, value, scope, span)
    else:
        machine.constants[symbol] = machine.last()


def _in_this_graph(
    machine: Machine, symbol: str, value: core.Term, scope: Scope[Value], span: Span
) -> None:
    if symbol in machine.staging.constants:
        machine.give(machine.staging.constants[symbol])
        return
    # A definition stands outside of every loop, whichever turn needs it first.
    loops, machine.staging.loops = machine.staging.loops, []
    machine.later(partial(_keep, machine, symbol, loops))
    machine.enter(symbol, span)
    machine.push(value, scope)


def _keep(machine: Machine, symbol: str, loops: list[int]) -> None:
    machine.staging.loops = loops
    machine.staging.constants[symbol] = machine.last()


def _profile(machine: Machine, profile: core.Profile, span: Span) -> None:
    symbol = profile.symbol
    if symbol in machine.constants:
        machine.give(machine.constants[symbol])
        return
    kept = _own_place(machine, symbol)
    machine.later(partial(_settle_profile, machine, symbol, kept))
    machine.drive(profile_steps(profile), span)


def _settle_profile(machine: Machine, symbol: str, kept: Place) -> None:
    machine.return_to(kept)
    machine.constants[symbol] = machine.last()
