"""What is known of each module of a large package, kept from one check to the next.

One entry of the cache, the index, lists the modules of the last whole answer; each module has an entry with its
interface and its core, read when it is needed. An entry is only ever found by the digest of everything it was made
from, so nothing that other processes do can make an answer wrong.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from alpha.base.digest import sha256, sha256_text
from alpha.base.record import field, record
from alpha.check.interfaces import (
    Stored,
    owned,
    pack,
    store,
)
from alpha.check.modules import PRELUDE, LoadedModule
from alpha.check.scope import Registry
from alpha.check.source_roots import Found
from alpha.core import term
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


def keep(
    session: Session,
    names: Sequence[str],
    modules: Sequence[LoadedModule],
    program: term.Program,
    registry: Registry,
    files: FileAccess,
) -> None:
    """Keeps what a whole check without anything to say has found."""
    if not worthwhile(len(modules)) or files.faults:
        return
    labels = {}
    for module in modules:
        found = only(session, module.name)
        if found is None or found.file != module.path:
            return
        labels[module.name] = found.root.label
    symbols = owned(registry)
    stored = {module.name: store(module, registry, symbols) for module in program.modules}
    homes = Homes(stored)
    known = Known({})
    for module, core in zip(modules, program.modules, strict=True):
        one = stored[module.name]
        key = key_of(module.name, labels[module.name], module.digest, module.imports, known.units)
        interface = interface_of(module.name, one, homes, known.units)
        reach = reach_of(module.name, homes, lambda name: stored[name])
        known.units[module.name] = Unit(
            labels[module.name], module.digest, module.imports, key, interface, reach
        )
        keep_unit(session, key, core, one)
    keep_index(session, names, known, files)


def keep_unit(session: Session, key: str, core: term.Module, stored: Stored) -> None:
    session.cache.keep("unit", key, payload=pack(stored, core.budget))


def keep_index(session: Session, names: Sequence[str], known: Known, files: FileAccess) -> None:
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


def key_of(
    name: str, root: str, digest: str, imports: Sequence[str], units: Mapping[str, Unit]
) -> str:
    seen = [units[each].interface for each in (*PRELUDE, *imports) if each in units]
    return sha256_text("\n".join((fingerprint(), name, root, digest, *seen)))


def interface_of(name: str, stored: Stored, homes: Homes, units: Mapping[str, Unit]) -> str:
    """The digest of an interface and of those that it mentions: a type is what it is declared as elsewhere."""
    others = sorted({homes.of(text) for text in stored.mentioned} - {"", name, *PRELUDE})
    parts = [units[other].interface for other in others if other in units]
    return sha256_text("\n".join((sha256(stored.interface), *parts)))


class Homes:
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


def reach_of(name: str, homes: Homes, stored: Any) -> tuple[str, ...]:
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


def read_index(session: Session, names: Sequence[str]) -> Known:
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


def only(session: Session, name: str) -> Found | None:
    """The file of a module; None unless there is exactly one."""
    candidates = session.roots.candidates(name)
    return candidates[0] if len(candidates) == 1 else None
