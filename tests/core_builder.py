"""Core terms written by hand, for tests of the evaluator that need no parser and no checker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alpha.base.dtype import Dtype
from alpha.base.span import Source, Span
from alpha.core import term as core
from alpha.core.dim import Dim
from alpha.core.types import Function, Kind, Named, Scheme, Shape, Tensor, TupleType, Type
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess
from alpha.evaluate.intrinsics.table import operations
from alpha.evaluate.machine import Machine
from alpha.evaluate.program import Index
from alpha.evaluate.scope import Scope
from alpha.evaluate.staging import Staging
from alpha.evaluate.terms import VISIT
from alpha.evaluate.values import Value

SOURCE = Source("Main.alpha", "module Main\n")
SPAN = Span(SOURCE, 0, 6)

INT = Named("Int")
TEXT = Named("Text")
AMOUNT = Named("Amount")
BOOL = Tensor(Dtype.BOOL, Shape(()))
F32 = Tensor(Dtype.F32, Shape(()))
U32 = Tensor(Dtype.U32, Shape(()))
KEY = Named("Key")


def f32(*sizes: int) -> Tensor:
    return Tensor(Dtype.F32, Shape(tuple(Dim.constant(size) for size in sizes)))


def list_of(item: Type) -> Named:
    return Named("List", (item,))


def function(*types: Type) -> Type:
    """The type of a curried function: parameters, then the result."""
    *parameters, result = types
    for parameter in reversed(parameters):
        result = Function(parameter, result)
    return result


def integer(value: int) -> core.Literal:
    return core.Literal(value=value, type=INT, span=SPAN)


def text(value: str) -> core.Literal:
    return core.Literal(value=value, type=TEXT, span=SPAN)


def number(value: int, type: Type = F32) -> core.Literal:
    return core.Literal(value=value, type=type, span=SPAN)


def boolean(value: bool) -> core.Constructor:
    return core.Constructor(name=str(value), type=BOOL, span=SPAN)


def local(name: str, type: Type) -> core.Local:
    return core.Local(name=name, type=type, span=SPAN)


def reference(symbol: str, type: Type) -> core.Global:
    return core.Global(symbol=symbol, type=type, span=SPAN)


def apply(function_: core.Term, *arguments: core.Term, type: Type) -> core.Apply:
    return core.Apply(function=function_, arguments=arguments, type=type, span=SPAN)


def call(name: str, *arguments: core.Term, type: Type, **attributes: object) -> core.Term:
    """An intrinsic applied to all its arguments."""
    signature = function(*(argument.type for argument in arguments), type)
    intrinsic = core.Intrinsic(name=name, type=signature, span=SPAN, **attributes)  # type: ignore[arg-type]
    return apply(intrinsic, *arguments, type=type)


def lambda_(names: Sequence[tuple[str, Type]], body: core.Term) -> core.Lambda:
    return core.Lambda(
        parameters=tuple(core.Bind(name, type) for name, type in names),
        body=body,
        type=function(*(type for _, type in names), body.type),
        span=SPAN,
    )


def let(name: str, value: core.Term, body: core.Term) -> core.Let:
    return core.Let(
        pattern=core.Bind(name, value.type), value=value, body=body, type=body.type, span=SPAN
    )


def if_(condition: core.Term, then: core.Term, otherwise: core.Term) -> core.If:
    return core.If(condition=condition, then=then, otherwise=otherwise, type=then.type, span=SPAN)


def list_(items: Sequence[core.Term], item: Type) -> core.ListTerm:
    return core.ListTerm(items=tuple(items), type=list_of(item), span=SPAN)


def tuple_(*items: core.Term) -> core.TupleTerm:
    return core.TupleTerm(
        items=items, type=TupleType(tuple(item.type for item in items)), span=SPAN
    )


def definition(symbol: str, value: core.Term, *variables: tuple[str, Kind]) -> core.Definition:
    return core.Definition(symbol, Scheme(variables, value.type), value, SPAN)


def module(
    name: str,
    definitions: Sequence[core.Definition] = (),
    *,
    budget: int | None = None,
    proofs: Sequence[core.Proof] = (),
    profiles: Sequence[core.Profile] = (),
) -> core.Module:
    return core.Module(
        name, (), budget, (), tuple(definitions), (), (), (), (), tuple(profiles), (), tuple(proofs)
    )


def machine(*modules: core.Module) -> Machine:
    program = core.Program(modules or (module("Main"),))
    return Machine(Index.of(program), operations(FileAccess({}), {}), VISIT)


def run(term: core.Term, *modules: core.Module, staging: Staging | None = None) -> Value:
    """The value of a term of module `Main`."""
    return machine(*modules).evaluate(term, Scope({}), "Main.it", staging)


def evaluator(
    *modules: core.Module,
    roots: dict[str, Path] | None = None,
    diagnostics: Diagnostics | None = None,
) -> Evaluator:
    return Evaluator(
        core.Program(modules),
        files=FileAccess(roots or {}),
        diagnostics=diagnostics or Diagnostics(),
        demands=lambda system, target: (),
    )
