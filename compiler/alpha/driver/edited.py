"""A check of a large package after an edit, by what is known of the modules that have not changed.

A module is checked again if its file has changed, or the interface of one that it imports; interfaces do not hold
bodies or places. What stands alone in it is evaluated again if any module has changed that its evaluation can reach.
All of it must find nothing: with the first thing to say the whole check is made, whose words are the same as ever.
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.digest import sha256
from alpha.check.imports import check_imports
from alpha.check.interfaces import (
    Lazy,
    Stored,
    lazy_registry,
    module_of,
    owned,
    restore,
    store,
    unpack,
)
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.check.program import check as check_program
from alpha.check.source_roots import Found
from alpha.core import term
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver import units
from alpha.driver.planning import Planner
from alpha.driver.session import Session
from alpha.driver.units import (
    Homes,
    Known,
    Unit,
    Unusable,
    interface_of,
    keep_index,
    keep_unit,
    key_of,
    only,
    reach_of,
    read_index,
)
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess, FileFault
from alpha.evaluate.program import Index
from alpha.syntax import tree
from alpha.syntax.parse import read_module
from alpha.syntax.source import read_source


def check_edited(session: Session, names: Sequence[str]) -> bool:
    """Whether a check of `names` finds nothing, by what is known of the modules that have not changed.

    False if that cannot be said; then the whole check has to be made.
    """
    if not units.worthwhile(len(names)):
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
        self._known = read_index(session, names)
        self._paths: dict[str, Found] = {}
        self._data: dict[str, bytes] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._trees: dict[str, tree.Module] = {}
        self._units: dict[str, Unit] = {}
        self._stored: dict[str, Stored] = {}
        self._cores: dict[str, term.Module] = {}
        self._budgets: dict[str, int | None] = {}
        self._diagnostics = Diagnostics()

    def run(self) -> bool:
        order = self._order()
        homes = self._homes = Homes(order)
        self._require_files()
        self._refuse_layers(order)
        self._registry = lazy_registry(self._bring)
        checked = []
        self._offered: set[str] = set()
        for name in order:
            found, data = self._paths[name], self._data[name]
            digest, before = sha256(data), self._known.units.get(name)
            key = key_of(name, found.root.label, digest, self._imports[name], self._units)
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
            keep_unit(self._session, self._units[name].key, self._cores[name], self._stored[name])
        known = Known(self._units, self._known.files, self._known.locks)
        keep_index(self._session, self._names, known, files)
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
        found = only(self._session, name)
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

    def _check(self, name: str, key: str, homes: Homes) -> None:
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
        stored = store(core, self._registry, owned(self._registry))
        self._cores[name], self._stored[name] = core, stored
        interface = interface_of(name, stored, homes, self._units)
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
                reach = reach_of(name, self._homes, self._unit)
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
