"""What commands keep between them, such as compiled objects, by the digest of everything it is made from.

An entry is the SHA-256 of its payload, a newline, and the payload. It is written under a temporary name and renamed,
so a reader sees a whole entry or none, whatever other builds do at the same time; it is verified on every read, so a
damaged one is only slow. Nothing depends on the cache: where it cannot be read or written the object is made again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from alpha.base.digest import sha256, sha256_text
from alpha.base.record import record

_HEAD = 65


@record
class Cache:
    """`folder` is made when the first entry is kept."""

    folder: Path

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
        return _read(self._entry(key))

    def _entry(self, key: tuple[str, ...]) -> Path:
        return self.folder / sha256_text("\0".join(key))


def user_cache(environment: Mapping[str, str]) -> Path:
    """The folder of the user's cache, by the XDG base directory specification 0.8."""
    given = environment.get("XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given) / "alpha"
    home = environment.get("HOME", "")
    return Path(home or "/nonexistent") / ".cache" / "alpha"


def _read(entry: Path) -> bytes | None:
    try:
        stored = entry.read_bytes()
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
