"""Writes the files of a build: all of them or none, the old ones whole until every new one is on the disk.

Each file is written and synced under a temporary name beside its place. Only then are they renamed, the executable
last; if a rename fails, the ones before it are undone from hard links of the old files. A kill between two renames
leaves whole files only, and the next build clears what it left.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Collection, Sequence
from pathlib import Path

from alpha.base.record import record
from alpha.diagnostics.diagnostic import Refused
from alpha.driver import errors

_TEMPORARY = re.compile(r"^\..+\.alpha-(?P<process>\d+)-[0-9a-f]{8}\.tmp$")


@record
class OutputFile:
    """`mode` keeps the permissions of a file that is rewritten; else the umask decides."""

    path: Path
    data: bytes
    executable: bool = False
    mode: int | None = None


@record
class Replaced:
    """A place that has, or is about to get, its new file. `old` is a second name of the file that was there."""

    path: Path
    existed: bool
    old: Path | None


def require_writable_place(path: Path, inputs: Collection[Path]) -> None:
    """Refuses an output that is a folder, a device, or one of the files the build has read."""
    try:
        real = path.resolve()
        is_folder = stat.S_ISDIR(real.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        is_folder = False  # writing it makes the folders, or says which part of the path is a file
    except (OSError, RuntimeError) as failure:  # a name that is too long, a loop of links
        why = errors.reason(failure) if isinstance(failure, OSError) else "it is a loop of links"
        raise errors.OutputPlace(f"the output `{path}` cannot be written: {why}") from failure
    if is_folder:
        raise errors.OutputPlace(f"the output `{path}` is a folder; name a file")
    if real.exists() and not real.is_file():
        raise errors.OutputPlace(f"the output `{path}` is not a regular file")
    if any(_same(real, given) for given in inputs):
        raise errors.OutputPlace(
            f"the output `{path}` would replace an input of the build; choose another name"
        )


def write_all(files: Sequence[OutputFile]) -> None:
    """Replaces all `files` or none. The last one is renamed last. A failure is R0507."""
    pending: list[tuple[Path, Path]] = []
    undo: list[Replaced] = []
    made: list[Path] = []
    path = files[-1].path
    try:
        for file in files:
            path = file.path
            _make_folder(path.parent, made)
            _clear_old_temporaries(path.parent)
            pending.append((_write_temporary(file), path.resolve()))
        for temporary, path in pending:
            undo.append(Replaced(path, path.exists(), _keep_old(path)))
            temporary.replace(path)
        for folder in {path.parent for _, path in pending}:
            _sync_folder(folder)
    except OSError as failure:
        _roll_back(undo, made, pending)
        raise Refused(errors.write_failed(path, failure)) from failure
    except BaseException:  # an interruption
        _roll_back(undo, made, pending)
        raise
    for replaced in undo:
        if replaced.old is not None:
            _remove(replaced.old)


def _write_temporary(file: OutputFile) -> Path:
    temporary = _temporary_name(file.path)
    mode = 0o777 if file.executable else 0o666  # the umask takes its part
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(file.data)
            stream.flush()
            if file.mode is not None:
                os.fchmod(stream.fileno(), file.mode)
            os.fsync(stream.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _keep_old(path: Path) -> Path | None:
    """A second name for the file that is about to be replaced; None where there is none or links are not supported."""
    old = _temporary_name(path)
    try:
        os.link(path, old)
    except OSError:
        return None
    return old


def _roll_back(
    undo: Sequence[Replaced], made: Sequence[Path], pending: Sequence[tuple[Path, Path]]
) -> None:
    for replaced in reversed(undo):
        if replaced.old is not None:
            with contextlib.suppress(OSError):
                replaced.old.replace(replaced.path)
            _remove(replaced.old)  # two names of one file: the rename above did nothing
        elif not replaced.existed:
            _remove(replaced.path)
    for temporary, _ in pending:
        _remove(temporary)
    for folder in reversed(made):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _make_folder(folder: Path, made: list[Path]) -> None:
    """Makes a folder and the missing ones above it, and notes them so that a failure takes them away again."""
    for place in [*reversed(folder.parents), folder]:
        if not place.exists():
            place.mkdir()
            made.append(place)


def _temporary_name(path: Path) -> Path:
    real = path.resolve()
    return real.with_name(f".{real.name}.alpha-{os.getpid()}-{secrets.token_hex(4)}.tmp")


def _clear_old_temporaries(folder: Path) -> None:
    """Removes what builds that were killed left behind; those of living processes stay."""
    for entry in os.scandir(folder):
        found = _TEMPORARY.match(entry.name)
        if found and not Path("/proc", found["process"]).exists():
            _remove(Path(entry.path))


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _same(path: Path, other: Path) -> bool:
    try:
        first, second = path.stat(), other.stat()
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino) and stat.S_ISREG(
        first.st_mode
    )
