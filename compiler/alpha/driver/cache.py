"""What commands keep between them, such as compiled objects, by the digest of everything it is made from.

An entry is the SHA-256 of its payload, a newline, and the payload. It is written under a temporary name and renamed,
so a reader sees a whole entry or none, whatever other builds do at the same time; it is verified on every read, so a
damaged one is only slow. Nothing depends on the cache: where it cannot be read or written the object is made again.
An entry becomes a part of what is built, so one that another user owns is none.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from alpha.base.digest import sha256, sha256_text
from alpha.base.record import record

_HEAD = 65


@record
class Cache:
    """`folder` is made when the first entry is kept. `shipped` entries lie with the compiler, whoever installed it."""

    folder: Path
    shipped: bool = False

    def get(self, *key: str, make: Callable[[], bytes]) -> bytes:
        """The payload for `key`: all texts that determine it, compiler and tool versions included."""
        found = self.find(*key)
        if found is None:
            found = make()
            self.keep(*key, payload=found)
        return found

    def keep(self, *key: str, payload: bytes) -> None:
        _write(self._entry(key), payload)

    def find(self, *key: str) -> bytes | None:
        return _read(self._entry(key), self.shipped)

    def _entry(self, key: tuple[str, ...]) -> Path:
        return self.folder / sha256_text("\0".join(key))


def user_cache(environment: Mapping[str, str]) -> Path:
    """The folder of the user's cache, by the XDG base directory specification 0.8.

    Without a home it is a place in which nobody can make a folder.
    """
    given = Path(environment.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        return given / "alpha"
    home = Path(environment.get("HOME", ""))
    return (home / ".cache" if home.is_absolute() else Path(os.devnull)) / "alpha"


def _read(entry: Path, shipped: bool) -> bytes | None:
    try:
        # a pipe is not waited for
        with os.fdopen(os.open(entry, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not (shipped or found.st_uid == os.geteuid()):
                return None
            stored = file.read()
    except OSError:
        return None
    payload = stored[_HEAD:]
    return payload if stored[:_HEAD] == f"{sha256(payload)}\n".encode() else None


def _write(entry: Path, payload: bytes) -> None:
    temporary = entry.with_name(f"{entry.name}.{os.urandom(8).hex()}.tmp")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            file.write(f"{sha256(payload)}\n".encode())
            file.write(payload)
        temporary.replace(entry)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
