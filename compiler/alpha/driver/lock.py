"""`alpha.lock`: the SHA-256 of every file that the modules of a source root cite.

The form is that of sha256sum, so `sha256sum -c alpha.lock` checks it too: 64 hexadecimal digits, two spaces, the path
relative to the source root; sorted by path. It needs only that the modules parse.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from alpha.base.digest import sha256
from alpha.base.record import fields, is_record, record
from alpha.base.regular import read_regular
from alpha.base.span import Span
from alpha.check.source_roots import modules_below
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver import errors
from alpha.driver.artifact import OutputFile, write_all
from alpha.driver.errors import UsageError, reason
from alpha.driver.packages import own_roots
from alpha.evaluate.files import LOCK
from alpha.syntax import tree
from alpha.syntax.parse import parse_module
from alpha.syntax.source import read_source

SOURCES = frozenset({"csv", "idx", "npy", "bytes", "Weights"})
"""What reads a file that its argument names."""


@record
class Citation:
    """A file that a module names: `path` is relative to the source root, `record` marks a run record."""

    path: str
    span: Span
    record: bool


def write_locks(package: Path, diagnostics: Diagnostics, write: bool) -> list[Path]:
    """Writes the lock of each of the package's source roots; those that changed, or would if `write` is off.

    Nothing is written if a module does not parse or a cited file is missing.
    """
    texts: dict[Path, str] = {}
    for root in own_roots(package):
        text = _lock_text(root, diagnostics)
        if text or (root / LOCK).exists():
            texts[root / LOCK] = text
    if diagnostics.errors:
        return []
    changed = [path for path, text in texts.items() if _held(path) != text.encode()]
    if write and changed:
        write_all([OutputFile(path, texts[path].encode()) for path in changed])
    return [path.relative_to(package) for path in changed]


def _held(lock: Path) -> bytes | None:
    """What a lock holds now; None if nothing is there. A lock that cannot be read is a usage error."""
    try:
        return read_regular(lock)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise UsageError(f"cannot read `{lock}`: {reason(failure)}") from failure


def cited(module: tree.Module) -> Iterator[Citation]:
    """The files a module names: `file` below a data source or `Weights`, and the argument of `run`."""
    for node in _nodes(module.items):
        match node:
            case tree.Apply(function=tree.Var(name="run"), arguments=(tree.Text() as path,)):
                yield Citation(path.value, path.span, True)
            case tree.Apply(function=tree.Var(name=name) | tree.Con(name=name)) if name in SOURCES:
                yield from _file_fields(node)
            case _:
                pass


def _file_fields(call: tree.Apply) -> Iterator[Citation]:
    for node in _nodes(call.arguments):
        if isinstance(node, tree.Field) and node.name.text == "file":
            value = node.value
            inner = value.value if isinstance(value, tree.Body) and not value.lets else value
            if isinstance(inner, tree.Text):
                yield Citation(inner.value, inner.span, False)


def _lock_text(root: Path, diagnostics: Diagnostics) -> str:
    digests: dict[str, str] = {}
    for _, file in sorted(modules_below(root, root)):
        shown = str(file.relative_to(root))
        try:
            module = parse_module(read_source(read_regular(file), shown))
        except OSError as failure:
            raise UsageError(f"cannot read `{shown}`: {reason(failure)}") from failure
        except Refused as refused:
            for diagnostic in refused.diagnostics:
                diagnostics.report(diagnostic)
            continue
        for citation in cited(module):
            try:
                digests[citation.path] = sha256(read_regular(_inside(root, citation)))
            except OSError as failure:
                diagnostics.report(
                    errors.cited_file(
                        citation.path, _beside(root, file, citation), citation.span, failure
                    )
                )
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests))


def _beside(root: Path, module: Path, citation: Citation) -> str | None:
    """What a path names from its module's own folder, as a path from the root, if it is there."""
    path = str(PurePosixPath(module.parent.relative_to(root).as_posix(), citation.path))
    found = Citation(path, citation.span, citation.record) if path != citation.path else None
    try:
        return path if found is not None and _inside(root, found).is_file() else None
    except OSError:
        return None


def _inside(root: Path, citation: Citation) -> Path:
    """The cited file. A path that leaves the root, by itself or through a link, names nothing."""
    path = PurePosixPath(citation.path)
    if path.is_absolute() or ".." in path.parts or "\n" in citation.path:
        raise FileNotFoundError(2, "the path leaves the source root")
    base = root.resolve()
    real = (base / path).resolve()
    if not real.is_relative_to(base):
        raise FileNotFoundError(2, "a link on the path leaves the source root")
    return real


def _nodes(start: object) -> Iterator[object]:
    """Every node of a tree, parents first."""
    pending = [start]
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending += reversed(node)
        elif is_record(node) and isinstance(node, tree.Node):
            yield node
            pending += [getattr(node, f.name) for f in reversed(fields(node)) if f.name != "span"]
