"""Checking a program: modules as trees, to the typed core. This is the whole phase on one screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from alpha.check import errors_declarations, errors_names
from alpha.check.calls_cycle import refuse_recursion
from alpha.check.cycles import circle, in_order, is_circle
from alpha.check.declared_types import declare_types
from alpha.check.definitions import (
    Signed,
    check_definition,
    check_expression,
    declare_intrinsic,
    new_context,
    read_signature,
)
from alpha.check.facts import check_facts, check_profile, check_source, declare_source, is_profile
from alpha.check.finish import finish
from alpha.check.hosts import check_host, declare_host
from alpha.check.learners import check_learner
from alpha.check.models import check_model, declare_model
from alpha.check.module_scope import Work, builtin_scope, open_module
from alpha.check.modules import LoadedModule
from alpha.check.optimizers import check_optimizer, declare_optimizer
from alpha.check.policies import check_pairings, check_policy
from alpha.check.references import mentioned, surely_mentioned
from alpha.check.scope import Registry, Value
from alpha.check.solver import BOOL
from alpha.check.type_reader import TypeReader, Variables
from alpha.check.warnings import warn
from alpha.core import term
from alpha.core.dim import TooLarge
from alpha.core.types import Named, Scheme
from alpha.diagnostics.diagnostic import Diagnostics, Label, Refused
from alpha.syntax import tree

_DEPTH = 20_000
"""Frames for nested expressions: 256 levels of source, a few dozen frames each at most."""


def check(
    modules: Sequence[LoadedModule], diagnostics: Diagnostics, registry: Registry | None = None
) -> term.Program:
    """The typed program of `modules`, which come in dependency order with the prelude first.

    Reports as many errors as it can find, then raises `Refused` if there are any. A `registry` is filled with what the
    modules declare; it may know modules that they import already.
    """
    before = len(diagnostics.errors)
    registry = Registry() if registry is None else registry
    registry.modules.setdefault("", builtin_scope(registry))
    with _deep_recursion():
        checked = [_bounded(module, registry, diagnostics) for module in modules]
    errors = diagnostics.errors[before:]
    if errors:
        raise Refused(*errors)
    return term.Program(tuple(module for module in checked if module is not None))


def _bounded(
    loaded: LoadedModule, registry: Registry, diagnostics: Diagnostics
) -> term.Module | None:
    """A module, or None where a declaration of it has grown beyond what can be checked."""
    before = len(diagnostics.items), diagnostics.unsaid
    try:
        made = check_module(loaded, registry, diagnostics)
        if before == (len(diagnostics.items), diagnostics.unsaid):
            registry.quiet[loaded.name] = made
        return made
    except TooLarge:
        what = f"a declaration of `{loaded.name}`"
        diagnostics.report(errors_declarations.too_large(loaded.tree.path[-1].span, what))
        return None


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Frames of Python calling Python take no space on the machine's stack, so only the counter is raised."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def check_module(loaded: LoadedModule, registry: Registry, diagnostics: Diagnostics) -> term.Module:
    """One module, after those it imports. What is at fault is reported and left out."""
    work = open_module(loaded, registry, diagnostics)
    declare_types(work)
    signatures = _signatures(work)
    values = _declare_values(work, signatures)
    models = [
        (item, declare_model(work, item))
        for item in loaded.tree.items
        if isinstance(item, tree.ModelDecl) and work.symbol(item.name.text) in registry.models
    ]
    for item in loaded.tree.items:
        if isinstance(item, tree.SourceDecl):
            check_source(work, item, values[item.name.text])
        elif isinstance(item, tree.FactsDecl):
            check_facts(work, item)
    _definitions(work, signatures, values)
    for model, signed in models:
        check_model(work, model, signed)
    for item in loaded.tree.items:
        _declaration(work, item, values)
    check_pairings(work)
    for item in loaded.tree.items:
        if isinstance(item, tree.ProofDecl):
            _proof(work, item)
        elif isinstance(item, tree.RejectsDecl):
            _rejects(work, item)
    refuse_recursion(work)
    warn(work, signatures)
    return term.Module(
        loaded.name,
        loaded.imports,
        loaded.tree.budget,
        tuple(work.types),
        tuple(work.definitions),
        tuple(work.models),
        tuple(work.optimizers),
        tuple(work.learners),
        tuple(work.policies),
        tuple(work.profiles),
        tuple(work.pairings),
        tuple(work.proofs),
    )


# ---- what is declared ------------------------------------------------------------------------------------------------


def _signatures(work: Work) -> dict[str, Signed]:
    found: dict[str, Signed] = {}
    for item in work.loaded.tree.items:
        if isinstance(item, tree.Signature) and item.name.text not in found:
            found[item.name.text] = read_signature(work, item)
    return found


_FORMS = {
    tree.SourceDecl: ("source", Named("Source")),
    tree.LearnerDecl: ("learner", Named("Learner")),
    tree.PolicyDecl: ("policy", Named("Policy")),
}


def _declare_values(work: Work, signatures: dict[str, Signed]) -> dict[str, Value]:
    """Every value name of the module with its type, as far as it is written down."""
    values: dict[str, Value] = {}
    for item in work.loaded.tree.items:
        if isinstance(
            item, tree.Import | tree.TypeDecl | tree.AliasDecl | tree.ModelDecl | tree.Signature
        ):
            continue
        name = item.name.text
        if name in values:
            continue
        value = Value(name, work.symbol(name), "definition", item.name.span)
        if isinstance(item, tree.Define):
            signed = signatures.get(name)
            if signed is not None:
                value.scheme, value.where = signed.scheme, signed.where
        elif isinstance(item, tree.OptimizerDecl):
            value.form = "optimizer"
            declare_optimizer(work, item, value)
        elif isinstance(item, tree.ProfileDecl):
            value.form = "profile"
            _profile_type(work, item, value)
        elif type(item) in _FORMS:
            value.form, type_ = _FORMS[type(item)]
            value.scheme = Scheme((), type_)
            if isinstance(item, tree.SourceDecl):
                declare_source(work, item, value)
        elif isinstance(item, tree.HostDecl):
            value.form = "host"
            declare_host(work, item, value)
        else:
            continue
        values[name] = value
        work.scope.values[name] = value
    for name, signed in signatures.items():
        if name not in work.places and name not in work.doubled:
            value = Value(
                name, name, "definition", signed.node.name.span, signed.scheme, signed.where
            )
            value.intrinsic = True
            work.scope.values[name] = value
            declare_intrinsic(work, signed)
        elif name in work.places and values[name].form != "definition":
            work.doubled_value(signed.node.name, work.places[name])
    return values


def _profile_type(work: Work, item: tree.ProfileDecl, value: Value) -> None:
    reader = TypeReader(work.scope, work.report, Variables(open=False))
    type_ = reader.read(item.type)
    if is_profile(work, type_):
        value.scheme = Scheme((), type_)
    elif isinstance(type_, Named):
        value.faulty = work.report(
            errors_declarations.profile_type(item.type.span, item.type.span.text)
        )
    else:
        errors = work.diagnostics.errors
        fault = errors_declarations.profile_type(item.type.span, item.type.span.text)
        value.faulty = work.report(errors[-1] if errors else fault)


def _definitions(work: Work, signatures: dict[str, Signed], values: dict[str, Value]) -> None:
    """Definitions in the order in which they need each other: an inferred type is there before its uses."""
    defines: dict[str, tree.Define] = {}
    for item in work.loaded.tree.items:
        if isinstance(item, tree.Define):
            defines.setdefault(item.name.text, item)
    graph = {name: list(mentioned(item.body)) for name, item in defines.items()}
    surely = {name: list(surely_mentioned(item)) for name, item in defines.items()}
    for component in in_order(graph, surely):
        unsigned = [name for name in component if name not in signatures]
        if unsigned and is_circle(component, surely):
            _refuse_circle(work, component, surely, defines, values)
            continue
        for name in component:
            try:
                check_definition(work, defines[name], values[name], signatures.get(name))
            except TooLarge:
                place = defines[name].name.span
                fault = errors_declarations.too_large(place, f"`{name}`")
                values[name].faulty = work.report(fault)


def _refuse_circle(
    work: Work,
    component: list[str],
    graph: dict[str, list[str]],
    defines: dict[str, tree.Define],
    values: dict[str, Value],
) -> None:
    path = circle(component, graph)
    labels = tuple(Label(defines[name].name.span, "part of the circle") for name in path[1:])
    reported = work.report(errors_names.recursion(defines[path[0]].name.span, path, labels))
    for name in component:
        values[name].faulty = reported


def _declaration(work: Work, item: tree.Import | tree.Decl, values: dict[str, Value]) -> None:
    if isinstance(item, tree.OptimizerDecl):
        check_optimizer(work, item, values[item.name.text])
    elif isinstance(item, tree.LearnerDecl):
        check_learner(work, item)
    elif isinstance(item, tree.PolicyDecl):
        check_policy(work, item)
    elif isinstance(item, tree.ProfileDecl):
        check_profile(work, item, values[item.name.text])
    elif isinstance(item, tree.HostDecl):
        check_host(work, item, values[item.name.text])


_EVALUATED = frozenset(
    {"E0310", "E0402", "E0404", "E0409", "E0410", "E0411", "E0502", "E0503", "E0504"}
    | {"E0601", "E0602", "E0603", "E0604", "E0611", "E0612", "E0613", "E0706"}
)
"""Codes that evaluation gives, so that a `rejects` of one is still open once its expression is typed."""

# ---- proofs ----------------------------------------------------------------------------------------------------------


def _proof(work: Work, item: tree.ProofDecl) -> None:
    found = check_expression(work, item.body, BOOL, item.name.span, f"a {item.kind} is a `Bool`")
    if found is not None:
        work.proofs.append(term.Proof(work.symbol(item.name.text), item.kind, found, item.span))


def _rejects(work: Work, item: tree.RejectsDecl) -> None:
    """The expression alone gives exactly the code. What only evaluation can see becomes a proof of kind `rejects`."""
    seen = Diagnostics(unread=work.diagnostics.unread)
    cx = new_context(work)
    cx.diagnostics = seen
    done = finish(cx, cx.infer(item.body))
    codes = sorted({d.code for d in seen.errors})
    if codes == [item.code] or (done is None and not codes):
        return  # seen, or it follows from a fault that is told
    if done is None or item.code not in _EVALUATED:
        work.report(
            errors_declarations.rejects_other(item.name.span, item.name.text, item.code, codes)
        )
        return
    kind = f"rejects {item.code}"
    work.proofs.append(term.Proof(work.symbol(item.name.text), kind, done, item.span))
