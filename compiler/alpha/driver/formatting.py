"""Formats modules in place: only those whose text changes are written, each at once or not at all."""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path

from alpha.base.regular import read_regular
from alpha.check.source_roots import SUFFIX, modules_below
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver.artifact import OutputFile, write_all
from alpha.driver.errors import UsageError, reason
from alpha.driver.packages import own_roots
from alpha.syntax.format import format_module
from alpha.syntax.parse import parse_module
from alpha.syntax.source import read_source


def format_text(path: str, data: bytes) -> str:
    """The formatted text of one module; `path` is the name that messages show."""
    return format_module(parse_module(read_source(data, path)))


def format_files(paths: Sequence[Path], diagnostics: Diagnostics, write: bool) -> list[Path]:
    """Formats the modules that `paths` name; the files whose text changed, or would if `write` is off.

    A module that does not parse is reported and stays as it is; the others are formatted.
    """
    changed = []
    for path in _files(paths):
        try:
            data = read_regular(path)
        except OSError as failure:
            raise UsageError(f"cannot read `{path}`: {reason(failure)}") from failure
        try:
            formatted = format_text(str(path), data).encode()
        except Refused as refused:
            for diagnostic in refused.diagnostics:
                diagnostics.report(diagnostic)
            continue
        if formatted != data:
            changed.append(path)
            if write:
                write_all([OutputFile(path, formatted, mode=stat.S_IMODE(path.stat().st_mode))])
    return changed


def _files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            for root in own_roots(path):
                found += [file for _, file in sorted(modules_below(root, root))]
        elif not path.exists():
            raise UsageError(f"there is no file or folder `{path}`")
        elif path.suffix != SUFFIX:
            raise UsageError(f"`{path}` is not a module: its name does not end in {SUFFIX}")
        else:
            found.append(path)
    return list(dict.fromkeys(_shown(path) for path in found))


def _shown(path: Path) -> Path:
    """Relative to the current folder where it lies below it."""
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path
