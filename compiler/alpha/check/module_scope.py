"""The names of a module before anything is checked: what it imports and what it declares."""

from __future__ import annotations

from alpha.base.record import field, record
from alpha.base.span import Source, Span
from alpha.check import errors_names
from alpha.check.builtin import KEYWORD_VALUES, TYPE_KINDS
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.check.scope import (
    BuiltinType,
    ConstructorEntity,
    Group,
    ModelEntity,
    ModuleScope,
    Registry,
    Value,
    VariantEntity,
)
from alpha.check.solver import BOOL
from alpha.core import term
from alpha.core.types import Scheme
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Reported
from alpha.syntax import tree

BUILTIN = "Alpha.Prelude"
"""The module whose names are bare: the language's own."""


@record(frozen=False)
class Work:
    """One module while it is checked: its scope, and the parts of the core module made so far."""

    loaded: LoadedModule
    scope: ModuleScope
    registry: Registry
    diagnostics: Diagnostics
    types: list[term.RecordType | term.VariantType] = field(default_factory=list)
    definitions: list[term.Definition] = field(default_factory=list)
    models: list[term.Model] = field(default_factory=list)
    optimizers: list[term.Optimizer] = field(default_factory=list)
    learners: list[term.Learner] = field(default_factory=list)
    policies: list[term.Policy] = field(default_factory=list)
    profiles: list[term.Profile] = field(default_factory=list)
    pairings: list[term.Pairing] = field(default_factory=list)
    proofs: list[term.Proof] = field(default_factory=list)
    places: dict[str, Span] = field(default_factory=dict)
    """Where module-level value names are declared."""
    groups: dict[str, Group] = field(default_factory=dict)
    """The groups of facts in scope."""
    claimed: dict[str, Span] = field(default_factory=dict)
    """Where constructors are declared or imported."""
    doubled: set[str] = field(default_factory=set)
    """Value names that were reported as defined twice: a signature and its definition are one fault."""

    def report(self, diagnostic: Diagnostic) -> Reported:
        return self.diagnostics.report(diagnostic)

    def symbol(self, name: str) -> str:
        return name if self.loaded.name == BUILTIN else f"{self.loaded.name}.{name}"

    def claim(self, name: tree.Name) -> bool:
        """A module-level value name; False if it is taken."""
        first = self.places.get(name.text)
        if first is None and name.text in self.scope.values:
            first = self.scope.values[name.text].span
        if first is not None:
            self.doubled_value(name, first)
            return False
        self.places[name.text] = name.span
        self.scope.own.add(name.text)
        return True

    def doubled_value(self, name: tree.Name, first: Span) -> None:
        if name.text not in self.doubled:
            self.doubled.add(name.text)
            self.report(errors_names.defined_twice(name.span, name.text, first))

    def claim_constructor(
        self, name: str, entity: ConstructorEntity | ModelEntity, span: Span
    ) -> None:
        first = self.claimed.get(name)
        if first is not None:
            if self.scope.constructors.get(name) is not entity:
                self.report(errors_names.defined_twice(span, name, first))
            return
        self.claimed[name] = span
        self.scope.constructors[name] = entity


def builtin_scope(registry: Registry) -> ModuleScope:
    """The types and values that no module declares."""
    scope = ModuleScope("")
    for name, parameters in TYPE_KINDS.items():
        scope.types[name] = BuiltinType(name, parameters)
    nowhere = Span(_NOWHERE, 0, 0)
    boolean = VariantEntity("Bool", (), nowhere)
    for name in ("False", "True"):
        made = ConstructorEntity(name, name, "Bool", Scheme((), BOOL), 0, nowhere)
        boolean.constructors.append(made)
        scope.constructors[name] = made
        registry.constructors[name] = made
    registry.variants["Bool"] = boolean
    for name, scheme in KEYWORD_VALUES.items():
        scope.values[name] = Value(name, name, "definition", nowhere, scheme, intrinsic=True)
    return scope


