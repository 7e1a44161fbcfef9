"""Models: their parameters, and functions of their bundles."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.check import errors_declarations, errors_names, errors_shapes, errors_types
from alpha.check.context import Context
from alpha.check.definitions import (
    Signed,
    check_signed,
    enter_signature,
    new_context,
    read_signature,
)
from alpha.check.entries import Blame, Dimension, OwnFunction, OwnParameter, Variable
from alpha.check.finish import finish
from alpha.check.module_scope import Work
from alpha.check.scope import ModelEntity, Value
from alpha.check.where import expanded
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.type_text import shape_text, type_text
from alpha.core.types import Element, Index, Kind, Named, Tensor
from alpha.syntax import tree

_INIT = Named("Init")
_OPTIMIZER = Named("Optimizer")


def declare_model(work: Work, item: tree.ModelDecl) -> dict[str, Signed]:
    """Reads the signatures of a model's functions, so that any definition may use them."""
    entity = work.registry.models[work.symbol(item.name.text)]
    own = self_type(entity)
    signatures: dict[str, Signed] = {}
    for part in item.items:
        if isinstance(part, tree.Signature):
            name = part.name.text
            if name in signatures:
                first = signatures[name].node.name.span
                work.report(errors_names.defined_twice(part.name.span, name, first))
                continue
            signed = read_signature(work, part, entity.dims, own)
            signatures[name] = signed
            value = Value(
                name, f"{entity.symbol}.{name}", "definition", part.name.span, signed.scheme
            )
            value.where = (*entity.where, *signed.where)
            entity.functions[name] = value
    return signatures


def self_type(entity: ModelEntity) -> Named:
    return Named(entity.symbol, tuple([Dim.variable(name) for name in entity.dims]))


def check_model(work: Work, item: tree.ModelDecl, signatures: dict[str, Signed]) -> None:
    entity = work.registry.models[work.symbol(item.name.text)]
    places: dict[str, tree.Name] = {}
    defined: set[str] = set()
    parameters: list[term.ModelParameter] = []
    for part in item.items:
        if isinstance(part, tree.Parameter):
            for each in part.names:
                places.setdefault(each.text, each)
                made = _parameter(work, entity, part, each)
                if made is not None:
                    parameters.append(made)
    for part in item.items:
        if not isinstance(part, tree.Define):
            continue
        name = part.name.text
        signed = signatures.get(name)
        first = places.get(name)
        defined.add(name)
        if first is not None:
            work.report(errors_names.defined_twice(part.name.span, name, first.span))
            continue
        places[name] = part.name
        if signed is None:
            reported = work.report(
                errors_names.without_signature_in_model(part.name.span, name, item.name.text)
            )
            value = Value(name, f"{entity.symbol}.{name}", "definition", part.name.span)
            value.faulty = reported
            entity.functions[name] = value
            continue
        _function(work, entity, item, part, signed)
    for name, left in signatures.items():
        if name not in defined:
            work.report(errors_names.without_definition(left.node.name.span, name, True))
    work.models.append(
        term.Model(entity.symbol, entity.dims, entity.where, tuple(parameters), item.span)
    )


def _enter_model(cx: Context, entity: ModelEntity, item_span: tree.Node) -> None:
    cx.variables.kinds.update(dict.fromkeys(entity.dims, Kind.DIM))
    cx.solver.where = expanded(dict(entity.where))
    for name in entity.dims:
        cx.claim(name, item_span.span)
        cx.locals = {**cx.locals, name: Dimension(item_span.span)}


def _parameter(
    work: Work, entity: ModelEntity, part: tree.Parameter, name: tree.Name
) -> term.ModelParameter | None:
    type_ = entity.parameters[name.text]
    whole = isinstance(type_, Tensor)
    if not whole and not (
        isinstance(type_, Named) and (type_.name in work.registry.models or type_.name == "Stack")
    ):
        if not (hasattr(type_, "name") and type_.name[0] == "!"):
            work.report(
                errors_types.differ(
                    part.type.span,
                    type_text(type_),
                    "a float tensor, a model's bundle or a stack",
                    (),
                    "a model's parameters are what an optimizer changes",
                )
            )
        return None
    if isinstance(type_, Tensor) and not _trainable(type_.element):
        work.report(
            errors_declarations.integer_parameter(part.type.span, name.text, type_text(type_))
        )
        return None
    if part.initialiser is None:
        if whole:
            form = f"param {name.text} : {part.type.span.text} = zeros"
            what = errors_declarations.missing_entry(
                name.span, "parameter", name.text, "initialiser", form
            )
            work.report(what)
            return None
        return term.ModelParameter(name.text, type_, None, name.span)
    if not whole:
        work.report(
            errors_declarations.entry_parameters(
                part.initialiser.span,
                "model",
                name.text,
                f"param {name.text} : {part.type.span.text}",
            )
        )
        return None
    cx = new_context(work)
    _enter_model(cx, entity, name)
    blame = Blame(name.span, "a parameter starts from an `Init`")
    found = finish(cx, cx.check(part.initialiser, _INIT, blame))
    if found is None:
        return None
    assert isinstance(type_, Tensor)
    scaled = isinstance(found, term.Intrinsic) and found.name in ("glorot", "he")
    if scaled and type_.shape.lead is None and len(type_.shape.axes) < 2:
        assert isinstance(found, term.Intrinsic)
        work.report(
            errors_shapes.initialiser(part.initialiser.span, found.name, shape_text(type_.shape))
        )
        return None
    return term.ModelParameter(name.text, type_, found, name.span)


def _trainable(element: Element) -> bool:
    """Whether a tensor of these elements has a gradient."""
    return not isinstance(element, Index) and not (
        isinstance(element, Dtype) and not element.is_float
    )


def _function(
    work: Work, entity: ModelEntity, item: tree.ModelDecl, define: tree.Define, signed: Signed
) -> None:
    cx = new_context(work)
    own = self_type(entity)
    _enter_model(cx, entity, item.name)
    cx.locals = {**cx.locals, "self": Variable(own, item.name.span)}
    for part in item.items:
        if isinstance(part, tree.Parameter):
            for each in part.names:
                entry = OwnParameter(each.text, entity.parameters[each.text], each.span)
                cx.claim(each.text, each.span)
                cx.locals = {**cx.locals, each.text: entry}
    for name, value in entity.functions.items():
        cx.claim(name, value.span)
        cx.locals = {**cx.locals, name: OwnFunction(value, own, value.span)}
    enter_signature(cx, signed, entity.where)
    found = check_signed(cx, work, define, signed, given=1)
    done = finish(cx, found)
    if done is None:
        return
    binder = term.Bind("self", own)
    if isinstance(done, term.Lambda):
        whole = term.Lambda(
            (binder, *done.parameters), done.body, span=define.span, type=signed.scheme.type
        )
    else:
        whole = term.Lambda((binder,), done, span=define.span, type=signed.scheme.type)
    symbol = f"{entity.symbol}.{define.name.text}"
    work.definitions.append(term.Definition(symbol, signed.scheme, whole, define.span))
