"""What is known of each module of a large package, so that a check after an edit does what the edit calls for.

A module is checked again if its file has changed, or the interface of one that it imports; interfaces do not hold
bodies or places. What stands alone in it is evaluated again if any module has changed that its evaluation can reach.
All of it must find nothing: with the first thing to say the whole check is made, whose words are the same as ever.

One entry of the cache, the index, lists the modules of the last whole answer; each module has an entry with its
interface and its core, read when it is needed. An entry is only ever found by the digest of everything it was made
from, so nothing that other processes do can make an answer wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from alpha.base.digest import sha256, sha256_text
from alpha.base.record import field, record
from alpha.check.imports import check_imports
from alpha.check.interfaces import (
    Lazy,
    Stored,
    lazy_registry,
    module_of,
    pack,
    restore,
    store,
    unpack,
)
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.check.program import check as check_program
from alpha.check.scope import Registry
from alpha.check.source_roots import Found
from alpha.core import term
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver.identity import fingerprint
from alpha.driver.planning import Planner
from alpha.driver.remembered import places_of
from alpha.driver.session import Session
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess, FileFault
from alpha.evaluate.program import Index
from alpha.syntax import tree
from alpha.syntax.parse import read_module
from alpha.syntax.source import read_source

WORTH_IT = 60
"""The number of modules from which on parts of a check are kept: fewer are checked as fast as they are found again."""


class Unusable(Exception):
    """The whole check has to be made: something is new of a kind that is not followed here, or there is a fault."""


@record
class Unit:
    """A module without a fault. `key` stands for everything its check depended on, `interface` for what others see.

    `reach` are the modules that its evaluation may read. `root` is the label of its source root.
    """

    root: str
    digest: str
    imports: tuple[str, ...]
    key: str
    interface: str
    reach: tuple[str, ...]


@record(frozen=False)
class Known:
    """The modules of the last check without anything to say, and the files that evaluation read."""

    units: dict[str, Unit]
    files: list[tuple[str, str, str]] = field(default_factory=list)
    locks: list[tuple[str, str]] = field(default_factory=list)


# ---- after a whole check ---------------------------------------------------------------------------------------------


def keep(
    session: Session,
    names: Sequence[str],
    modules: Sequence[LoadedModule],
    program: term.Program,
    registry: Registry,
    files: FileAccess,
) -> None:
    """Keeps what a whole check without anything to say has found."""
    if not fingerprint() or len(modules) < WORTH_IT or files.faults:
        return
    labels = {}
    for module in modules:
        found = _only(session, module.name)
        if found is None or found.file != module.path:
            return
        labels[module.name] = found.root.label
    stored = {module.name: store(module, registry) for module in program.modules}
    homes = _Homes(stored)
    known = Known({})
    for module, core in zip(modules, program.modules, strict=True):
        one = stored[module.name]
        key = _key(module.name, labels[module.name], module.digest, module.imports, known.units)
        interface = _interface(module.name, one, homes, known.units)
        reach = _reach(module.name, homes, lambda name: stored[name])
        known.units[module.name] = Unit(
            labels[module.name], module.digest, module.imports, key, interface, reach
        )
        _keep_unit(session, key, core, one)
    _keep_index(session, names, known, files)


def _keep_unit(session: Session, key: str, core: term.Module, stored: Stored) -> None:
    session.cache.keep("unit", key, payload=pack(stored, core.budget))


def _keep_index(session: Session, names: Sequence[str], known: Known, files: FileAccess) -> None:
    module_of_root = {files.roots[name]: name for name in known.units}
    read = {(module_of_root[root], each.path): each.digest for root, each in files.all_reads()}
    read |= {(module, path): digest for module, path, digest in known.files}
    locks = {module_of_root[root]: digest for root, digest in files.locks()} | dict(known.locks)
    payload = json.dumps(
        {
            "units": {
                name: [u.root, u.digest, u.imports, u.key, u.interface, u.reach]
                for name, u in known.units.items()
            },
            "files": [[*where, digest] for where, digest in read.items()],
            "locks": list(locks.items()),
        }
    )
    session.cache.keep(*_index_key(session, names), payload=payload.encode())


def _index_key(session: Session, names: Sequence[str]) -> tuple[str, ...]:
    """Not the names themselves: a module more or less is an edit too."""
    first = min(names, default="").partition(".")[0]
    return "units", fingerprint(), places_of(session.roots), first


def _key(
    name: str, root: str, digest: str, imports: Sequence[str], units: Mapping[str, Unit]
) -> str:
    seen = [units[each].interface for each in (*PRELUDE, *imports) if each in units]
    return sha256_text("\n".join((fingerprint(), name, root, digest, *seen)))


def _interface(name: str, stored: Stored, homes: _Homes, units: Mapping[str, Unit]) -> str:
    """The digest of an interface and of those that it mentions: a type is what it is declared as elsewhere."""
    others = sorted({homes.of(text) for text in stored.mentioned} - {"", name, *PRELUDE})
    parts = [units[other].interface for other in others if other in units]
    return sha256_text("\n".join((sha256(stored.interface), *parts)))


class _Homes:
    """The module that a symbol belongs to: the longest name of a module that begins it."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        self._found: dict[str, str] = {}

    def of(self, symbol: str) -> str:
        found = self._found.get(symbol)
        if found is None:
            found = symbol
            while found and found not in self._names:
                found = found.rpartition(".")[0]
            self._found[symbol] = found
        return found


