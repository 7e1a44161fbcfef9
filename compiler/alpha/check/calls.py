"""Names and applications."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check import errors_names, errors_types, form_parts, forms, operation_rules
from alpha.check.applications import Argument, Ready, apply_term
from alpha.check.context import Context
from alpha.check.entries import (
    Blame,
    Dimension,
    Entry,
    LocalFunction,
    OwnFunction,
    OwnParameter,
    Variable,
)
from alpha.check.foreign import camel, hint
from alpha.check.later import LATER
from alpha.check.library_names import exposing
from alpha.check.operations import FORMS, ORDINARY_DTYPES, SPECIAL
from alpha.check.scope import ConstructorEntity, ModelEntity, ModuleScope, Value
from alpha.check.solver import INT
from alpha.check.type_reader import DTYPES
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.types import Function, Kind, Type, TypeVar
from alpha.diagnostics.not_yet import not_yet
from alpha.syntax import tree

# ---- names -----------------------------------------------------------------------------------------------------------


def variable(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Var)
    entry = cx.lookup(node.name)
    if entry is not None:
        return use(cx, node.name, entry, node.span)
    if node.name in SPECIAL:
        return operation_rules.operation(cx, SPECIAL[node.name], None, node.span)
    if node.name in FORMS:
        usage = form_parts.USAGE[node.name]
        return cx.refuse(node.span, errors_types.special_arguments(node.span, node.name, usage))
    if node.name in DTYPES:
        return cx.refuse(node.span, errors_names.dtype_as_value(node.span, node.name))
    if node.name in LATER:
        return cx.refuse(node.span, not_yet(f"`{node.name}`", node.span))
    foreign = hint(node.name)
    if foreign:
        return cx.refuse(node.span, errors_names.foreign(node.span, node.name, foreign))
    known = [*cx.locals, *cx.scope.value_names(), *SPECIAL, *FORMS]
    name = node.name if "_" not in node.name or camel(node.name) in known else camel(node.name)
    return cx.refuse(
        node.span,
        errors_names.unknown(node.span, node.name, "value", known, exposing(name), name),
    )


def use(cx: Context, name: str, entry: Entry | Value, span: Span) -> term.Term:
    """The term of a name that is in scope."""
    if isinstance(entry, Variable):
        cx.used.add(id(entry))
        return term.Local(name, span=span, type=entry.type)
    if isinstance(entry, Value):
        return use_value(cx, entry, span)
    if isinstance(entry, Dimension):
        return term.DimValue(Dim.variable(name), span=span, type=INT)
    if isinstance(entry, OwnParameter):
        own = cx.locals["self"]
        assert isinstance(own, Variable)
        self_term = term.Local("self", span=span, type=own.type)
        return term.Select(self_term, entry.name, span=span, type=entry.type)
    if isinstance(entry, LocalFunction):
        type_, arguments = cx.instantiate(entry.scheme, span, entry.where)
        return term.Local(name, arguments, span=span, type=type_)
    return _own_function(cx, entry, span)


def _own_function(cx: Context, entry: OwnFunction, span: Span) -> term.Term:
    found = use_value(cx, entry.value, span)
    if entry.batch and entry.value.scheme is not None and isinstance(found, term.Global):
        for (name, _), argument in zip(entry.value.scheme.variables, found.arguments, strict=True):
            if name == entry.batch and isinstance(argument, Dim):
                cx.unify_dims(argument, Dim.variable(name), span, ())
    if entry.self_type is None or not isinstance(found.type, Function):
        return found
    cx.unify(found.type.parameter, entry.self_type, span)
    self_term = term.Local("self", span=span, type=entry.self_type)
    return term.Apply(found, (self_term,), span=span, type=found.type.result)


def use_value(cx: Context, value: Value, span: Span) -> term.Term:
    if value.faulty is not None:
        return cx.poisoned(span, value.faulty)
    assert value.scheme is not None, f"{value.symbol} is used before it is typed"
    type_, arguments = cx.instantiate(value.scheme, span, value.where)
    if not value.intrinsic:
        return term.Global(value.symbol, arguments, span=span, type=type_)
    allowed = ORDINARY_DTYPES.get(value.name)
    if allowed is not None:
        for (_, kind), argument in zip(value.scheme.variables, arguments, strict=True):
            if kind is Kind.ELEMENT and isinstance(argument, TypeVar):
                cx.require_dtype(argument, allowed, False, value.name, span)
    return term.Intrinsic(value.name, arguments=arguments, span=span, type=type_)


def constructor(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Con)
    entity = cx.scope.constructor(node.name)
    if entity is None:
        if node.name in cx.scope.modules:
            return cx.refuse(node.span, errors_names.not_a_value(node.span, node.name))
        known = [*cx.scope.constructors, *[n for s in cx.scope.outer for n in s.constructors]]
        diagnostic = errors_names.unknown(node.span, node.name, "constructor", known)
        return cx.refuse(node.span, diagnostic)
    return use_constructor(cx, entity, node.span)


def use_constructor(cx: Context, entity: ConstructorEntity | ModelEntity, span: Span) -> term.Term:
    cx.scope.used.add(entity.symbol)
    if isinstance(entity, ModelEntity):
        name = entity.symbol.rpartition(".")[2]
        usage = f"{name} {{ {', '.join(f'{d} = ...' for d in entity.dims)} }}"
        return cx.refuse(span, errors_types.special_arguments(span, name, usage))
    type_, _ = cx.instantiate(entity.scheme, span)
    return term.Constructor(entity.symbol, span=span, type=type_)


def module_of(cx: Context, node: tree.Written) -> ModuleScope | None:
    """The module that a dotted path of capitals names, if it is one."""
    parts: list[str] = []
    while isinstance(node, tree.Select):
        parts.append(node.field.text)
        node = node.value
    if not isinstance(node, tree.Con):
        return None
    return cx.scope.modules.get(".".join([node.name, *reversed(parts)]))


# ---- applications ----------------------------------------------------------------------------------------------------


def application(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Apply)
    return apply(cx, node.function, node.arguments, node.span, None, None)


def check_application(
    cx: Context, node: tree.Written, expected: Type, blame: Blame | None
) -> term.Term:
    assert isinstance(node, tree.Apply)
    found = apply(cx, node.function, node.arguments, node.span, expected, blame)
    return cx.expect(found, expected, blame)


def pipe(cx: Context, node: tree.Written) -> term.Term:
    """Long pipes lean to the left: their stages are taken one by one."""
    stages: list[tree.Pipe] = []
    value = node
    while isinstance(value, tree.Pipe):
        stages.append(value)
        value = value.value
    found = cx.infer(value)
    for stage in reversed(stages):
        ready = Ready(found, found.span)
        function = stage.function
        if isinstance(function, tree.Apply):
            arguments: Sequence[Argument] = (*function.arguments, ready)
            found = apply(cx, function.function, arguments, stage.span, None, None)
        else:
            found = apply(cx, function, (ready,), stage.span, None, None)
    return found


def _model(cx: Context, function: tree.Expr) -> ModelEntity | None:
    """The model that `Mlp` or `M.Mlp` names."""
    entity: object = None
    if isinstance(function, tree.Con):
        entity = cx.scope.constructor(function.name)
    elif isinstance(function, tree.Select):
        module = module_of(cx, function.value)
        if module is not None and module.exports(function.field.text):
            entity = module.constructors.get(function.field.text)
    return entity if isinstance(entity, ModelEntity) else None


def apply(
    cx: Context,
    function: tree.Expr,
    arguments: Sequence[Argument],
    span: Span,
    expected: Type | None,
    blame: Blame | None,
) -> term.Term:
    form = forms.form_of(cx, function)
    if form is not None:
        return forms.apply(cx, form, function, arguments, span)
    if len(arguments) == 1:
        entity = _model(cx, function)
        if entity is not None:
            return forms.model_value(cx, entity, arguments[0], span)
    cx.operand_spans = []
    head = cx.infer(function)
    spans = cx.operand_spans
    for place, argument in enumerate(arguments[: len(spans)]):
        spans[place] = argument.span
    return apply_term(cx, head, function.span, arguments, span, expected, blame)
