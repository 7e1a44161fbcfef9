"""Loading modules: imports in dependency order, and the rules between modules (specification, section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from alpha.base.digest import sha256
from alpha.base.record import record
from alpha.base.regular import read_regular
from alpha.base.span import Source, Span
from alpha.check import module_errors as errors
from alpha.check.imports import check_imports
from alpha.check.layers import check_layers, is_reference
from alpha.check.source_roots import SUFFIX, Found, SourceRoots, find_systems, package_folder
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Refused
from alpha.syntax import tree
from alpha.syntax.parse import read_module
from alpha.syntax.source import read_source

__all__ = [
    "PRELUDE",
    "LoadedModule",
    "SourceRoots",
    "find_systems",
    "load",
    "load_readable",
    "package_folder",
]

NO_TEXTS: Mapping[Path, bytes] = {}

PRELUDE = ("Alpha.Prelude", "Alpha.List")
"""The library modules that are in scope everywhere without an import."""


@record
class LoadedModule:
    """A module with what it came from. `imports` are the names it imports, in order, without the prelude's.

    `path` is the file; `source.path` the name of it that people see. `digest` is the SHA-256 of the file. `shipped`
    means that it came with the compiler.
    """

    name: str
    source: Source
    tree: tree.Module
    path: Path
    imports: tuple[str, ...]
    digest: str
    shipped: bool


def load(
    roots: SourceRoots, names: Sequence[str], diagnostics: Diagnostics
) -> tuple[LoadedModule, ...]:
    """The modules `names`, the prelude and all that they import, each after what it imports; the prelude comes first.

    Reports every fault that it finds to `diagnostics`, warnings included, then raises `Refused` if one is an error.
    """
    before = len(diagnostics.errors)
    modules = load_readable(roots, names, diagnostics)
    if diagnostics.errors[before:]:
        raise Refused(*diagnostics.errors[before:])
    return modules


def load_readable(
    roots: SourceRoots,
    names: Sequence[str],
    diagnostics: Diagnostics,
    texts: Mapping[Path, bytes] = NO_TEXTS,
) -> tuple[LoadedModule, ...]:
    """As `load`, but faults are reported only: the modules that could be read, without their declarations at fault.

    Nothing is said later about the names that are missing for that. None if the prelude could not be read. `texts`
    stand for the contents of files.
    """
    loading = _Loading(roots, diagnostics, texts)
    for name in (*PRELUDE, *names):
        loading.visit(name)
    if not loading.done.keys() >= set(PRELUDE):
        return ()
    modules = tuple(loading.done.values())
    loading.note_missing()
    trees = {module.name: module.tree for module in modules}
    own = {module.name for module in modules if not module.shipped or loading.own[module.name]}
    for diagnostic in (*check_imports(trees, own - loading.partial), *check_layers(trees)):
        reported = diagnostics.report(diagnostic)
        if diagnostic.code == "E0109" and diagnostic.span is not None:
            diagnostics.unread.setdefault(diagnostic.span.text, reported.diagnostic)
    return modules


class _Loading:
    """The state of one `load`. The walk keeps its own stack: a chain of imports may be long."""

    def __init__(
        self, roots: SourceRoots, diagnostics: Diagnostics, texts: Mapping[Path, bytes]
    ) -> None:
        self._roots = roots
        self._diagnostics = diagnostics
        self._texts = texts
        self.partial: set[str] = set()
        self.done: dict[str, LoadedModule] = {}
        self.own: dict[str, bool] = {}
        self._failed: set[str] = set()

    def report(self, diagnostic: Diagnostic) -> None:
        self._diagnostics.report(diagnostic)

    def note_missing(self) -> None:
        """Names that are imported from a module which could not be read, or comes later in a circle."""
        read: set[str] = set()
        for module in self.done.values():
            for item in _imports(module.tree):
                if _dotted(item.path) in read:
                    continue
                root = self._diagnostics.errors[-1]
                for name in (*item.names, *([item.alias] if item.alias else [])):
                    self._diagnostics.unread.setdefault(name.text, root)
            read.add(module.name)

    def visit(self, start: str) -> None:
        path: dict[str, tuple[LoadedModule, Iterator[tree.Import]]] = {}
        self._enter(start, None, path)
        while path:
            module, imports = path[next(reversed(path))]
            imported = next(imports, None)
            if imported is None:
                del path[module.name]
                self.done[module.name] = module
                continue
            name = _dotted(imported.path)
            place = imported.path[0].span.to(imported.path[-1].span)
            if name in path:
                entered = list(path)
                cycle = [*entered[entered.index(name) :], name]
                self.report(errors.import_cycle(place, cycle))
                continue
            self._enter(name, place, path)

    def _enter(
        self,
        name: str,
        place: Span | None,
        path: dict[str, tuple[LoadedModule, Iterator[tree.Import]]],
    ) -> None:
        if name in self.done or name in self._failed:
            return
        module = self._read(name, place)
        if module is None:
            self._failed.add(name)
            return
        path[name] = (module, _imports(module.tree))

    def _read(self, name: str, place: Span | None) -> LoadedModule | None:
        if is_reference(name):
            self.report(errors.reference_module(place, name))
            return None
        candidates = self._candidates(name, place)
        if not candidates:
            return None
        found = candidates[0]
        try:
            changed = self._texts.get(found.file)
            data = read_regular(found.file) if changed is None else changed
        except OSError as error:
            self.report(
                errors.unreadable_module(place, name, found.shown, _reason(found.file, error))
            )
            return None
        try:
            source = read_source(data, found.shown)
        except Refused as refused:
            for diagnostic in refused.diagnostics:
                self.report(diagnostic)
            return None
        parsed = read_module(source)
        for diagnostic in parsed.faults:
            self.report(diagnostic)
        for unread in parsed.unread:
            self._diagnostics.unread.setdefault(unread, parsed.faults[0])
        if parsed.faults:
            self.partial.add(name)
        module = parsed.module
        if module is None:
            return None
        if module.name != name:
            header = module.path[0].span.to(module.path[-1].span)
            file = found.file.relative_to(found.root.folder).as_posix()
            self.report(errors.wrong_header(header, module.name, name, file))
            return None
        self._check_hidden(module, candidates)
        self.own[name] = found.root.own
        imports = tuple(dict.fromkeys(_dotted(item.path) for item in _imports(module)))
        return LoadedModule(
            name, source, module, found.file, imports, sha256(data), found.root.shipped
        )

    def _candidates(self, name: str, place: Span | None) -> list[Found]:
        """The files of a module: the one to read, then a shipped one that it hides. Empty if a fault is reported."""
        candidates = self._roots.candidates(name)
        own = [found for found in candidates if found.root.own]
        shipped = [found for found in candidates if not found.root.own]
        for group in (own, shipped):
            if len(group) > 1:
                self.report(errors.two_files(place, name, group[0].shown, group[1].shown))
                return []
        fixed = name.startswith(("Alpha.", "Platform."))
        if own and shipped and fixed and not _equal(own[0], shipped[0]):
            self.report(errors.replaced_shipped(place, name, own[0].shown, shipped[0].shown))
            return []
        if not candidates and name in PRELUDE:
            self.report(errors.damaged_library(name))
        elif not candidates:
            file = name.replace(".", "/") + SUFFIX
            self.report(errors.unknown_module(place, name, self._roots.modules(), file))
        return candidates

    def _check_hidden(self, module: tree.Module, candidates: Sequence[Found]) -> None:
        """W0005: the package's own module stands in for a shipped one with another text."""
        if len(candidates) == 2 and not _equal(candidates[0], candidates[1]):
            header = module.path[0].span.to(module.path[-1].span)
            self.report(errors.hidden_shipped(header, module.name, candidates[1].shown))


def _imports(module: tree.Module) -> Iterator[tree.Import]:
    return (item for item in module.items if isinstance(item, tree.Import))


def _dotted(path: Sequence[tree.Name]) -> str:
    return ".".join(part.text for part in path)


def _equal(first: Found, second: Found) -> bool:
    try:
        return read_regular(first.file) == read_regular(second.file)
    except OSError:
        return False


def _reason(file: Path, error: OSError) -> str:
    if file.is_dir():
        return "it is a folder"
    if file.is_symlink() and not file.exists():
        return "it is a link to nothing"
    return (error.strerror or "the file system refused").lower()
