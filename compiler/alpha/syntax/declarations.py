"""From rules to nodes: declarations, their items, and the parts of a module's header."""

from __future__ import annotations

from typing import Any

from alpha.base.record import record, replace
from alpha.base.span import Source, Span
from alpha.syntax import numbers
from alpha.syntax import tree as t
from alpha.syntax.actions import EXPRESSIONS, PATTERNS, TYPES, Make, name, names
from alpha.syntax.lexer import Token


@record
class Header:
    """The header of a module: what `Module` says of itself."""

    span: Span
    docs: tuple[str, ...]
    path: tuple[t.Name, ...]
    exposing: tuple[t.Name, ...] | None
    budget: int | None


def _docs(span: Span, a: list[Any]) -> tuple[str, ...]:
    lines = (token.text[3:].rstrip(" ") for token in a)
    return tuple(line[1:] if line.startswith(" ") else line for line in lines)


def _documented(span: Span, a: list[Any]) -> Any:
    docs, node = a
    return node if docs is None else replace(node, docs=docs)


def _header(span: Span, a: list[Any]) -> Header:
    docs, path, exposing, budget = a
    return Header(span, docs or (), path, exposing, budget)


def _import(span: Span, a: list[Any]) -> t.Import:
    path, alias, imported = a
    return t.Import(path, alias, imported or (), span=span)


def _iname(span: Span, a: list[Any]) -> t.Name:
    return name(span.source, a[0])


def _variants(body: Any) -> Any:
    return body if isinstance(body, t.TRecord) else tuple(body)


def _type(span: Span, a: list[Any]) -> t.TypeDecl:
    declared, parameters, dims, body = a
    return t.TypeDecl(name(span.source, declared), parameters, dims, _variants(body), span=span)


def _variant(span: Span, a: list[Any]) -> t.Variant:
    return t.Variant(name(span.source, a[0]), tuple(a[1:]), span=span)


def _alias(span: Span, a: list[Any]) -> t.AliasDecl:
    declared, parameters, dims, type_ = a
    return t.AliasDecl(name(span.source, declared), parameters, dims, type_, span=span)


def _sign(span: Span, a: list[Any]) -> t.Signature:
    declared, type_, where = a
    return t.Signature(name(span.source, declared), type_, where or (), span=span)


def _define(span: Span, a: list[Any]) -> t.Define:
    return t.Define(name(span.source, a[0]), tuple(a[1:-1]), a[-1], span=span)


def _source(span: Span, a: list[Any]) -> t.SourceDecl:
    return t.SourceDecl(name(span.source, a[0]), a[1], span=span)


def _proof(span: Span, a: list[Any]) -> t.ProofDecl:
    return t.ProofDecl(a[0].text, name(span.source, a[1]), a[2], span=span)


def _rejects(span: Span, a: list[Any]) -> t.RejectsDecl:
    return t.RejectsDecl(a[0].text, name(span.source, a[1]), a[2], span=span)


def _fact(span: Span, a: list[Any]) -> t.Fact:
    kind, fact, amount, grade, evidence = a
    source = span.source
    return t.Fact(kind.text, name(source, fact), amount, name(source, grade), evidence, span=span)


def _profile(span: Span, a: list[Any]) -> t.ProfileDecl:
    return t.ProfileDecl(name(span.source, a[0]), a[1], tuple(a[2:]), span=span)


def _model(span: Span, a: list[Any]) -> t.ModelDecl:
    declared, dims, where, *items = a
    return t.ModelDecl(name(span.source, declared), dims, where or (), tuple(items), span=span)


def _parameter(span: Span, a: list[Any]) -> t.Parameter:
    binders, type_, initialiser = a
    return t.Parameter(binders, type_, initialiser, span=span)


def _optimizer(span: Span, a: list[Any]) -> t.OptimizerDecl:
    return t.OptimizerDecl(name(span.source, a[0]), a[1], tuple(a[2:]), span=span)


def _metric(span: Span, a: list[Any]) -> t.Metric:
    return t.Metric(name(span.source, a[0]), tuple(a[1:-1]), a[-1], span=span)


def _host(span: Span, a: list[Any]) -> t.HostDecl:
    return t.HostDecl(name(span.source, a[0]), a[1], tuple(a[2:]), span=span)


def _reissue(span: Span, a: list[Any]) -> t.Reissue:
    on, within, most = a
    source = span.source
    limit = EXPRESSIONS["quantity"](_of(source, within), [within])
    return t.Reissue(
        name(source, on), limit, EXPRESSIONS["int"](_of(source, most), [most]), span=span
    )


def _of(source: Source, token: Token) -> Span:
    return Span(source, token.start, token.end)


def _submit(span: Span, a: list[Any]) -> t.Submit:
    recipe, after = a
    return t.Submit(name(span.source, recipe), after and name(span.source, after), span=span)


def _named(node: Any) -> Make:
    """`KEYWORD NAME = items`, and other nodes that are a name and a tuple."""
    return lambda span, a: node(name(span.source, a[0]), tuple(a[1:]), span=span)


def _defined(node: Any) -> Make:
    """Nodes that are a name and then exactly what the rule has."""
    return lambda span, a: node(name(span.source, a[0]), *a[1:], span=span)


DECLARATIONS: dict[str, Make] = {
    "header": _header,
    "exposing": lambda span, a: tuple(a),
    "budget": lambda span, a: numbers.integer(a[0].text),
    "item": _documented,
    "documented": _documented,
    "docs": _docs,
    "import_": _import,
    "as_": _iname,
    "names": lambda span, a: tuple(a),
    "iname": _iname,
    "path": lambda span, a: names(span.source, a),
    "type_": _type,
    "type_parameters": lambda span, a: names(span.source, a),
    "variants": lambda span, a: tuple(a),
    "variant": _variant,
    "alias": _alias,
    "sign": _sign,
    "define": _define,
    "source": _source,
    "proof": _proof,
    "rejects": _rejects,
    "facts": _named(t.FactsDecl),
    "fact": _fact,
    "profile": _profile,
    "include": _defined(t.Include),
    "model": _model,
    "parameter": _parameter,
    "initialiser": lambda span, a: a[0],
    "binders": lambda span, a: names(span.source, a),
    "optimizer": _optimizer,
    "params": lambda span, a: tuple(a),
    "slot": _defined(t.Slot),
    "learner": _named(t.LearnerDecl),
    "metric": _metric,
    "policy": _named(t.PolicyDecl),
    "pairing": _named(t.PairingDecl),
    "host": _host,
    "region": _defined(t.Region),
    "recipe": _defined(t.Recipe),
    "scalar": _defined(t.HostScalar),
    "contract": _defined(t.Contract),
    "schedule": lambda span, a: t.Schedule(a[0], span=span),
    "acts": lambda span, a: tuple(a),
    "write": lambda span, a: t.Write(a[0], span=span),
    "read": lambda span, a: t.Read(a[0], a[1], span=span),
    "submit": _submit,
    "repeat": lambda span, a: t.Repeat(a[0], a[1], a[2], span=span),
    "reissue": _reissue,
}

ACTIONS: dict[str, Make] = EXPRESSIONS | PATTERNS | TYPES | DECLARATIONS
