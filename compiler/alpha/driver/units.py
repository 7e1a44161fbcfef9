"""What is known of each module of a large package, kept from one check to the next.

One entry of the cache, the index, lists the modules of the last answer; each module of which nothing was said has an
entry with its interface and its core, read when it is needed. An entry is only ever found by the digest of everything
it was made from, so nothing that other processes do can make an answer wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set

from alpha.base.digest import sha256, sha256_text
from alpha.base.record import field, fields, record
from alpha.base.span import Source
from alpha.check.imports import Face
from alpha.check.interfaces import Stored, owned, pack, store
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.check.scope import Registry
from alpha.core import term
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.driver.identity import fingerprint
from alpha.driver.remembered import places_of
from alpha.driver.session import Session
from alpha.evaluate.files import FileAccess

WORTH_IT = 60
"""The number of modules from which on parts of a check are kept: fewer are checked as fast as they are found again."""


def worthwhile(modules: int) -> bool:
    """Whether parts of a check of so many modules are kept; not while the compiler itself may be changing."""
    return modules >= WORTH_IT and bool(fingerprint())


class Unusable(Exception):
    """The whole check has to be made: something is new, or at fault, of a kind that is not followed here."""


@record
class Unit:
    """A checked module. `key` stands for everything its check depended on, `interface` for what others see of it,
    `face` for what their imports do, `types` for each type that it declares with all that this is made of.

    `quiet` says that nothing was said of it when it was read and checked, and nothing withheld. `settled` says that its
    evaluation found nothing, reading at most the modules in `reach`. `root` is the label of its source root.
    """

    root: str
    digest: str
    imports: tuple[str, ...]
    key: str
    interface: str
    face: str
    quiet: bool
    types: tuple[tuple[str, str], ...] = ()
    settled: bool = False
    reach: tuple[str, ...] = ()


@record(frozen=False)
class Known:
    """The modules of the last check, and the files that evaluation read."""

    units: dict[str, Unit]
    files: list[tuple[str, str, str]] = field(default_factory=list)
    locks: list[tuple[str, str]] = field(default_factory=list)


def keep(
    session: Session,
    names: Sequence[str],
    modules: Sequence[LoadedModule],
    registry: Registry,
    files: FileAccess,
    settled: Set[str],
) -> None:
    """Keeps what a whole check has found. `settled` are the modules whose evaluation found nothing."""
    if not worthwhile(len(modules)) or files.faults:
        return
    labels = {}
    for module in modules:
        found = session.roots.only(module.name)
        if found is None or found.file != module.path:
            return
        labels[module.name] = found.root.label
    symbols = owned(registry)
    quiet = registry.quiet
    stored = {
        m.name: store(m.name, m.source, quiet.get(m.name), registry, symbols) for m in modules
    }
    homes = Homes(stored)
    known = Known({})
    told = sources_of(session.diagnostics.items)
    for module in modules:
        name, one = module.name, stored[module.name]
        key = key_of(name, labels[name], module.digest, module.imports, known.units)
        done = name in quiet and name in settled
        known.units[name] = Unit(
            labels[name],
            module.digest,
            module.imports,
            key,
            interface_of(name, one, homes, known.units),
            Face.of(module.tree).digest,
            name in quiet and not one.faulty and module.source not in told,
            types_of(name, one, homes, known.units),
            done,
            reach_of(name, homes, lambda name: stored[name]) if done else (),
        )
        if known.units[name].quiet:
            keep_unit(session, key, quiet[name], one)
    keep_index(session, names, known, files)


def sources_of(diagnostics: Iterable[Diagnostic]) -> set[Source]:
    """The sources that diagnostics are about."""
    return {each.span.source for each in diagnostics if each.span is not None}


def keep_unit(session: Session, key: str, core: term.Module, stored: Stored) -> None:
    """Keeps one module under the key that `key_of` gives it."""
    session.cache.keep("unit", key, payload=pack(stored, core.budget))


def keep_index(session: Session, names: Sequence[str], known: Known, files: FileAccess) -> None:
    """Keeps the list of all modules, with the files and locks that were read, now or for an earlier answer."""
    read_now, locks_now = files_read(files)
    read = {(module, path): digest for module, path, digest in (*read_now, *known.files)}
    locks = dict((*locks_now, *known.locks))
    payload = json.dumps(
        {
            "units": {
                name: [getattr(u, part.name) for part in fields(Unit)]
                for name, u in known.units.items()
            },
            "files": [[*where, digest] for where, digest in read.items()],
            "locks": list(locks.items()),
        }
    )
    session.cache.keep(*_index_key(session, names), payload=payload.encode())


def files_read(
    files: FileAccess,
) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """The files that evaluation read, and the locks, as in `Known`: the source root by one of the modules in it."""
    module_of_root = {root: name for name, root in files.roots.items()}
    read = [(module_of_root[root], each.path, each.digest) for root, each in files.all_reads()]
    return read, [(module_of_root[root], digest) for root, digest in files.locks()]


def _index_key(session: Session, names: Sequence[str]) -> tuple[str, ...]:
    """Not the names themselves: a module more or less is an edit too."""
    first = min(names, default="").partition(".")[0]
    return "units", fingerprint(), places_of(session.roots), first


def key_of(
    name: str, root: str, digest: str, imports: Sequence[str], units: Mapping[str, Unit]
) -> str:
    """The digest of everything that the check of a module depends on: its text, and the interfaces it sees."""
    seen = [units[each].interface for each in (*PRELUDE, *imports) if each in units]
    return sha256_text("\n".join((fingerprint(), name, root, digest, *seen)))


def interface_of(name: str, stored: Stored, homes: Homes, units: Mapping[str, Unit]) -> str:
    """The digest of an interface and of the types that it mentions, which are what they are declared as elsewhere."""
    parts = _declared_elsewhere(name, stored.mentioned, homes, units)
    return sha256_text("\n".join((sha256(stored.interface[0]), *parts)))


def types_of(
    name: str, stored: Stored, homes: Homes, units: Mapping[str, Unit]
) -> tuple[tuple[str, str], ...]:
    """The digest of each declared type and of all that it is made of, here and elsewhere."""
    found = []
    for start in sorted(stored.types):
        waiting, parts, elsewhere = [start], {start: ""}, set[str]()
        while waiting:
            each = waiting.pop()
            parts[each], mentioned = stored.types[each]
            elsewhere |= mentioned
            for text in mentioned:
                short = _short(text, name) if homes.of(text) == name else ""
                if short in stored.types and short not in parts:
                    parts[short] = ""
                    waiting.append(short)
        lines = [*map(" ".join, sorted(parts.items()))]
        lines += _declared_elsewhere(name, elsewhere, homes, units)
        found.append((start, sha256_text("\n".join(lines))[:32]))
    return tuple(found)


def _declared_elsewhere(
    name: str, mentioned: Iterable[str], homes: Homes, units: Mapping[str, Unit]
) -> list[str]:
    lines = set()
    for text in mentioned:
        home = homes.of(text)
        if home not in ("", name, *PRELUDE) and home in units:
            short = _short(text, home)
            digest = next((digest for each, digest in units[home].types if each == short), "")
            lines.add(f"{home} {short} {digest}")
    return sorted(lines)


def _short(symbol: str, module: str) -> str:
    """The name of a declaration in its module, of the symbol of a part of it."""
    return symbol[len(module) + 1 :].partition(".")[0]


class Homes:
    """The module that a symbol belongs to: the longest name of a module that begins it."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        self._found: dict[str, str] = {}

    def of(self, symbol: str) -> str:
        """The name of the module, empty where the symbol belongs to none."""
        found = self._found.get(symbol)
        if found is None:
            found = symbol
            while found and found not in self._names:
                found = found.rpartition(".")[0]
            self._found[symbol] = found
        return found


def reach_of(name: str, homes: Homes, stored: Callable[[str], Stored]) -> tuple[str, ...]:
    """The modules of everything that the evaluation of a module's own can get to by references, but for the prelude's.

    `stored` gives a module by its name.
    """
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


def read_index(session: Session, names: Sequence[str]) -> Known | None:
    """What `keep_index` has kept, if there is anything."""
    payload = session.cache.find(*_index_key(session, names))
    if payload is None:
        return None
    found = json.loads(payload)
    units = {
        name: Unit(  # type: ignore[call-arg]
            root, digest, tuple(imports), *digests, tuple(map(tuple, types)), settled, tuple(reach)
        )
        for name, (root, digest, imports, *digests, types, settled, reach) in found["units"].items()
    }
    files = [(module, path, digest) for module, path, digest in found["files"]]
    return Known(units, files, [(module, digest) for module, digest in found["locks"]])
