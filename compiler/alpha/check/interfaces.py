"""What a checked module is to others, as bytes: its interface, its core, and what each declaration refers to.

Places in the module's source are kept beside these bytes, so that those of an interface are the same when only bodies
of the module change, or move. A place in another source cannot be kept, since that may change by itself: it comes back
as one of `ELSEWHERE`.
"""

from __future__ import annotations

import io
import pickle
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import EnumMeta
from itertools import islice
from types import MappingProxyType
from typing import Any, TypeVar

from alpha.base.digest import sha256
from alpha.base.record import field, fields, record
from alpha.base.span import Source, Span
from alpha.check.module_scope import BUILTIN, builtin_scope
from alpha.check.scope import ModuleScope, Registry
from alpha.core import term
from alpha.diagnostics.diagnostic import Reported

ELSEWHERE = Source("<stored>", "")
_NOWHERE = Span(ELSEWHERE, 0, 0)
_TABLES = ("records", "variants", "models", "constructors", "groups", "metrics")
_T = TypeVar("_T")


@record
class Stored:
    """A checked module as bytes. `interface` and each of `declarations` are a pickle and its places; `mentioned` are
    the dotted texts of the interface, `references` those of each declaration by its symbol: every symbol that it uses
    is among them.

    `evaluated` are the symbols of what stands alone and is evaluated by a check. `faulty` means that something of the
    interface is at fault, so that it serves to compare and cannot be restored.
    """

    interface: Bytes
    declarations: tuple[tuple[str, Bytes], ...]
    mentioned: frozenset[str]
    references: Mapping[str, frozenset[str]]
    evaluated: tuple[str, ...]
    faulty: bool = False
    types: Mapping[str, tuple[str, frozenset[str]]] = field(default_factory=dict)
    """What each declared type says, by its name in the module: a digest, and the dotted texts. Not kept."""


Bytes = tuple[bytes, bytes]
"""A pickle, and the places that it leaves out: pairs of offsets, negative for those of another source."""


class _Pickler(pickle.Pickler):
    """Leaves places out of a pickle, each of its places once."""

    def __init__(self, file: io.BytesIO, source: Source | None) -> None:
        super().__init__(file, protocol=5)
        self.places = array("i")
        self.faulty = False
        self._source = source
        self.dispatch_table = {Span: self._span, Reported: self._reported}

    def _span(self, span: Span) -> tuple[Callable[[], Span], tuple[()]]:
        own = span.source is self._source
        self.places.extend((span.start, span.end) if own else (-1, -1))
        return _place, ()

    def _reported(self, reported: Reported) -> tuple[Callable[[], Span], tuple[()]]:
        self.faulty = True
        return _place, ()


def _place() -> Span:
    """What a place is read as; an unpickler puts the next of its places instead."""
    return _NOWHERE


def _dotted(data: bytes) -> set[str]:
    """The dotted texts of a pickle, and perhaps others that its bytes look like.

    Each text is there once, behind a byte for its kind and its length. That is faster than to be asked about everything
    that is pickled.
    """
    found = set()
    for kind, width in ((b"\x8c", 1), (b"X", 4)):
        at = data.find(kind)
        while at >= 0:
            start = at + 1 + width
            text = data[start : start + int.from_bytes(data[at + 1 : start], "little")]
            if b"." in text:
                found.add(text.decode("utf-8", "replace"))
            at = data.find(kind, at + 1)
    return found


class _Unpickler(pickle.Unpickler):
    """Makes nothing but the compiler's own records and numbers: an entry of the cache is data."""

    def __init__(self, data: bytes, places: bytes, source: Source) -> None:
        super().__init__(io.BytesIO(data))
        self._places = iter(array("i", places))
        self._source = source

    def _next_place(self) -> Span:
        start = next(self._places)
        end = next(self._places)
        return Span(self._source, start, end) if start >= 0 else _NOWHERE

    def find_class(self, module: str, name: str) -> object:
        if (module, name) == (__name__, "_place"):
            return self._next_place
        if (module, name) == ("builtins", "getattr"):
            return _member
        if module.startswith("alpha.") or (module, name) in _PLAIN:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name}")


def _member(kind: object, name: str) -> object:
    """A member of an enumeration, as the first releases of Python 3.11 pickle it; no other attribute of anything."""
    if not isinstance(kind, EnumMeta):
        raise pickle.UnpicklingError(f"{name} of something that is no enumeration")
    return kind[name]


_PLAIN = {
    ("fractions", "Fraction"),
    ("builtins", "frozenset"),
    ("builtins", "set"),
    ("collections", "Counter"),
    ("copyreg", "_reconstructor"),
    ("builtins", "object"),
}


