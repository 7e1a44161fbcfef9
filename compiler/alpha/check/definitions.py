"""Definitions with their signatures: to schemes and core terms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from alpha.base.record import record
from alpha.base.span import Span
from alpha.check import errors_names, errors_types
from alpha.check.builtin import AMOUNT_UNITS
from alpha.check.context import Context
from alpha.check.entries import Blame, Dimension, Entry
from alpha.check.expressions import RULES, abstraction
from alpha.check.finish import close, finish
from alpha.check.generalise import generalise
from alpha.check.module_scope import Work
from alpha.check.operations import FORMS, ORDINARY, SPECIAL
from alpha.check.scope import Value, Where
from alpha.check.solver import AMOUNT
from alpha.check.type_reader import TypeReader, Variables, scan_kinds
from alpha.check.where import expanded, read_where
from alpha.core import term
from alpha.core.substitute import variables
from alpha.core.type_text import type_text
from alpha.core.types import Function, Kind, Scheme, Type
from alpha.diagnostics.diagnostic import Reported
from alpha.syntax import tree


@record
class Signed:
    """A signature that was read: its scheme, its equations, and where it stands."""

    scheme: Scheme
    where: Where
    node: tree.Signature


def new_context(work: Work) -> Context:
    context = Context(work.registry, work.scope, work.diagnostics, RULES)
    context.solver.opaque = work.registry.opaque
    return context


def read_signature(
    work: Work, node: tree.Signature, dims: Sequence[str] = (), first: Type | None = None
) -> Signed:
    """The scheme of a signature. `dims` are the dimensions of the model around it, `first` its `self`."""
    kinds = dict.fromkeys(dims, Kind.DIM)
    scan_kinds(node.type, work.scope, kinds)
    reader = TypeReader(work.scope, work.report, Variables(kinds, open=True))
    type_ = reader.read(node.type)
    where = read_where(work.report, reader, node.where)
    if first is not None:
        type_ = Function(first, type_)
    order: dict[str, Kind] = dict.fromkeys(dims, Kind.DIM)
    for name, kind in variables(type_):
        if name[0] != "!":
            order.setdefault(name, kind)
    for name, dim in where:
        for each in (name, *sorted(dim.names)):
            order.setdefault(each, Kind.DIM)
    return Signed(Scheme(tuple(order.items()), type_), where, node)


def enter_signature(cx: Context, signed: Signed, outer: Where = ()) -> None:
    """The names of a signature are rigid in its definition; its dimensions are `Int`s there."""
    span = signed.node.span
    entries: dict[str, Entry] = {}
    for name, kind in signed.scheme.variables:
        cx.variables.kinds[name] = kind
        if kind is Kind.DIM:
            if name not in cx.locals:
                cx.claim(name, span)
            entries[name] = Dimension(span)
    cx.locals = {**cx.locals, **entries}
    cx.solver.where = expanded(dict((*outer, *signed.where)))


def unit_of_result(work: Work, node: tree.Type, parameters: int) -> tuple[int, int, int] | None:
    """The unit that a signature demands of its result, as in `readTime : Seconds`."""
    for _ in range(parameters):
        if not isinstance(node, tree.TArrow):
            return None
        node = node.result
    if isinstance(node, tree.TCon) and len(node.path) == 1:
        name = node.path[0].text
        if work.scope.type(name) is None:
            return AMOUNT_UNITS.get(name)
    return None


def check_signed(
    cx: Context, work: Work, define: tree.Define, signed: Signed, given: int = 0
) -> term.Term:
    """The term of a definition against its signature; `given` parameters of the scheme are bound already."""
    expected: Type = signed.scheme.type
    for _ in range(given):
        assert isinstance(expected, Function)
        expected = expected.result
    blame = Blame(signed.node.span, lambda: f"the signature says `{type_text(expected)}`")
    types: list[Type] = []
    result = expected
    rest = _note_written(cx, define, signed.node.type)
    for _ in define.parameters:
        if not isinstance(result, Function):
            diagnostic = errors_types.parameters(
                define.name.span,
                define.name.text,
                len(types),
                len(define.parameters),
                signed.node.span,
            )
            return cx.refuse(define.name.span, diagnostic)
        types.append(result.parameter)
        result = result.result
    inner = Blame(rest.span, lambda: f"the signature says `{type_text(result)}`")
    if not define.parameters:
        found = cx.check(define.body, result, inner)
    else:
        with_types = (define.parameters, define.body, define.span, types, result)
        found = abstraction(cx, *with_types, blame, inner)
    unit = unit_of_result(work, signed.node.type, len(define.parameters))
    return found if unit is None else _with_unit(found, unit)


def _note_written(cx: Context, define: tree.Define, node: tree.Type) -> tree.Type:
    """Notes where the signature has the types of the parameters, for the trail of a size; the rest is the result's."""
    for parameter in define.parameters:
        if not isinstance(node, tree.TArrow):
            break
        if isinstance(parameter, tree.PVar):
            cx.written[parameter.span] = node.parameter.span
        node = node.result
    return node


def _with_unit(found: term.Term, unit: tuple[int, int, int]) -> term.Term:
    """The check of a unit behind the value, which is always known."""
    body = found.body if isinstance(found, term.Lambda) else found
    wanted = term.Literal(term.Amount(Fraction(1), unit), span=body.span, type=AMOUNT)
    type_ = Function(AMOUNT, Function(AMOUNT, AMOUNT))
    head = term.Intrinsic("ofUnit", span=body.span, type=type_)
    checked = term.Apply(head, (wanted, body), span=body.span, type=AMOUNT)
    if isinstance(found, term.Lambda):
        return term.Lambda(found.parameters, checked, span=found.span, type=found.type)
    return checked


def check_definition(work: Work, define: tree.Define, value: Value, signed: Signed | None) -> None:
    """A module-level definition. Its value gets its scheme, and its term is added to the module."""
    cx = new_context(work)
    if signed is not None:
        enter_signature(cx, signed)
        done = finish(cx, check_signed(cx, work, define, signed))
        if done is not None:
            definition = term.Definition(value.symbol, signed.scheme, done, define.span)
            work.definitions.append(definition)
        return
    if define.parameters:
        found: term.Term = abstraction(cx, define.parameters, define.body, define.span, None, None)
    else:
        found = cx.infer(define.body)
    close(cx)
    scheme = generalise(cx, found.type, top=True)
    done = finish(cx, found)
    if done is None:
        value.faulty = _any_fault(work)
        return
    value.scheme = scheme
    work.definitions.append(term.Definition(value.symbol, scheme, done, define.span))


def _any_fault(work: Work) -> Reported:
    return work.report(work.diagnostics.errors[-1])


def declare_intrinsic(work: Work, signed: Signed) -> None:
    """A signature without a definition: an operation of the compiler, in shipped library and platform modules."""
    node = signed.node
    name = node.name.text
    loaded = work.loaded
    known = name in ORDINARY or name in SPECIAL or name in FORMS
    allowed = loaded.shipped and loaded.name.startswith(("Alpha.", "Platform."))
    if not allowed or not known:
        work.report(errors_names.without_definition(node.name.span, name, not allowed))
        return
    work.definitions.append(term.Definition(work.symbol(name), signed.scheme, None, node.span))


def check_expression(
    work: Work, body: tree.Body, expected: Type, span: Span, text: str
) -> term.Term | None:
    """A closed expression of a known type; None if it is at fault."""
    cx = new_context(work)
    found = cx.check(body, expected, Blame(span, text))
    return finish(cx, found)