def open_module(loaded: LoadedModule, registry: Registry, diagnostics: Diagnostics) -> Work:
    """The scope of a module with its imports and the names of its declarations."""
    outer = [registry.modules[""]]
    for name in PRELUDE:
        if name == loaded.name:
            break
        if name in registry.modules:
            outer.insert(0, registry.modules[name])
    scope = ModuleScope(loaded.name, tuple(outer))
    if loaded.tree.exposing is not None:
        scope.exported = frozenset(name.text for name in loaded.tree.exposing)
    registry.modules[loaded.name] = scope
    work = Work(loaded, scope, registry, diagnostics)
    brought: dict[str, Span] = {}
    for item in loaded.tree.items:
        if isinstance(item, tree.Import):
            _import(work, item, brought)
    _declare_names(work)
    return work


def _import(work: Work, item: tree.Import, brought: dict[str, Span]) -> None:
    """What the module of the import lacks is reported when modules are loaded.

    `brought` are the places of the names that imports put in scope so far, modules behind a dot of their own.
    """
    scope = work.scope
    source = work.registry.modules.get(".".join(part.text for part in item.path))
    if source is None:
        return
    if item.alias is not None:
        if _is_new(work, brought, item.alias, f".{item.alias.text}"):
            scope.modules[item.alias.text] = source
    elif not item.names:
        scope.modules[source.name] = source
    for name in item.names:
        text = name.text
        made = source.constructors.get(text)
        inside = isinstance(made, ConstructorEntity) and source.exports(_short(made.type_name))
        if not (source.exports(text) or inside) or not _is_new(work, brought, name, text):
            continue
        if isinstance(made, ConstructorEntity) and inside:
            work.claim_constructor(text, made, name.span)
        if source.exports(text):
            _bring(work, source, name)


def _bring(work: Work, source: ModuleScope, name: tree.Name) -> None:
    """Put what `source` exposes as `name` in scope; a type comes with its constructors."""
    scope, text = work.scope, name.text
    group = work.registry.groups.get(f"{source.name}.{text}")
    if group is not None:
        work.groups[text] = group
    if text in source.values:
        scope.values[text] = source.values[text]
    entity = source.types.get(text)
    if entity is None:
        return
    scope.types[text] = entity
    if isinstance(entity, ModelEntity):
        work.claim_constructor(text, entity, name.span)
    elif isinstance(entity, VariantEntity):
        for made in entity.constructors:
            work.claim_constructor(made.name, made, name.span)


def _is_new(work: Work, brought: dict[str, Span], name: tree.Name, key: str) -> bool:
    if key in brought:
        work.report(errors_names.defined_twice(name.span, name.text, brought[key]))
        return False
    brought[key] = name.span
    return True


def _short(symbol: str) -> str:
    return symbol.rpartition(".")[2]


def _declare_names(work: Work) -> None:
    """Claims every name of the module, so that nothing is defined twice."""
    types: dict[str, Span] = {}
    signatures: dict[str, Span] = {}
    scope = work.scope
    for item in work.loaded.tree.items:
        if isinstance(item, tree.Import):
            continue
        if isinstance(item, tree.TypeDecl | tree.AliasDecl | tree.ModelDecl):
            name = item.name.text
            outer = scope.types.get(name)
            if name in types or outer is not None:
                place = item.name.span if isinstance(outer, BuiltinType | None) else outer.span
                first = types.get(name, place)
                work.report(errors_names.defined_twice(item.name.span, name, first))
            types.setdefault(name, item.name.span)
            scope.own.add(name)
            if isinstance(item, tree.TypeDecl) and isinstance(item.body, tuple):
                scope.own.update(v.name.text for v in item.body)
        elif isinstance(item, tree.Signature):
            name = item.name.text
            if name in signatures:
                work.doubled_value(item.name, signatures[name])
            signatures.setdefault(name, item.name.span)
            scope.own.add(name)
        else:
            work.claim(item.name)
    exposing: dict[str, Span] = {}
    for exposed in work.loaded.tree.exposing or ():
        if exposed.text in exposing:
            first = exposing[exposed.text]
            work.report(errors_names.defined_twice(exposed.span, exposed.text, first))
        exposing.setdefault(exposed.text, exposed.span)
        if exposed.text not in scope.own:
            known = sorted(scope.own)
            work.report(errors_names.unknown(exposed.span, exposed.text, "declaration", known))


_NOWHERE = Source("<built in>", "")
