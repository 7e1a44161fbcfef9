"""Checks that found nothing, remembered from one command to the next.

The key of an entry is the compiler, the source roots and the names of the modules that were checked. The entry lists
everything that the check has read: the modules it loaded, the files that evaluation read, and the locks, each with the
digest of the bytes that were used. It holds as long as all of that is found again, by the code that found it first,
with the same bytes. So what can change the answer is compared each time, and nothing else: a module beside those that
were loaded does not matter until one of the same name comes into reach.

Only a check without any diagnostic is remembered, a warning being part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from alpha.base.digest import sha256
from alpha.check.source_roots import Found, SourceRoots
from alpha.driver.cache import Cache
from alpha.driver.identity import fingerprint
from alpha.evaluate.files import FileAccess, FileFault

_SEPARATOR = "\t"


def is_known(cache: Cache, roots: SourceRoots, names: Sequence[str]) -> bool:
    """Whether a check of the modules `names` is known to find nothing, from files that are as they were then."""
    if not fingerprint():
        return False
    entry = cache.find(*_key(roots, names))
    if entry is None:
        return False
    lines = [line.split(_SEPARATOR) for line in entry.decode("utf-8", "surrogatepass").splitlines()]
    paths = {}
    for kind, digest, name, root in lines:
        if kind == "module":
            found = roots.only(name)
            if found is None or (_number(roots, found), _digest(found.file)) != (root, digest):
                return False
            paths[name] = found.file
    files = FileAccess.of_modules(paths)
    try:
        return all(
            files.lock_digest(name) == digest
            if kind == "lock"
            else kind == "module" or files.digest(name, path) == digest
            for kind, digest, name, path in lines
        )
    except FileFault:
        return False


def remember(
    cache: Cache,
    roots: SourceRoots,
    names: Sequence[str],
    modules: Mapping[str, tuple[Path, str]],
    files: FileAccess,
) -> None:
    """Keeps that a check of `names` has found nothing.

    `modules` are those it loaded, with the file and the digest of each. A check that depends on more than what an entry
    can say is not kept: where a module hides an equal one, or a file could not be read.
    """
    if not fingerprint() or files.faults:
        return
    lines = []
    module_of = {}
    for name, (path, digest) in modules.items():
        found = roots.only(name)
        if found is None or found.file != path:
            return
        lines.append(("module", digest, name, _number(roots, found)))
        module_of[files.roots[name]] = name
    lines += [("file", read.digest, module_of[root], read.path) for root, read in files.all_reads()]
    lines += [("lock", digest, module_of[root], "") for root, digest in files.locks()]
    if any(_SEPARATOR in part or len(part.splitlines()) > 1 for line in lines for part in line):
        return
    text = "\n".join(_SEPARATOR.join(line) for line in lines)
    cache.keep(*_key(roots, names), payload=text.encode("utf-8", "surrogatepass"))


def _key(roots: SourceRoots, names: Sequence[str]) -> tuple[str, ...]:
    return "check", fingerprint(), places_of(roots), "\n".join(names)


def places_of(roots: SourceRoots) -> str:
    """The source roots, where they lie, as a part of a key."""
    places = [
        f"{root.label}{_SEPARATOR}{root.own}{_SEPARATOR}{root.shipped}{_SEPARATOR}{root.folder.resolve()}"
        for root in roots.roots
    ]
    return "\n".join(places)


def _number(roots: SourceRoots, found: Found) -> str:
    """Which of the roots a module was found in."""
    return str(roots.roots.index(found.root))


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes())
    except OSError:
        return ""
