"""What a checked module is to others, as bytes: its interface, its core, and what each declaration refers to.

Places in the sources are left out: they serve diagnostics, and whoever reads a stored module has none to give. So the
bytes of an interface are the same when only bodies of the module change.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from alpha.base.record import fields, record
from alpha.base.span import Source, Span
from alpha.check.module_scope import BUILTIN, builtin_scope
from alpha.check.scope import ModuleScope, Registry
from alpha.core import term

_NOWHERE = Span(Source("<stored>", ""), 0, 0)
_TABLES = ("records", "variants", "models", "constructors", "groups", "metrics")
_T = TypeVar("_T")


@record
class Stored:
    """A checked module as bytes. `interface` and `declarations` are pickles; `mentioned` are the dotted texts of the
    interface, `references` those of each declaration by its symbol: every symbol that it uses is among them.

    `evaluated` are the symbols of what stands alone and is evaluated by a check.
    """

    interface: bytes
    declarations: tuple[tuple[str, bytes], ...]
    mentioned: frozenset[str]
    references: Mapping[str, frozenset[str]]
    evaluated: tuple[str, ...]


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.dotted: set[str] = set()

    def persistent_id(self, value: object) -> object:
        kind = type(value)
        if kind is str:
            if "." in value:  # type: ignore[operator]
                self.dotted.add(value)  # type: ignore[arg-type]
        elif kind is Span:
            return 0
        return None


class _Unpickler(pickle.Unpickler):
    """Makes nothing but the compiler's own records and numbers: an entry of the cache is data."""

    def persistent_load(self, pid: object) -> object:
        return _NOWHERE

    def find_class(self, module: str, name: str) -> object:
        if module.startswith("alpha.") or (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


_PLAIN = {
    ("fractions", "Fraction"),
    ("builtins", "frozenset"),
    ("builtins", "set"),
    ("collections", "Counter"),
    ("copyreg", "_reconstructor"),
    ("builtins", "object"),
}


def _dump(value: object) -> tuple[bytes, frozenset[str]]:
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return file.getvalue(), frozenset(pickler.dotted)


def _load(data: bytes) -> Any:
    return _Unpickler(io.BytesIO(data)).load()


def pack(stored: Stored, budget: int | None) -> bytes:
    """One payload of a stored module and its budget."""
    references = {symbol: sorted(used) for symbol, used in stored.references.items()}
    return _dump((stored.interface, stored.declarations, references, stored.evaluated, budget))[0]


def unpack(payload: bytes) -> tuple[Stored, int | None]:
    """What was packed, without what is mentioned: that only served its digest."""
    interface, declarations, references, evaluated, budget = _load(payload)
    return Stored(interface, declarations, frozenset(), references, evaluated), budget


Owned = Mapping[str, Sequence[tuple[str, str]]]


def owned(registry: Registry) -> Owned:
    """The symbols of the tables of a registry, each with its table, by the module that declares them."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table in (*_TABLES, "opaque"):
        for symbol in list(getattr(registry, table)):
            module = symbol.rpartition(".")[0]
            while module and not dict.__contains__(registry.modules, module):
                module = module.rpartition(".")[0]
            found.setdefault(module or BUILTIN, []).append((table, symbol))
    return found


def store(module: term.Module, registry: Registry, symbols: Owned) -> Stored:
    """A module that was checked without a fault. `symbols` is what `owned` says of the registry."""
    scope = registry.modules[module.name]
    own = sorted(scope.own)
    tables: dict[str, dict[str, object]] = {table: {} for table in _TABLES}
    opaque = []
    for table, symbol in symbols.get(module.name, ()):
        if table == "opaque":
            opaque.append(symbol)
        else:
            tables[table][symbol] = getattr(registry, table)[symbol]
    interface, mentioned = _dump(
        {
            "own": own,
            "exported": None if scope.exported is None else sorted(scope.exported),
            "values": {name: scope.values[name] for name in own if name in scope.values},
            "types": {name: scope.types[name] for name in own if name in scope.types},
            "constructors": {n: scope.constructors[n] for n in own if n in scope.constructors},
            "opaque": sorted(opaque),
            "tables": tables,
        }
    )
    declarations, references, evaluated = [], {}, []
    for group, declared in _declared(module):
        data, dotted = _dump(declared)
        declarations.append((group, data))
        symbol = getattr(declared, "symbol", None) or declared.name
        references[symbol] = dotted
        if _stands_alone(group, declared):
            evaluated.append(symbol)
    return Stored(interface, tuple(declarations), mentioned, references, tuple(evaluated))


_HEAD = ("name", "imports", "budget")


def _declared(module: term.Module) -> Iterator[tuple[str, Any]]:
    for part in fields(module):
        if part.name not in _HEAD:
            for declared in getattr(module, part.name):
                yield part.name, declared


def _stands_alone(group: str, declared: Any) -> bool:
    if group == "definitions":
        alone = not declared.scheme.variables and declared.value is not None
        return alone and not isinstance(declared.value, term.Lambda)
    return group not in ("types", "models", "optimizers")


def module_of(
    name: str,
    imports: tuple[str, ...],
    budget: int | None,
    declarations: tuple[tuple[str, bytes], ...],
) -> term.Module:
    """The core of a stored module."""
    groups: dict[str, list[Any]] = {
        part.name: [] for part in fields(term.Module) if part.name not in _HEAD
    }
    for group, data in declarations:
        groups[group].append(_load(data))
    return term.Module(name, imports, budget, **{k: tuple(v) for k, v in groups.items()})


# ---- names whose modules are read when they are needed --------------------------------------------------------------


class Lazy(dict[str, _T]):
    """A table by symbol that has `load` bring the module of a symbol before it says that it does not know it."""

    def __init__(self, load: Callable[[str], None]) -> None:
        super().__init__()
        self._read = load

    def __missing__(self, key: str) -> _T:
        self._read(key)
        if super().__contains__(key):
            return super().__getitem__(key)
        raise KeyError(key)

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        if not super().__contains__(key) and isinstance(key, str):
            self._read(key)
        return super().__contains__(key)


class LazySet(set[str]):
    def __init__(self, load: Callable[[str], None]) -> None:
        super().__init__()
        self._read = load

    def __contains__(self, key: object) -> bool:
        if not super().__contains__(key) and isinstance(key, str):
            self._read(key)
        return super().__contains__(key)


def lazy_registry(load: Callable[[str], None]) -> Registry:
    """A registry whose tables ask `load` for what they lack. It must call `restore` for the module it finds."""
    registry = Registry(
        modules=Lazy(load), opaque=LazySet(load), **{table: Lazy(load) for table in _TABLES}
    )
    registry.modules[""] = builtin_scope(registry)
    return registry


def restore(name: str, interface: bytes, registry: Registry) -> None:
    """Puts a stored module into the registry, as checking it would."""
    found = _load(interface)
    scope = ModuleScope(name)
    scope.own = set(found["own"])
    scope.exported = None if found["exported"] is None else frozenset(found["exported"])
    scope.values.update(found["values"])
    scope.types.update(found["types"])
    scope.constructors.update(found["constructors"])
    registry.modules[name] = scope
    registry.opaque.update(found["opaque"])
    for table in _TABLES:
        getattr(registry, table).update(found["tables"][table])


__all__ = [
    "Lazy",
    "Stored",
    "lazy_registry",
    "module_of",
    "pack",
    "restore",
    "store",
    "unpack",
]
