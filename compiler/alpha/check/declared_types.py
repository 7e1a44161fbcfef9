"""Declared types: records, variants, aliases, and models as types."""

from __future__ import annotations

from alpha.check import errors_kinds, errors_names, errors_records
from alpha.check.cycles import circle, components, is_circle
from alpha.check.module_scope import Work
from alpha.check.references import type_names
from alpha.check.scope import (
    AliasEntity,
    ConstructorEntity,
    ModelEntity,
    Parameters,
    RecordEntity,
    VariantEntity,
)
from alpha.check.solver import SCALAR
from alpha.check.type_reader import TypeReader, Variables, scan_kinds
from alpha.check.where import read_where
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.type_text import arrow
from alpha.core.types import (
    Function,
    Kind,
    Named,
    Scheme,
    Shape,
    Tensor,
    TupleType,
    Type,
    TypeArgument,
    TypeVar,
)
from alpha.diagnostics.diagnostic import Label
from alpha.syntax import tree

TypeDeclaration = tree.TypeDecl | tree.AliasDecl | tree.ModelDecl


def declare_types(work: Work) -> None:
    """Reads the module's types, each after those it mentions, into its scope and the registry."""
    declared: dict[str, TypeDeclaration] = {}
    for item in work.loaded.tree.items:
        if isinstance(item, TypeDeclaration):
            declared.setdefault(item.name.text, item)
    graph = {name: list(type_names(item)) for name, item in declared.items()}
    for component in components(graph):
        if not is_circle(component, graph):
            _declare(work, declared[component[0]])
            continue
        path = circle(component, graph)
        labels = tuple(Label(declared[n].name.span, "part of the circle") for n in path[1:])
        work.report(errors_names.type_contains_itself(declared[path[0]].name.span, path, labels))
        for name in component:
            _silence(work, declared[name])


def _silence(work: Work, item: TypeDeclaration) -> None:
    """A type at fault: uses of it say nothing more."""
    parameters = [] if isinstance(item, tree.ModelDecl) else [p.text for p in item.parameters]
    kinds = dict.fromkeys(parameters, Kind.TYPE)
    kinds.update(dict.fromkeys((n for n, _ in dimension_names(work, item.dims)), Kind.DIM))
    entity = AliasEntity(
        work.symbol(item.name.text), tuple(kinds.items()), TypeVar("!type"), item.name.span
    )
    work.scope.types[item.name.text] = entity


def _declare(work: Work, item: TypeDeclaration) -> None:
    if isinstance(item, tree.ModelDecl):
        _model(work, item)
        return
    parameters = _parameters(work, item)
    if isinstance(item, tree.AliasDecl):
        type_ = _reader(work, parameters).read(item.type)
        symbol = work.symbol(item.name.text)
        work.scope.types[item.name.text] = AliasEntity(symbol, parameters, type_, item.name.span)
        return
    if isinstance(item.body, tree.TRecord):
        entity = _record(work, work.symbol(item.name.text), parameters, item.body, item.name)
        work.scope.types[item.name.text] = entity
    else:
        _variant(work, item, parameters, item.body)


def _parameters(work: Work, item: tree.TypeDecl | tree.AliasDecl) -> Parameters:
    kinds: dict[str, Kind] = {}
    bodies: list[tree.Type] = []
    if isinstance(item, tree.AliasDecl):
        bodies.append(item.type)
    elif isinstance(item.body, tree.TRecord):
        bodies.append(item.body)
    else:
        bodies.extend(argument for variant in item.body for argument in variant.arguments)
    for body in bodies:
        scan_kinds(body, work.scope, kinds)
    found: dict[str, Kind] = {}
    for name in item.parameters:
        if name.text in found:
            work.report(
                errors_names.defined_twice(
                    name.span, name.text, item.name.span, "is a parameter twice"
                )
            )
        found[name.text] = kinds.get(name.text, Kind.TYPE)
    found.update(dict.fromkeys((name for name, _ in dimension_names(work, item.dims)), Kind.DIM))
    return tuple(found.items())


def dimension_names(work: Work, dims: tree.TDims | None) -> list[tuple[str, tree.DimVar]]:
    """The names in the brackets of a declaration."""
    found: dict[str, tree.DimVar] = {}
    for item in dims.items if dims is not None else ():
        if not isinstance(item, tree.DimVar):
            work.report(
                errors_kinds.wrong_kind(item.span, "the name of a dimension", "something else")
            )
        elif item.name in found:
            span = found[item.name].span
            work.report(
                errors_names.defined_twice(item.span, item.name, span, "is a dimension twice")
            )
        else:
            found[item.name] = item
    return list(found.items())


