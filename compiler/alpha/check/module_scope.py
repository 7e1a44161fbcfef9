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
    """Where constructors are declared."""

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
            self.report(errors_names.defined_twice(name.span, name.text, first))
            return False
        self.places[name.text] = name.span
        self.scope.own.add(name.text)
        return True

    def claim_constructor(
        self, name: str, entity: ConstructorEntity | ModelEntity, span: Span
    ) -> None:
        first = self.claimed.get(name)
        if first is not None:
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
    for item in loaded.tree.items:
        if isinstance(item, tree.Import):
            _import(work, item)
    _declare_names(work)
    return work


def _import(work: Work, item: tree.Import) -> None:
    """What the module of the import lacks is reported when modules are loaded."""
    scope = work.scope
    source = work.registry.modules.get(".".join(part.text for part in item.path))
    if source is None:
        return
    if item.alias is not None:
        scope.modules[item.alias.text] = source
    if not item.names and item.alias is None:
        scope.modules[source.name] = source
    for name in item.names:
        text = name.text
        group = work.registry.groups.get(f"{source.name}.{text}")
        if group is not None and source.exports(text):
            work.groups[text] = group
        made = source.constructors.get(text)
        if isinstance(made, ConstructorEntity) and source.exports(_short(made.type_name)):
            scope.constructors[text] = made
        if not source.exports(text):
            continue
        if text in source.values:
            scope.values[text] = source.values[text]
        entity = source.types.get(text)
        if entity is not None:
            scope.types[text] = entity
            if isinstance(entity, VariantEntity):
                for made in entity.constructors:
                    scope.constructors[made.name] = made
            elif isinstance(entity, ModelEntity):
                scope.constructors[text] = entity


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
                work.report(errors_names.defined_twice(item.name.span, name, signatures[name]))
            signatures.setdefault(name, item.name.span)
            scope.own.add(name)
        else:
            work.claim(item.name)


_NOWHERE = Source("<built in>", "")
