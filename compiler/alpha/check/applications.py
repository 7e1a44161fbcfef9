"""A function and its arguments: those that are not functions first, so that they fix what the functions take."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.record import record
from alpha.base.span import Span
from alpha.check import errors_types
from alpha.check.context import Context
from alpha.check.entries import Blame
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.types import Function, Named, Type, TypeVar
from alpha.syntax import tree


@record
class Ready:
    """An argument that is inferred already: the value of a pipe."""

    term: term.Term
    span: Span


Argument = tree.Expr | Ready


def apply_term(
    cx: Context,
    head: term.Term,
    name: Span,
    arguments: Sequence[Argument],
    span: Span,
    expected: Type | None,
    blame: Blame | None,
) -> term.Term:
    parameters: list[Type] = []
    result = head.type
    for place in range(len(arguments)):
        result = cx.resolved(result)
        if isinstance(result, Function):
            parameters.append(result.parameter)
            result = result.result
        elif cx.is_poisoned(result):
            break
        elif cx.is_open(result):
            parameter, rest = cx.solver.type(name), cx.solver.type(name)
            cx.unify(result, Function(parameter, rest), name)
            parameters.append(parameter)
            result = rest
        else:
            for argument in arguments:
                _infer_argument(cx, argument)
            if place == 0:
                diagnostic = errors_types.not_a_function(name, cx.show(result), len(arguments))
            else:
                shown = name.text.split("\n")[0]
                diagnostic = errors_types.too_many(span, shown, place, len(arguments))
            return cx.refuse(span, diagnostic)
    if len(parameters) < len(arguments):
        for argument in arguments:
            _infer_argument(cx, argument)
        return term.Local("!", span=span, type=cx.solver.head(result))
    if expected is not None and not cx.is_open(result) and cx.solver.literal(expected) is None:
        # What is expected of the result helps to check the arguments; it is compared again by the caller.
        _learn(cx, result, expected, span)
    found: list[term.Term | None] = [None] * len(arguments)
    for functions in (False, True):
        for place, argument in enumerate(arguments):
            late = isinstance(argument, tree.Fn | tree.Accessor)
            if late is functions:
                found[place] = _check_argument(cx, argument, parameters[place], name)
    terms = tuple([item for item in found if item is not None])
    if cx.is_open(result):
        cx.settle()
    if (
        isinstance(head, term.Apply)
        and isinstance(head.function, term.Global)
        and head.span == name
    ):
        # `attend x` in a model is `Model.attend self x`: one application.
        return term.Apply(head.function, head.arguments + terms, span=span, type=result)
    return term.Apply(head, terms, span=span, type=result)


def _learn(cx: Context, result: Type, expected: Type, span: Span) -> None:
    """Only what cannot fail: a nominal result fixes its arguments, but for those that must have an order or so."""
    found, wanted = cx.solver.head(result), cx.solver.head(expected)
    if isinstance(found, Named) and isinstance(wanted, Named) and found.name == wanted.name:
        for one, two in zip(found.arguments, wanted.arguments, strict=True):
            free = isinstance(one, TypeVar) and cx.is_open(one) and not cx.solver.constraints(one)
            if free and not isinstance(two, Dim):
                cx.unify(one, two, span)  # type: ignore[arg-type]  # an element is learned like a type


def _infer_argument(cx: Context, argument: Argument) -> term.Term:
    return argument.term if isinstance(argument, Ready) else cx.infer(argument)


def _check_argument(cx: Context, argument: Argument, parameter: Type, name: Span) -> term.Term:
    blame = Blame(name, lambda: f"`{_short(name)}` takes `{cx.show(parameter)}` here")
    if isinstance(argument, Ready):
        return cx.expect(argument.term, parameter, blame)
    return cx.check(argument, parameter, blame)


def _short(span: Span) -> str:
    text = span.text
    return text if len(text) <= 30 and "\n" not in text else "this function"
