"""Records and selections: `{ f = e }`, `{ r | f = e }`, `r.f`, `.f`."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.span import Span
from alpha.check import errors_names, errors_records
from alpha.check.builtin import POLICY_FIELDS
from alpha.check.calls import module_of, use, use_constructor, use_value
from alpha.check.context import Context
from alpha.check.entries import Blame, Hole, Waiting
from alpha.check.foreign import member_hint
from alpha.check.operations import FORMS, SPECIAL
from alpha.check.scope import ModuleScope, RecordEntity
from alpha.core import term
from alpha.core.substitute import in_type
from alpha.core.type_text import arrow
from alpha.core.types import Function, Named, Tensor, TupleType, Type, TypeArgument
from alpha.syntax import tree

# ---- making ----------------------------------------------------------------------------------------------------------


def record(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.RecordExpr)
    if node.base is not None:
        return _update(cx, node, node.base)
    names = [f.name.text for f in node.fields]
    wanted = set(names)
    fitting = [r for r in cx.scope.records() if set(r.fields) == wanted]
    own = [r for r in fitting if r.symbol in {_symbol(e) for e in cx.scope.types.values()}]
    fitting = own or fitting
    if not fitting:
        for item in node.fields:
            cx.infer(item.value)
        nearest = max(cx.scope.records(), key=lambda r: len(wanted & set(r.fields)), default=None)
        if nearest is None or not wanted & set(nearest.fields):
            return cx.refuse(node.span, errors_records.no_record(node.span, names, "", (), ()))
        missing = [f for f in nearest.fields if f not in wanted]
        extra = [f for f in names if f not in nearest.fields]
        name = nearest.symbol.rpartition(".")[2]
        return cx.refuse(
            node.span, errors_records.no_record(node.span, names, name, missing, extra)
        )
    if len(fitting) > 1:
        shown = [r.symbol for r in fitting]
        return cx.refuse(node.span, errors_records.several_records(node.span, shown))
    return _make(cx, node, fitting[0], _fresh(cx, fitting[0], node.span), None)


def check_record(cx: Context, node: tree.Written, expected: Type, blame: Blame | None) -> term.Term:
    assert isinstance(node, tree.RecordExpr)
    wanted = cx.resolved(expected)
    entity = cx.registry.records.get(wanted.name) if isinstance(wanted, Named) else None
    if node.base is not None or entity is None:
        return cx.expect(cx.infer(node), expected, blame)
    assert isinstance(wanted, Named)
    return _make(cx, node, entity, wanted, blame)


def _make(
    cx: Context, node: tree.RecordExpr, entity: RecordEntity, type_: Named, blame: Blame | None
) -> term.Term:
    cx.scope.used.add(entity.symbol)
    types = _field_types(entity, type_)
    fault = _field_fault(cx, node, entity, types, blame, whole=True)
    fields: list[tuple[str, term.Term]] = []
    for item in node.fields:
        field_type = types.get(item.name.text)
        if field_type is None:
            cx.infer(item.value)
            continue
        fields.append((item.name.text, _field(cx, item, field_type)))
    if fault is not None:
        return fault
    return term.RecordTerm(tuple(fields), span=node.span, type=type_)


def _field(cx: Context, item: tree.Field, type_: Type) -> term.Term:
    blame = Blame(item.name.span, lambda: f"the field `{item.name.text}` is `{cx.show(type_)}`")
    return cx.check(item.value, type_, blame)


def _field_fault(
    cx: Context,
    node: tree.RecordExpr,
    entity: RecordEntity,
    types: dict[str, Type],
    blame: Blame | None,
    *,
    whole: bool,
) -> term.Term | None:
    seen: dict[str, Span] = {}
    for item in node.fields:
        name = item.name.text
        if name in seen:
            return cx.refuse(
                item.name.span, errors_records.field_twice(item.name.span, name, seen[name])
            )
        seen[name] = item.name.span
    missing = [f for f in types if f not in seen] if whole else []
    extra = [f for f in seen if f not in types]
    if not missing and not extra:
        return None
    span = seen[extra[0]] if extra else node.span
    name = entity.symbol.rpartition(".")[2]
    labels = cx.blame_labels(blame)
    diagnostic = errors_records.record_fields(span, name, missing, extra, list(types), labels)
    return cx.refuse(node.span, diagnostic)


def _update(cx: Context, node: tree.RecordExpr, base: tree.Name) -> term.Term:
    value = cx.infer(tree.Var(base.text, span=base.span))
    item = cx.resolved(value.type)
    if cx.is_poisoned(item):
        for each in node.fields:
            cx.infer(each.value)
        return term.Local("!", span=node.span, type=item)
    entity = cx.registry.records.get(item.name) if isinstance(item, Named) else None
    if entity is None:
        for each in node.fields:
            cx.infer(each.value)
        if cx.is_open(item):
            names = _having(cx, node.fields[0].name.text)
            diagnostic = errors_records.unknown_record(base.span, node.fields[0].name.text, names)
            return cx.refuse(base.span, diagnostic)
        known = _members(cx, item)
        diagnostic = errors_records.no_field(
            base.span, node.fields[0].name.text, cx.show(item), known
        )
        return cx.refuse(base.span, diagnostic)
    assert isinstance(item, Named)
    types = _field_types(entity, item)
    fault = _field_fault(cx, node, entity, types, None, whole=False)
    fields = tuple(
        [
            (f.name.text, _field(cx, f, types[f.name.text]))
            for f in node.fields
            if f.name.text in types
        ]
    )
    if fault is not None:
        return fault
    return term.Update(value, fields, span=node.span, type=item)


def _fresh(cx: Context, entity: RecordEntity, span: Span) -> Named:
    arguments = tuple([cx.solver.fresh(kind, span, name) for name, kind in entity.parameters])
    return Named(entity.symbol, arguments)


def _field_types(entity: RecordEntity, type_: Named) -> dict[str, Type]:
    if not entity.parameters:
        return entity.fields
    names = [name for name, _ in entity.parameters]
    arguments: dict[str, TypeArgument] = dict(zip(names, type_.arguments, strict=True))
    return {f: in_type(t, arguments) for f, t in entity.fields.items()}


def _symbol(entity: object) -> str:
    return getattr(entity, "symbol", "")


def _having(cx: Context, field: str) -> Sequence[str]:
    return [r.symbol.rpartition(".")[2] for r in cx.scope.records() if field in r.fields]


# ---- selecting -------------------------------------------------------------------------------------------------------


def select(cx: Context, node: tree.Written) -> term.Term:
    assert isinstance(node, tree.Select)
    module = module_of(cx, node.value)
    if module is not None:
        return _from_module(cx, module, node)
    if isinstance(node.value, tree.Con) and cx.scope.constructor(node.value.name) is None:
        known = list(cx.scope.modules)
        name = node.value.name
        return cx.refuse(
            node.value.span, errors_names.unknown(node.value.span, name, "module", known)
        )
    value = cx.infer(node.value)
    return _selection(cx, value, node.field, node.span)


def _selection(cx: Context, value: term.Term, field: tree.Name, span: Span) -> term.Term:
    item = cx.resolved(value.type)
    if not cx.is_open(item):
        return member(cx, value, item, field, span)
    result = cx.solver.type(span)
    hole = Hole(span, result)

    def attempt() -> bool:
        found = cx.solver.head(value.type)
        if cx.is_open(found):
            return False
        hole.filled = member(cx, value, found, field, span)
        return cx.unify(hole.filled.type, result, span) or True

    def give_up() -> None:
        diagnostic = errors_records.unknown_record(value.span, field.text, _having(cx, field.text))
        cx.unify(result, cx.refuse(span, diagnostic).type, span)

    cx.wait(Waiting(attempt, give_up, (value.type, result)))
    return hole.term


def member(cx: Context, value: term.Term, item: Type, field: tree.Name, span: Span) -> term.Term:
    """`value.field` where the type of `value` is known to be `item`."""
    if cx.is_poisoned(item):
        return term.Local("!", span=span, type=item)
    name = field.text
    if isinstance(item, Named):
        entity = cx.registry.records.get(item.name)
        if entity is not None and name in entity.fields:
            type_ = _field_types(entity, item)[name]
            return term.Select(value, name, span=span, type=type_)
        model = cx.registry.models.get(item.name)
        if model is not None:
            dims = dict(zip(model.dims, item.arguments, strict=True))
            if name in model.parameters:
                type_ = in_type(model.parameters[name], dims)
                return term.Select(value, name, span=span, type=type_)
            if name in model.functions:
                return _bundle_function(cx, value, item, model.functions[name].symbol, name, span)
        if item.name == "Policy" and name in POLICY_FIELDS:
            return term.Select(value, name, span=span, type=POLICY_FIELDS[name])
        if item.name == "Optimizer" and name == "apply":
            return _apply_optimizer(cx, value, span)
    if isinstance(item, Tensor):
        said = member_hint(name, (*cx.scope.value_names(), *SPECIAL, *FORMS))
        return cx.refuse(span, errors_records.tensor_field(field.span, name, cx.show(item), said))
    diagnostic = errors_records.no_field(field.span, name, cx.show(item), _members(cx, item))
    return cx.refuse(span, diagnostic)


def _bundle_function(
    cx: Context, value: term.Term, item: Named, symbol: str, name: str, span: Span
) -> term.Term:
    function = use_value(cx, cx.registry.models[item.name].functions[name], span)
    if not isinstance(function.type, Function):
        return function
    cx.unify(item, function.type.parameter, span)
    return term.Apply(function, (value,), span=span, type=function.type.result)


def _apply_optimizer(cx: Context, optimizer: term.Term, span: Span) -> term.Term:
    """`optimizer.apply t net slots grads : (m, Slots m)`."""
    bundle = cx.solver.type(span)
    slots = Named("Slots", (bundle,))
    result = TupleType((bundle, slots))
    function = arrow((Named("Tick"), bundle, slots, bundle), result)
    head = term.Intrinsic("optimizerApply", span=span, type=Function(Named("Optimizer"), function))
    return term.Apply(head, (optimizer,), span=span, type=function)


def _members(cx: Context, item: Type) -> Sequence[str]:
    if isinstance(item, Named):
        entity = cx.registry.records.get(item.name)
        if entity is not None:
            return list(entity.fields)
        model = cx.registry.models.get(item.name)
        if model is not None:
            return [*model.parameters, *model.functions]
        if item.name == "Policy":
            return list(POLICY_FIELDS)
        if item.name == "Optimizer":
            return ["apply"]
    return ()


def accessor(cx: Context, node: tree.Written) -> term.Term:
    """`.f` is `fn r -> r.f`."""
    assert isinstance(node, tree.Accessor)
    return _accessor(cx, node, cx.solver.type(node.span))


def check_accessor(
    cx: Context, node: tree.Written, expected: Type, blame: Blame | None
) -> term.Term:
    assert isinstance(node, tree.Accessor)
    wanted = cx.resolved(expected)
    parameter = wanted.parameter if isinstance(wanted, Function) else cx.solver.type(node.span)
    return cx.expect(_accessor(cx, node, parameter), expected, blame)


def _accessor(cx: Context, node: tree.Accessor, parameter: Type) -> term.Term:
    value = term.Local("record", span=node.span, type=parameter)
    body = _selection(cx, value, tree.Name(node.field, span=node.span), node.span)
    type_ = Function(parameter, body.type)
    return term.Lambda((term.Bind("record", parameter),), body, span=node.span, type=type_)


# ---- qualified names -------------------------------------------------------------------------------------------------


def _from_module(cx: Context, module: ModuleScope, node: tree.Select) -> term.Term:
    name = node.field.text
    value = module.values.get(name) if module.exports(name) else None
    if value is not None:
        cx.scope.used.add(value.symbol)
        return use(cx, name, value, node.span)
    entity = module.exposed_constructor(name)
    if entity is not None:
        return use_constructor(cx, entity, node.span)
    known = [n for n in (*module.values, *module.constructors) if module.exports(n)]
    return cx.refuse(node.field.span, errors_names.unknown(node.field.span, name, "value", known))
