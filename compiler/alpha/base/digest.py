"""SHA-256 as lower-case hexadecimal text: the one digest of locks, manifests and caches."""

from __future__ import annotations

import hashlib


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_text(text: str) -> str:
    """The digest of the UTF-8 form of `text`."""
    return sha256(text.encode("utf-8", "surrogatepass"))
