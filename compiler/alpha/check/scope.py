"""What names stand for: in a module, in its imports and in the prelude."""

from __future__ import annotations

from collections.abc import Iterator

from alpha.base.record import field, record
from alpha.base.span import Span
from alpha.core import term
from alpha.core.dim import Dim
from alpha.core.types import Kind, Scheme, Type
from alpha.diagnostics.diagnostic import Reported

Parameters = tuple[tuple[str, Kind], ...]
Where = tuple[tuple[str, Dim], ...]


@record(frozen=False)
class Value:
    """A module-level name of the value space, or a function of a model, learner or optimizer.

    `scheme` is None until a definition without a signature has been inferred. `where` are the equations of the
    signature and of the model around it. `form` says what declared it (`definition`, `source`, `policy`, ...).
    """

    name: str
    symbol: str
    form: str
    span: Span
    scheme: Scheme | None = None
    where: Where = ()
    intrinsic: bool = False
    citation: str = ""
    """Of a source: `manual`, `header`, `run` or `model`."""
    faulty: Reported | None = None
    """Its error is reported; uses of it stay silent."""


@record
class ConstructorEntity:
    """A constructor with the scheme of its function type; `record` is its own record type, if it was written inside."""

    name: str
    symbol: str
    type_name: str
    scheme: Scheme
    arity: int
    span: Span


@record(frozen=False)
class RecordEntity:
    """A declared record. `fields` is filled when its module's types are read."""

    symbol: str
    parameters: Parameters
    span: Span
    fields: dict[str, Type] = field(default_factory=dict)


@record(frozen=False)
class VariantEntity:
    symbol: str
    parameters: Parameters
    span: Span
    constructors: list[ConstructorEntity] = field(default_factory=list)


@record
class AliasEntity:
    symbol: str
    parameters: Parameters
    type: Type
    span: Span


@record
class BuiltinType:
    name: str
    parameters: Parameters


@record(frozen=False)
class ModelEntity:
    """A declared model: a type of bundles, a constructor of model values, and functions of its bundles."""

    symbol: str
    dims: tuple[str, ...]
    where: Where
    span: Span
    parameters: dict[str, Type] = field(default_factory=dict)
    functions: dict[str, Value] = field(default_factory=dict)

    @property
    def kinds(self) -> Parameters:
        return tuple([(name, Kind.DIM) for name in self.dims])


TypeEntity = RecordEntity | VariantEntity | AliasEntity | BuiltinType | ModelEntity


@record(frozen=False)
class ModuleScope:
    """The names of one module. `values`, `types` and `constructors` hold its own and what it imports by name.

    `outer` are the prelude's scopes, looked at last; `modules` maps `import M as N` names.
    """

    name: str
    outer: tuple[ModuleScope, ...] = ()
    values: dict[str, Value] = field(default_factory=dict)
    types: dict[str, TypeEntity] = field(default_factory=dict)
    constructors: dict[str, ConstructorEntity | ModelEntity] = field(default_factory=dict)
    modules: dict[str, ModuleScope] = field(default_factory=dict)
    exported: frozenset[str] | None = None
    """Names that other modules may import; None for all of its own."""
    own: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    """Symbols that some definition, proof or declaration of this module refers to."""
    unused_keys: list[Span] = field(default_factory=list)
    """Where keys are bound that nothing draws or derives from."""

    def value(self, name: str) -> Value | None:
        found = self.values.get(name)
        if found is None:
            for scope in self.outer:
                found = scope.values.get(name)
                if found is not None:
                    break
        return found

    def type(self, name: str) -> TypeEntity | None:
        found = self.types.get(name)
        if found is None:
            for scope in self.outer:
                found = scope.types.get(name)
                if found is not None:
                    break
        return found

    def constructor(self, name: str) -> ConstructorEntity | ModelEntity | None:
        found = self.constructors.get(name)
        if found is None:
            for scope in self.outer:
                found = scope.constructors.get(name)
                if found is not None:
                    break
        return found

    def records(self) -> Iterator[RecordEntity]:
        """Record types in scope, nearest first."""
        seen: set[str] = set()
        for scope in (self, *self.outer):
            for name, entity in scope.types.items():
                if name not in seen:
                    seen.add(name)
                    if isinstance(entity, RecordEntity):
                        yield entity

    def value_names(self) -> list[str]:
        names = list(self.values)
        for scope in self.outer:
            names.extend(scope.values)
        return names

    def exports(self, name: str) -> bool:
        return name in self.own and (self.exported is None or name in self.exported)

    def exposed_constructor(self, name: str) -> ConstructorEntity | ModelEntity | None:
        """A constructor that other modules may use: its type is exposed."""
        found = self.constructors.get(name)
        owner = found.type_name if isinstance(found, ConstructorEntity) else f"{self.name}.{name}"
        module, _, short = owner.rpartition(".")
        return found if module in (self.name, "") and self.exports(short) else None


@record(frozen=False)
class Group:
    """The facts of a `facts` declaration, for those who include it."""

    facts: list[term.Fact] = field(default_factory=list)
    places: dict[str, Span] = field(default_factory=dict)


@record(frozen=False)
class Registry:
    """Everything declared in the program, by qualified name."""

    modules: dict[str, ModuleScope] = field(default_factory=dict)
    records: dict[str, RecordEntity] = field(default_factory=dict)
    variants: dict[str, VariantEntity] = field(default_factory=dict)
    models: dict[str, ModelEntity] = field(default_factory=dict)
    constructors: dict[str, ConstructorEntity] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    """Declared types whose values have no equality."""
    groups: dict[str, Group] = field(default_factory=dict)
    """The facts of `facts` declarations, for inclusion."""
    metrics: dict[str, frozenset[str]] = field(default_factory=dict)
    """The metrics of each learner."""
    quiet: dict[str, term.Module] = field(default_factory=dict)
    """The modules of which nothing was said, and nothing left unsaid because of another fault."""