def _reader(work: Work, parameters: Parameters) -> TypeReader:
    return TypeReader(work.scope, work.report, Variables(dict(parameters), open=False))


def _arguments(parameters: Parameters) -> tuple[TypeArgument, ...]:
    arguments: list[TypeArgument] = []
    for name, kind in parameters:
        if kind is Kind.DIM:
            arguments.append(Dim.variable(name))
        elif kind is Kind.SHAPE:
            arguments.append(Shape((), name))
        else:
            arguments.append(TypeVar(name))
    return tuple(arguments)


def _record(
    work: Work, symbol: str, parameters: Parameters, body: tree.TRecord, name: tree.Name
) -> RecordEntity:
    entity = RecordEntity(symbol, parameters, name.span)
    reader = _reader(work, parameters)
    places: dict[str, tree.Name] = {}
    for item in body.fields:
        field = item.name.text
        if field in places:
            work.report(errors_records.field_twice(item.name.span, field, places[field].span))
            continue
        places[field] = item.name
        entity.fields[field] = reader.read(item.type)
    work.registry.records[symbol] = entity
    if not all(_has_equality(work, t) for t in entity.fields.values()):
        work.registry.opaque.add(symbol)
    work.types.append(term.RecordType(symbol, parameters, tuple(entity.fields.items())))
    return entity


def _variant(
    work: Work, item: tree.TypeDecl, parameters: Parameters, variants: tuple[tree.Variant, ...]
) -> None:
    symbol = work.symbol(item.name.text)
    entity = VariantEntity(symbol, parameters, item.name.span)
    reader = _reader(work, parameters)
    result = Named(symbol, _arguments(parameters))
    shapes: list[tuple[str, tuple[Type, ...]]] = []
    for variant in variants:
        name = variant.name.text
        types: list[Type] = []
        for argument in variant.arguments:
            if isinstance(argument, tree.TRecord):
                inner = f"{symbol}.{name}"
                _record(work, inner, parameters, argument, variant.name)
                types.append(Named(inner, _arguments(parameters)))
            else:
                types.append(reader.read(argument))
        scheme = Scheme(parameters, arrow(tuple(types), result))
        made = ConstructorEntity(
            name, work.symbol(name), symbol, scheme, len(types), variant.name.span
        )
        work.claim_constructor(name, made, variant.name.span)
        entity.constructors.append(made)
        work.registry.constructors[made.symbol] = made
        shapes.append((made.symbol, tuple(types)))
        if not all(_has_equality(work, t) for t in types):
            work.registry.opaque.add(symbol)
    work.scope.types[item.name.text] = entity
    work.registry.variants[symbol] = entity
    work.types.append(term.VariantType(symbol, parameters, tuple(shapes)))


def _model(work: Work, item: tree.ModelDecl) -> None:
    names = [name for name, _ in dimension_names(work, item.dims)]
    symbol = work.symbol(item.name.text)
    reader = TypeReader(
        work.scope, work.report, Variables(dict.fromkeys(names, Kind.DIM), open=False)
    )
    where = read_where(work.report, reader, item.where)
    entity = ModelEntity(symbol, tuple(names), where, item.name.span)
    for part in item.items:
        if isinstance(part, tree.Parameter):
            type_ = reader.read(part.type)
            for name in part.names:
                if name.text in entity.parameters:
                    work.report(errors_names.defined_twice(name.span, name.text, item.name.span))
                entity.parameters[name.text] = type_
    work.scope.types[item.name.text] = entity
    work.claim_constructor(item.name.text, entity, item.name.span)
    work.registry.models[symbol] = entity


def _has_equality(work: Work, item: Type) -> bool:
    """Whether a field of this type lets its record be compared."""
    if isinstance(item, Function):
        return False
    if isinstance(item, Tensor):
        return item.shape == SCALAR
    if isinstance(item, TupleType):
        return all(_has_equality(work, part) for part in item.items)
    if isinstance(item, Named):
        if item.name in work.registry.opaque or item.name in work.registry.models:
            return False
        return all(
            _has_equality(work, a)
            for a in item.arguments
            if isinstance(a, TypeVar | Named | Function | TupleType | Tensor)
        )
    return True
