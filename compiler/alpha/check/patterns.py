"""Patterns: their types, the names they bind, and their core form."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.check import errors_names, errors_types
from alpha.check.context import Context
from alpha.check.entries import Blame, Variable
from alpha.check.exhaustive import missing
from alpha.check.scope import ConstructorEntity
from alpha.check.solver import INT, TEXT
from alpha.core import term
from alpha.core.types import Function, TupleType, Type
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.syntax import tree

Names = dict[str, Variable]


def pattern(
    cx: Context, node: tree.Pattern, type_: Type, names: Names, blame: Blame | None = None
) -> term.Pattern:
    """The core pattern for values of `type_`; what it binds is added to `names`."""
    if isinstance(node, tree.PVar):
        _bind(cx, names, node.name, type_, node.span)
        return term.Bind(node.name, type_)
    if isinstance(node, tree.PWild):
        return term.Ignore(type_)
    if isinstance(node, tree.PAnnotated):
        written = cx.annotation(node.type)
        cx.written[node.name.span] = node.type.span
        cx.unify(written, type_, node.span, blame)
        _bind(cx, names, node.name.text, written, node.name.span)
        return term.Bind(node.name.text, written)
    if isinstance(node, tree.PInt):
        cx.unify(INT, type_, node.span, blame)
        return term.MatchLiteral(node.value)
    if isinstance(node, tree.PText):
        cx.unify(TEXT, type_, node.span, blame)
        return term.MatchLiteral(node.value)
    if isinstance(node, tree.PTuple):
        return _tuple(cx, node, type_, names, blame)
    return _constructor(cx, node, type_, names, blame)


def _bind(cx: Context, names: Names, name: str, type_: Type, span: Span) -> None:
    if name in names:
        cx.report(errors_names.defined_twice(span, name, names[name].span, "is bound twice"))
        return
    names[name] = Variable(type_, span)
    cx.bound.append(names[name])


def _tuple(
    cx: Context, node: tree.PTuple, type_: Type, names: Names, blame: Blame | None
) -> term.Pattern:
    parts: tuple[Type, ...] = tuple([cx.solver.type(item.span) for item in node.items])
    known = cx.resolved(type_)
    if isinstance(known, TupleType) and len(known.items) == len(parts):
        parts = known.items
    else:
        cx.unify(TupleType(parts), type_, node.span, blame)
    items = [pattern(cx, i, t, names, blame) for i, t in zip(node.items, parts, strict=True)]
    return term.MatchTuple(tuple(items))


def _constructor(
    cx: Context, node: tree.PCon, type_: Type, names: Names, blame: Blame | None
) -> term.Pattern:
    entity = _named(cx, node)
    if isinstance(entity, Diagnostic):
        reported = cx.report(entity)
        for argument in node.arguments:
            pattern(cx, argument, cx.solver.poisoned(reported), names)
        return term.Ignore(type_)
    cx.scope.used.add(entity.symbol)
    whole, _ = cx.instantiate(entity.scheme, node.span)
    types: list[Type] = []
    for _ in range(entity.arity):
        assert isinstance(whole, Function)
        types.append(whole.parameter)
        whole = whole.result
    cx.unify(whole, type_, node.span, blame)
    if len(node.arguments) != entity.arity:
        diagnostic = errors_types.pattern_arguments(
            node.span, node.name.text, entity.arity, len(node.arguments)
        )
        reported = cx.report(diagnostic)
        types = [cx.solver.poisoned(reported) for _ in node.arguments]
    items = [pattern(cx, i, t, names) for i, t in zip(node.arguments, types, strict=True)]
    if len(items) != entity.arity:
        return term.Ignore(type_)
    return term.MatchConstructor(entity.symbol, tuple(items))


def _named(cx: Context, node: tree.PCon) -> ConstructorEntity | Diagnostic:
    """The constructor that a pattern names, alone or behind a module."""
    name = node.name
    if len(node.path) == 1:
        found = cx.scope.constructor(name.text)
        known = [*cx.scope.constructors, *[n for s in cx.scope.outer for n in s.constructors]]
    else:
        written = ".".join(part.text for part in node.path[:-1])
        module = cx.scope.modules.get(written)
        if module is None:
            span = node.path[0].span.to(node.path[-2].span)
            return errors_names.unknown(span, written, "module", list(cx.scope.modules))
        found = module.exposed_constructor(name.text)
        known = [n for n in module.constructors if module.exposed_constructor(n) is not None]
    if isinstance(found, ConstructorEntity):
        return found
    return errors_names.unknown(name.span, name.text, "constructor", known)


def require_total(cx: Context, made: term.Pattern, node: tree.Pattern) -> None:
    """A pattern of a `let` or a parameter fits every value."""
    if isinstance(made, term.Bind | term.Ignore):
        return
    left_out = missing(cx.registry, [made])
    if left_out:
        cx.report(errors_types.refutable(node.span, left_out[0]))
