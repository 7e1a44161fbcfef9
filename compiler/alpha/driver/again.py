"""A check of a large package by what is known of its modules: an edit leaves most of that as it was.

A module is checked again if its file has changed, or the interface of one that it imports; interfaces do not hold
bodies or places. So is one of which something was said. What stands alone in it is evaluated again if any module has
changed that its evaluation can reach. What is said comes in the order in which the whole check says it: of reading, of
imports, of types, of evaluation. Whatever is rarer than that leaves the whole check to be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from alpha.base.digest import sha256
from alpha.base.record import fields, replace
from alpha.base.regular import read_regular
from alpha.base.span import Source, Span
from alpha.check.imports import Face, check_imports_of
from alpha.check.interfaces import (
    ELSEWHERE,
    Lazy,
    Stored,
    lazy_registry,
    module_of,
    owned,
    restore,
    sizes,
    store,
    unpack,
)
from alpha.check.module_scope import BUILTIN
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.check.program import check as check_program
from alpha.check.source_roots import Found
from alpha.core import term
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Refused
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
    reach_of,
    sources_of,
    types_of,
)
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess, FileFault
from alpha.evaluate.program import BUILTIN_ARITIES, Index
from alpha.syntax import tree
from alpha.syntax.parse import read_module
from alpha.syntax.source import read_source


class Again:
    """One check of `names` that begins with what is known of modules."""

    def __init__(self, session: Session, names: Sequence[str], known: Known) -> None:
        self._session = session
        self._names = names
        self._known = known
        self._paths: dict[str, Found] = {}
        self._data: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}
        self._imports: dict[str, tuple[str, ...]] = {}
        self._sources: dict[str, Source] = {}
        self._trees: dict[str, tree.Module] = {}
        self._faces: dict[str, Face] = {}
        self._partial: set[str] = set()
        self._units: dict[str, Unit] = {}
        self._stored: dict[str, Stored] = {}
        self._cores: dict[str, term.Module] = {}
        self._budgets: dict[str, int | None] = {}
        self._diagnostics = Diagnostics()
        self._registry = lazy_registry(self._bring)
        self._offered: set[str] = set()
        """Modules that are as they were and not in the registry yet."""
        self._tables: dict[str, Lazy[Any]] = {
            part.name: Lazy(self._bring_core) for part in fields(Index)
        }
        self._indexed: set[str] = set()
        self._homes = Homes(())

    def run(self) -> list[Diagnostic]:
        """What the check has to say. Raises Unusable or Refused where the whole check has to be made."""
        order = self._order()
        self._homes = Homes(order)
        self._require_files()
        self._refuse_layers(order)
        self._check_imports(order)
        checked = []
        for name in order:
            before = self._known.units.get(name)
            label = self._paths[name].root.label
            key = key_of(name, label, self._digests[name], self._imports[name], self._units)
            if before is not None and before.key == key and before.quiet:
                self._units[name] = before
                self._offered.add(name)
                continue
            self._check(name, key)
            checked.append(name)
        for name in PRELUDE:
            self._bring(name)
        self._settle_again(order)
        files = FileAccess.of_modules({name: self._paths[name].file for name in order})
        if not self._diagnostics.errors:
            self._evaluate(files)
        items = self._diagnostics.items
        if any(span.source is ELSEWHERE for item in items for span in _spans(item)):
            raise Unusable
        if files.faults or self._units == self._known.units:
            return items
        for name in checked:
            unit = self._units[name]
            if unit.quiet:
                keep_unit(self._session, unit.key, self._cores[name], self._stored[name])
        known = Known(self._units, self._known.files, self._known.locks)
        keep_index(self._session, self._names, known, files)
        return items

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
        found = self._session.roots.only(name)
        if found is None:
            raise Unusable
        try:
            data = read_regular(found.file)
        except OSError:
            raise Unusable from None
        digest = sha256(data)
        self._paths[name], self._data[name], self._digests[name] = found, data, digest
        before = self._known.units.get(name)
        if before is not None and before.digest == digest and before.quiet:
            self._imports[name] = before.imports
        else:
            self._imports[name] = self._imported(name)
        return list(reversed(self._imports[name]))

    def _imported(self, name: str) -> tuple[str, ...]:
        """The names that a module imports, each once, in their order."""
        dotted = [
            ".".join(part.text for part in item.path)
            for item in self._tree(name).items
            if isinstance(item, tree.Import)
        ]
        return tuple(dict.fromkeys(dotted))

    def _source(self, name: str) -> Source:
        if name not in self._sources:
            self._sources[name] = read_source(self._data[name], self._paths[name].shown)
        return self._sources[name]

    def _tree(self, name: str) -> tree.Module:
        if name not in self._trees:
            parsed = read_module(self._source(name))
            if parsed.module is None or parsed.module.name != name:
                raise Unusable
            for fault in parsed.faults:
                self._diagnostics.report(fault)
                self._partial.add(name)
            for unread in parsed.unread:
                self._diagnostics.unread.setdefault(unread, parsed.faults[0])
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

    def _check_imports(self, order: Sequence[str]) -> None:
        """What imports ask for, where that or what they ask it of may have changed."""
        read = set(self._trees)
        known = self._known.units
        other = {
            name
            for name in read
            if name not in known or known[name].face != self._face(name).digest
        }
        for name in order:
            if name in read or other.intersection(self._imports[name]):
                self._check_imports_of(name)

    def _check_imports_of(self, name: str) -> None:
        faces = {each: self._face(each) for each in self._imports[name]}
        root = self._paths[name].root
        own = (root.own or not root.shipped) and name not in self._partial
        for diagnostic in check_imports_of(self._tree(name), faces, own):
            reported = self._diagnostics.report(diagnostic)
            if diagnostic.code == "E0109" and diagnostic.span is not None:
                unread = self._diagnostics.unread
                unread.setdefault(diagnostic.span.text, reported.diagnostic)

    def _face(self, name: str) -> Face:
        if name not in self._faces:
            self._faces[name] = Face.of(self._tree(name))
        return self._faces[name]

    def _check(self, name: str, key: str) -> None:
        found, imports = self._paths[name], self._imports[name]
        module = self._tree(name)
        source = self._source(name)
        loaded = LoadedModule(
            name, source, module, found.file, imports, self._digests[name], found.root.shipped
        )
        core = None
        before = {} if name == BUILTIN else sizes(self._registry)  # some are its own from the start
        with suppress(Refused):
            (core,) = check_program((loaded,), self._diagnostics, self._registry).modules
        symbols = owned(self._registry, before)
        stored = store(name, source, core, self._registry, symbols)
        self._stored[name] = stored
        if core is not None:
            self._cores[name] = core
        quiet = name in self._registry.quiet and not stored.faulty
        quiet = quiet and source not in sources_of(self._diagnostics.items)
        interface = interface_of(name, stored, self._homes, self._units)
        self._units[name] = Unit(
            found.root.label,
            self._digests[name],
            imports,
            key,
            interface,
            self._face(name).digest,
            quiet,
            types_of(name, stored, self._homes, self._units),
        )

    def _bring(self, symbol: str) -> None:
        """Puts the module of a symbol into the registry."""
        name = self._homes.of(symbol)
        if name in self._offered:
            self._offered.discard(name)
            restore(name, self._unit(name).interface, self._registry, self._source(name))

    def _unit(self, name: str) -> Stored:
        if name not in self._stored:
            payload = self._session.cache.find("unit", self._units[name].key)
            if payload is None:
                raise Unusable
            self._stored[name], self._budgets[name] = unpack(payload)
        return self._stored[name]

    # ---- evaluating ----------------------------------------------------------------------------------------------

    def _settle_again(self, order: Sequence[str]) -> None:
        """Notes the modules whose own has to be evaluated again."""
        known = self._known.units
        changed = {n for n in order if n not in known or known[n].key != self._units[n].key}
        for name in order:
            before, unit = known.get(name), self._units[name]
            settled = before is not None and before.settled and name not in changed
            if settled and before is not None and not changed.intersection(before.reach):
                unit = replace(unit, settled=True, reach=before.reach)
            else:
                unit = replace(unit, settled=False, reach=())
            if unit != self._units[name]:
                self._units[name] = unit

    def _evaluate(self, files: FileAccess) -> None:
        waiting = [name for name in self._names if not self._units[name].settled]
        if not waiting:
            return
        evaluator = self._evaluator(files, self._diagnostics)
        for name in waiting:
            if evaluator.check_module(name):
                self._settle(name)

    def _evaluator(self, files: FileAccess, diagnostics: Diagnostics) -> Evaluator:
        """What evaluates the modules, each brought when it is needed."""
        self._tables["arities"].update(BUILTIN_ARITIES)
        for name in PRELUDE:
            self._bring_core(name)
        return Evaluator(
            Index(**self._tables), files=files, diagnostics=diagnostics, demands=Planner().demands
        )

    def _settle(self, name: str) -> None:
        """Notes that the evaluation of a module has found nothing."""
        reach = reach_of(name, self._homes, self._unit)
        self._units[name] = replace(self._units[name], settled=True, reach=reach)

    def _bring_core(self, symbol: str) -> None:
        """Puts the core of the module of a symbol into the index."""
        name = self._homes.of(symbol)
        if not name or name in self._indexed:
            return
        self._indexed.add(name)
        core = self._cores.get(name)
        if core is None:
            declarations = self._unit(name).declarations
            core = module_of(
                name, self._imports[name], self._budgets[name], declarations, self._source(name)
            )
        index = Index.of(term.Program((core,)))
        for part, table in self._tables.items():
            table.update(getattr(index, part))


def _spans(diagnostic: Diagnostic) -> Iterator[Span]:
    if diagnostic.span is not None:
        yield diagnostic.span
    yield from (label.span for label in diagnostic.labels)
    yield from (fix.span for fix in diagnostic.fixes)