def _reach(name: str, homes: _Homes, stored: Any) -> tuple[str, ...]:
    """The modules of everything that the evaluation of a module's own can get to by references."""
    waiting = list(stored(name).evaluated)
    seen = set(waiting)
    modules = {name}
    while waiting:
        symbol = waiting.pop()
        home = homes.of(symbol)
        if not home:
            continue
        modules.add(home)
        references = stored(home).references
        declared = symbol
        while declared not in references and len(declared) > len(home):
            declared = declared.rpartition(".")[0]
        for used in references.get(declared, ()):
            if used not in seen:
                seen.add(used)
                waiting.append(used)
    return tuple(sorted(modules - set(PRELUDE)))


# ---- after an edit ---------------------------------------------------------------------------------------------------


def check_edited(session: Session, names: Sequence[str]) -> bool:
    """Whether a check of `names` finds nothing, by what is known of the modules that have not changed.

    False if that cannot be said; then the whole check has to be made.
    """
    if not fingerprint() or len(names) < WORTH_IT:
        return False
    try:
        return _Again(session, names).run()
    except (Unusable, Refused):
        return False


class _Again:
    """One check that begins with what an earlier one has found."""

    def __init__(self, session: Session, names: Sequence[str]) -> None:
        self._session = session
        self._names = names
        self._known = _read_index(session, names)
        self._paths: dict[str, Found] = {}
        self._data: dict[str, bytes] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._changed: dict[str, LoadedModule] = {}
        self._trees: dict[str, tree.Module] = {}
        self._units: dict[str, Unit] = {}
        self._stored: dict[str, Stored] = {}
        self._cores: dict[str, term.Module] = {}
        self._budgets: dict[str, int | None] = {}
        self._diagnostics = Diagnostics()

    def run(self) -> bool:
        order = self._order()
        homes = self._homes = _Homes(order)
        self._require_files()
        self._refuse_layers(order)
        self._registry = lazy_registry(self._bring)
        checked = []
        self._offered: set[str] = set()
        for name in order:
            found, data = self._paths[name], self._data[name]
            digest, before = sha256(data), self._known.units.get(name)
            key = _key(name, found.root.label, digest, self._imports[name], self._units)
            if before is not None and before.key == key:
                self._units[name] = before
                self._offered.add(name)
                continue
            self._check(name, key, homes)
            checked.append(name)
        for name in PRELUDE:
            self._bring(name)
        unsettled = self._unsettled(order, checked)
        if not unsettled and self._known.units.keys() == self._units.keys():
            return True
        files = self._evaluate(order, unsettled)
        for name in checked:
            _keep_unit(self._session, self._units[name].key, self._cores[name], self._stored[name])
        known = Known(self._units, self._known.files, self._known.locks)
        _keep_index(self._session, self._names, known, files)
        return True

    # ---- what there is -------------------------------------------------------------------------------------------

    def _order(self) -> list[str]:
        """The modules, each after those it imports. Reads every file."""
        done: dict[str, None] = {}
        for start in (*PRELUDE, *self._names):
            path: dict[str, list[str]] = {}
            if start not in done:
                path[start] = self._waiting(start)
            while path:
                name = next(reversed(path))
                if not path[name]:
                    done[name] = None
                    del path[name]
                    continue
                imported = path[name].pop()
                if imported in path:
                    raise Unusable  # a circle
                if imported not in done:
                    path[imported] = self._waiting(imported)
        return list(done)

    def _waiting(self, name: str) -> list[str]:
        found = _only(self._session, name)
        if found is None:
            raise Unusable
        try:
            data = found.file.read_bytes()
        except OSError:
            raise Unusable from None
        self._paths[name], self._data[name] = found, data
        before = self._known.units.get(name)
        if before is not None and before.digest == sha256(data):
            self._imports[name] = before.imports
        else:
            module = self._tree(name)
            dotted = [
                ".".join(part.text for part in item.path)
                for item in module.items
                if isinstance(item, tree.Import)
            ]
            self._imports[name] = tuple(dict.fromkeys(dotted))
        return list(reversed(self._imports[name]))

    def _tree(self, name: str) -> tree.Module:
        if name not in self._trees:
            parsed = read_module(read_source(self._data[name], self._paths[name].shown))
            if parsed.module is None or parsed.faults or parsed.module.name != name:
                raise Unusable
            self._trees[name] = parsed.module
        return self._trees[name]

    def _require_files(self) -> None:
        """The files that evaluation has read are as they were."""
        if not (self._known.files or self._known.locks):
            return
        files = FileAccess.of_modules({name: each.file for name, each in self._paths.items()})
        try:
            same = all(files.digest(m, path) == digest for m, path, digest in self._known.files)
            same = same and all(files.lock_digest(m) == digest for m, digest in self._known.locks)
        except FileFault:
            same = False
        if not same:
            raise Unusable

    def _refuse_layers(self, order: Sequence[str]) -> None:
        """The rules between systems and platforms look at whole chains of imports."""
        to_platform: set[str] = set()
        for name in order:
            if name.startswith("Platform.") or to_platform.intersection(self._imports[name]):
                to_platform.add(name)
                if name in self._trees:
                    raise Unusable

    # ---- checking ------------------------------------------------------------------------------------------------

    def _check(self, name: str, key: str, homes: _Homes) -> None:
        found, imports = self._paths[name], self._imports[name]
        module = self._tree(name)
        trees = {name: module, **{each: self._tree(each) for each in imports}}
        own = {name} if found.root.own or not found.root.shipped else set()
        digest = sha256(self._data[name])
        if any(
            d.span is None or d.span.source is module.span.source for d in check_imports(trees, own)
        ):
            raise Unusable
        loaded = LoadedModule(
            name, module.span.source, module, found.file, imports, digest, found.root.shipped
        )
        (core,) = check_program((loaded,), self._diagnostics, self._registry).modules
        if self._diagnostics.items:
            raise Unusable
        stored = store(core, self._registry)
        self._cores[name], self._stored[name] = core, stored
        interface = _interface(name, stored, homes, self._units)
        self._units[name] = Unit(found.root.label, digest, imports, key, interface, ())

    def _bring(self, symbol: str) -> None:
        """Puts the module of a symbol into the registry."""
        name = self._homes.of(symbol)
        if name in self._offered:
            self._offered.discard(name)
            restore(name, self._unit(name).interface, self._registry)

    def _unit(self, name: str) -> Stored:
        if name not in self._stored:
            payload = self._session.cache.find("unit", self._units[name].key)
            if payload is None:
                raise Unusable
            self._stored[name], self._budgets[name] = unpack(payload)
        return self._stored[name]

    # ---- evaluating ----------------------------------------------------------------------------------------------

    def _unsettled(self, order: Sequence[str], checked: Sequence[str]) -> list[str]:
        """The modules whose own has to be evaluated again; fills in what their evaluation can reach."""
        changed = {
            name
            for name in order
            if name not in self._known.units or self._known.units[name].key != self._units[name].key
        }
        found = []
        for name in order:
            if name in changed or changed.intersection(self._units[name].reach):
                unit = self._units[name]
                reach = _reach(name, self._homes, self._unit)
                self._units[name] = Unit(
                    unit.root, unit.digest, unit.imports, unit.key, unit.interface, reach
                )
                found.append(name)
        return found

    def _evaluate(self, order: Sequence[str], names: Sequence[str]) -> FileAccess:
        files = FileAccess.of_modules({name: self._paths[name].file for name in order})
        self._brought: set[str] = set()
        arities = {"Some": 1, "Ok": 1, "Err": 1, "None": 0, "True": 0, "False": 0}
        self._index = Index(
            Lazy(self._bring_core), Lazy(self._bring_core), Lazy(self._bring_core),
            Lazy(self._bring_core), Lazy(self._bring_core),
        )  # fmt: skip
        self._index.arities.update(arities)  # type: ignore[attr-defined]
        for name in PRELUDE:
            self._bring_core(name)
        evaluator = Evaluator(
            self._index, files=files, diagnostics=self._diagnostics, demands=Planner().demands
        )
        for name in names:
            if name in self._names:
                evaluator.check_module(name)
        if self._diagnostics.items or files.faults:
            raise Unusable
        return files

    def _bring_core(self, symbol: str) -> None:
        """Puts the core of the module of a symbol into the index."""
        name = self._homes.of(symbol)
        if not name or name in self._brought:
            return
        self._brought.add(name)
        core = self._cores.get(name)
        if core is None:
            stored = self._unit(name)
            core = module_of(name, self._imports[name], self._budgets[name], stored.declarations)
        one = Index.of(term.Program((core,)))
        for part in ("modules", "declarations", "types", "arities", "home"):
            getattr(self._index, part).update(getattr(one, part))


def _read_index(session: Session, names: Sequence[str]) -> Known:
    payload = session.cache.find(*_index_key(session, names))
    if payload is None:
        raise Unusable
    found = json.loads(payload)
    units = {
        name: Unit(root, digest, tuple(imports), key, interface, tuple(reach))
        for name, (root, digest, imports, key, interface, reach) in found["units"].items()
    }
    files = [(module, path, digest) for module, path, digest in found["files"]]
    return Known(units, files, [(module, digest) for module, digest in found["locks"]])


def _only(session: Session, name: str) -> Found | None:
    """The file of a module; None unless there is exactly one."""
    candidates = session.roots.candidates(name)
    return candidates[0] if len(candidates) == 1 else None


__all__ = ["Path", "check_edited", "keep"]
