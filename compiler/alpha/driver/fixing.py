"""`alpha fix`: the safe fixes of everything that a check finds, carried out until there are none left.

All of it happens in memory: a round checks the modules as they would be, applies the safe fixes that do not overlap,
and the next round checks the result. A fix that would make a module unreadable, or put an error into a program that
had none, is given up. So what is written at the end has nothing left to fix, and a second run changes nothing.
"""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from pathlib import Path

from alpha.base.record import record
from alpha.base.regular import read_regular
from alpha.base.span import Source
from alpha.diagnostics.diagnostic import Diagnostic, Diagnostics, Fix, Refused, Severity
from alpha.diagnostics.edits import applied, compatible, safe_fixes
from alpha.driver.artifact import OutputFile, write_all
from alpha.driver.checking import check
from alpha.driver.errors import UsageError
from alpha.driver.session import Session
from alpha.syntax.parse import parse_module
from alpha.syntax.source import read_source

ROUNDS = 20
"""More than any chain of fixes that make each other possible."""


@record
class Fixed:
    """One module: its file, the name that people see, and its bytes before and after."""

    path: Path
    shown: str
    before: bytes
    after: bytes


@record
class Fixing:
    """What the safe fixes come to. `count` is how many were applied; `left` is what a check would still report."""

    files: tuple[Fixed, ...]
    count: int
    left: tuple[Diagnostic, ...]

    @property
    def errors(self) -> int:
        return sum(item.severity is Severity.ERROR for item in self.left)


def fix(session: Session, names: Sequence[str]) -> Fixing:
    """The safe fixes of the modules `names`, none of them written. Modules that are not among them stay as they are."""
    places = _own_files(session, names)
    texts: dict[Path, bytes] = {}
    refused: set[tuple[str, str]] = set()
    count = 0
    found = _found(session, names, texts)
    for _ in range(ROUNDS):
        fixes = [
            fix
            for fix in safe_fixes(_first(found))
            if fix.span.source.path in places and _identity(fix) not in refused
        ]
        chosen = compatible(fixes)
        if not chosen:
            break
        tried = _with(chosen, places, texts)
        after = _found(session, names, tried)
        if not _is_better(found, after, chosen, tried, places):
            if len(chosen) > 1:  # one of them is to blame: they are tried one by one
                chosen, tried, after = _one_by_one(session, names, found, chosen, texts, places)
            else:
                chosen = ()
            refused |= {_identity(fix) for fix in fixes if fix not in chosen}
            if not chosen:
                continue
        texts, found, count = tried, after, count + len(chosen)
    files = []
    for shown, path in sorted(places.items()):
        if path in texts:
            before = read_regular(path)
            if before != texts[path]:
                files.append(Fixed(path, shown, before, texts[path]))
    return Fixing(tuple(files), count, tuple(found))


def diff(files: Iterable[Fixed]) -> str:
    """The changes as a unified diff that `patch -p1` reads."""
    parts = []
    for file in files:
        old, new = (
            data.decode("utf-8").splitlines(keepends=True) for data in (file.before, file.after)
        )
        for line in unified_diff(old, new, f"a/{file.shown}", f"b/{file.shown}"):
            ended = line.endswith("\n")
            parts.append(line if ended else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def write(files: Sequence[Fixed]) -> None:
    """Writes all of them or none. Refuses if one has changed since it was read."""
    for file in files:
        if read_regular(file.path) != file.before:
            raise UsageError(f"`{file.shown}` has changed meanwhile; run `alpha fix` again")
    if files:
        write_all(
            [
                OutputFile(file.path, file.after, mode=stat.S_IMODE(file.path.stat().st_mode))
                for file in files
            ]
        )


def _first(found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """The errors, if there are any: a misspelt use makes an import look unused."""
    return [item for item in found if item.severity is Severity.ERROR] or found


def _own_files(session: Session, names: Sequence[str]) -> dict[str, Path]:
    """The files of modules by the names that people see; what belongs to Alpha alone is never changed."""
    found = (next(iter(session.roots.candidates(name)), None) for name in names)
    return {place.shown: place.file for place in found if place is not None and place.root.own}


def _found(
    session: Session, names: Sequence[str], texts: Mapping[Path, bytes]
) -> tuple[Diagnostic, ...]:
    """What a check of the modules reports, `texts` standing for the files that were changed."""
    session.diagnostics = Diagnostics()
    try:
        check(session, names, texts)
    except Refused as refused:
        for diagnostic in refused.diagnostics:
            session.diagnostics.report(diagnostic)
    return tuple(session.diagnostics.items)


def _with(
    fixes: Sequence[Fix], places: Mapping[str, Path], texts: Mapping[Path, bytes]
) -> dict[Path, bytes]:
    changed = dict(texts)
    sources: dict[str, Source] = {fix.span.source.path: fix.span.source for fix in fixes}
    for shown, source in sources.items():
        own = [fix for fix in fixes if fix.span.source.path == shown]
        changed[places[shown]] = applied(source.text, own).encode("utf-8")
    return changed


def _is_better(
    before: Sequence[Diagnostic],
    after: Sequence[Diagnostic],
    fixes: Sequence[Fix],
    texts: Mapping[Path, bytes],
    places: Mapping[str, Path],
) -> bool:
    """Whether a program that had no error has none still, and every changed module that could be read still can."""
    if not _errors(before):
        return not _errors(after)
    return all(
        _parses(texts[places[source.path]], source.path) or not _parses(source.text.encode(), "")
        for source in {fix.span.source for fix in fixes}
    )


def _one_by_one(
    session: Session,
    names: Sequence[str],
    found: Sequence[Diagnostic],
    fixes: Sequence[Fix],
    texts: Mapping[Path, bytes],
    places: Mapping[str, Path],
) -> tuple[tuple[Fix, ...], dict[Path, bytes], tuple[Diagnostic, ...]]:
    kept: tuple[Fix, ...] = ()
    result, after = dict(texts), tuple(found)
    for fix in fixes:
        tried = _with((*kept, fix), places, texts)
        answer = _found(session, names, tried)
        if _is_better(found, answer, (fix,), tried, places):
            kept, result, after = (*kept, fix), tried, answer
    return kept, result, after


def _errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(item.severity is Severity.ERROR for item in diagnostics)


def _parses(data: bytes, shown: str) -> bool:
    try:
        parse_module(read_source(data, shown))
    except Refused:
        return False
    return True


def _identity(fix: Fix) -> tuple[str, str]:
    """The same fix in the next round, wherever it has moved to."""
    return fix.span.source.path, f"{fix.title}\n{fix.span.text}\n{fix.replacement}"
