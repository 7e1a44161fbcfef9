"""The one place where evaluation reads files: below the source root of a module, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from alpha.base.digest import sha256
from alpha.base.record import field, record

LOCK = "alpha.lock"
_LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<path>[^\n]+)")


class FileFault(Exception):
    """A file that cannot be read; the text says why, as the end of a sentence that begins with its path."""


@record
class Read:
    """One file that was read: its path below the source root, and the SHA-256 of its bytes."""

    path: str
    digest: str


@record(frozen=False)
class FileAccess:
    """Reads files for the modules of one session. `roots` maps a module's name to the source root it came from.

    A path is relative, with `/` between its parts, without `..`; a symlink must not lead out of the root. `reads` are
    the files read so far, each once, in the order of first use: the manifest lists them. `faults` counts those that
    could not be read.
    """

    roots: Mapping[str, Path]
    _read: dict[tuple[Path, str], bytes] = field(default_factory=dict)
    _reads: dict[tuple[Path, str], Read] = field(default_factory=dict)
    _locks: dict[Path, tuple[str, dict[str, str]]] = field(default_factory=dict)
    faults: int = 0

    @staticmethod
    def of_modules(paths: Mapping[str, Path]) -> FileAccess:
        """Access for modules whose files are given: module `A.B` in `R/A/B.alpha` has the root `R`."""
        return FileAccess({name: path.parents[name.count(".")] for name, path in paths.items()})

    @property
    def reads(self) -> tuple[Read, ...]:
        return tuple(self._reads.values())

    def all_reads(self) -> list[tuple[Path, Read]]:
        """The same with the source root of each."""
        return [(root, read) for (root, _), read in self._reads.items()]

    def locks(self) -> list[tuple[Path, str]]:
        """The source roots whose locks were looked at, with the digest of each, as `lock_digest` gives it."""
        return [(root, digest) for root, (digest, _) in self._locks.items()]

    def read(self, module: str, path: str) -> bytes:
        """The bytes of a file. Raises FileFault."""
        root = self._root(module)
        key = (root, path)
        if key not in self._read:
            try:
                data = self._bytes(root, path)
            except FileFault:
                self.faults += 1
                raise
            self._read[key] = data
            self._reads[key] = Read(path, sha256(data))
        return self._read[key]

    def beside(self, module: str, path: str) -> str | None:
        """The path, from the source root, of a file that `path` names from the module's own folder, if it is there."""
        found = str(PurePosixPath(*module.split(".")[:-1], path))
        try:
            self._bytes(self._root(module), found)
        except FileFault:
            return None
        return found if found != path else None

    def digest(self, module: str, path: str) -> str:
        """The SHA-256 of a file's bytes. Raises FileFault."""
        return sha256(self.read(module, path))

    def locked(self, module: str, path: str) -> str | None:
        """The digest that the lock of the source root has for a file; None without a line for it."""
        return self._lock(module)[1].get(path)

    def lock_digest(self, module: str) -> str:
        """The SHA-256 of the lock of the source root; empty where there is none that can be read."""
        return self._lock(module)[0]

    def _lock(self, module: str) -> tuple[str, dict[str, str]]:
        root = self._root(module)
        if root not in self._locks:
            self._locks[root] = read_lock(root)
        return self._locks[root]

    def _root(self, module: str) -> Path:
        root = self.roots.get(module)
        if root is None:
            raise FileFault("belongs to a module without a source root")
        return root

    @staticmethod
    def _bytes(root: Path, path: str) -> bytes:
        parts = PurePosixPath(path).parts
        if not parts or path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
            raise FileFault("is not a path below the source root")
        base = root.resolve()
        try:
            real = (base / path).resolve(strict=True)
        except (OSError, RuntimeError):
            raise FileFault("is not there") from None
        if not real.is_relative_to(base):
            raise FileFault("leads out of the source root")
        if not real.is_file():
            raise FileFault("is not a file")
        try:
            return real.read_bytes()
        except OSError as error:
            raise FileFault(f"cannot be read: {error.strerror}") from None


def read_lock(folder: Path) -> tuple[str, dict[str, str]]:
    """The digest of the lock in `folder`, and the digest of each path that it lists; empty where there is none."""
    try:
        data = (folder / LOCK).read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return "", {}
    matches = map(_LINE.fullmatch, text.splitlines())
    return sha256(data), {match["path"]: match["digest"] for match in matches if match}