def _dump(value: object, source: Source | None = None) -> tuple[Bytes, bool]:
    """The bytes of a value, and whether something in it is at fault."""
    file = io.BytesIO()
    pickler = _Pickler(file, source)
    pickler.dump(value)
    return (file.getvalue(), pickler.places.tobytes()), pickler.faulty


def _load(data: Bytes, source: Source = ELSEWHERE) -> Any:
    return _Unpickler(*data, source).load()


def pack(stored: Stored, budget: int | None) -> bytes:
    """One payload of a stored module and its budget."""
    references = {symbol: sorted(used) for symbol, used in stored.references.items()}
    parts = stored.interface, stored.declarations, references, stored.evaluated, budget
    return _dump(parts)[0][0]


def unpack(payload: bytes) -> tuple[Stored, int | None]:
    """What was packed, without what is mentioned: that only served its digest."""
    interface, declarations, references, evaluated, budget = _load((payload, b""))
    return Stored(interface, declarations, frozenset(), references, evaluated), budget


Owned = Mapping[str, Sequence[tuple[str, str]]]


def sizes(registry: Registry) -> Mapping[str, int]:
    """How much the tables of a registry hold, for `owned`."""
    return {table: len(getattr(registry, table)) for table in _TABLES}


def owned(registry: Registry, since: Mapping[str, int] = MappingProxyType({})) -> Owned:
    """The symbols of the tables of a registry, each with its table, by the module that declares them.

    `since` are the sizes of the tables before something was declared: then what was there is left out.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for table in (*_TABLES, "opaque"):
        for symbol in list(islice(getattr(registry, table), since.get(table, 0), None)):
            module = symbol.rpartition(".")[0]
            while module and not dict.__contains__(registry.modules, module):
                module = module.rpartition(".")[0]
            found.setdefault(module or BUILTIN, []).append((table, symbol))
    return found


def store(
    name: str, source: Source, core: term.Module | None, registry: Registry, symbols: Owned
) -> Stored:
    """A checked module; `core` is None where it is at fault. `symbols` is what `owned` says of the registry."""
    scope = registry.modules[name]
    tables: dict[str, dict[str, object]] = {table: {} for table in _TABLES}
    opaque = []
    for table, symbol in symbols.get(name, ()):
        if table == "opaque":
            opaque.append(symbol)
        else:
            tables[table][symbol] = getattr(registry, table)[symbol]
    interface, faulty = _dump(
        {
            "own": sorted(scope.own),
            "exported": None if scope.exported is None else sorted(scope.exported),
            "values": {n: value for n, value in scope.values.items() if n in scope.own},
            "types": {n: type_ for n, type_ in scope.types.items() if n in scope.own},
            "constructors": {n: made for n, made in scope.constructors.items() if n in scope.own},
            "opaque": sorted(opaque),
            "tables": tables,
        },
        source,
    )
    declarations, references, evaluated = [], {}, []
    for group, declared in _declared(core) if core is not None else ():
        data, _ = _dump(declared, source)
        declarations.append((group, data))
        symbol = getattr(declared, "symbol", None) or declared.name
        references[symbol] = frozenset(_dotted(data[0]))
        if _stands_alone(group, declared):
            evaluated.append(symbol)
    return Stored(
        interface,
        tuple(declarations),
        frozenset(_dotted(interface[0])),
        references,
        tuple(evaluated),
        faulty,
        _types(name, tables, opaque),
    )


def _types(
    module: str, tables: Mapping[str, Mapping[str, object]], opaque: Sequence[str]
) -> dict[str, tuple[str, frozenset[str]]]:
    parts: dict[str, list[object]] = {}
    start = 0 if module == BUILTIN else len(module) + 1
    for table, entries in tables.items():
        for symbol, entity in entries.items():
            name = symbol[start:].partition(".")[0]
            parts.setdefault(name, []).append((table, symbol, entity))
    for symbol in sorted(opaque):
        parts.setdefault(symbol[start:].partition(".")[0], []).append(symbol)
    found = {}
    for name, part in parts.items():
        (data, _), _ = _dump(part)
        found[name] = sha256(data), frozenset(_dotted(data))
    return found


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
    declarations: tuple[tuple[str, Bytes], ...],
    source: Source,
) -> term.Module:
    """The core of a stored module with its source."""
    groups: dict[str, list[Any]] = {
        part.name: [] for part in fields(term.Module) if part.name not in _HEAD
    }
    for group, data in declarations:
        groups[group].append(_load(data, source))
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


def restore(name: str, interface: Bytes, registry: Registry, source: Source) -> None:
    """Puts a stored module with its source into the registry, as checking it would."""
    found = _load(interface, source)
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
    "ELSEWHERE",
    "Lazy",
    "Stored",
    "lazy_registry",
    "module_of",
    "pack",
    "restore",
    "store",
    "unpack",
]
