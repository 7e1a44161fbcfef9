"""Philox4x32-10, keys and draws, on whole arrays (specification, section 13)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy

from semantics.numerics import F32, Array, cos, log, sin

Key = tuple[int, int, int]
"""k0, k1, step."""

_WORD = numpy.uint64(0xFFFFFFFF)
_SHIFT = numpy.uint64(32)
_MULTIPLIERS = (numpy.uint64(0xD2511F53), numpy.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)


def philox(c0: Any, c1: Any, c2: Any, c3: Any, key: tuple[int, int]) -> tuple[Array, ...]:
    """The four words (uint64 arrays below 2^32) of counters that broadcast together."""
    x0, x1, x2, x3 = (
        numpy.asarray(word, dtype=numpy.uint64) for word in numpy.broadcast_arrays(c0, c1, c2, c3)
    )
    k0, k1 = key
    for _ in range(10):
        left = x0 * _MULTIPLIERS[0]
        right = x2 * _MULTIPLIERS[1]
        x0 = (right >> _SHIFT) ^ x1 ^ numpy.uint64(k0)
        x1 = right & _WORD
        x2 = (left >> _SHIFT) ^ x3 ^ numpy.uint64(k1)
        x3 = left & _WORD
        k0 = (k0 + _WEYL[0]) % (1 << 32)
        k1 = (k1 + _WEYL[1]) % (1 << 32)
    return x0, x1, x2, x3


def child(key: Key, tag: int, index: int) -> Key:
    first, second, _, _ = philox(index % (1 << 32), index >> 32, tag, 1, key[:2])
    return int(first), int(second), key[2]


def root(seed: int) -> Key:
    return seed % (1 << 32), (seed >> 32) % (1 << 32), 0


def initialiser_key(seed: int, path: str) -> Key:
    """The key of the parameter `path` (`w1`, `blocks.qkv`)."""
    first = hashlib.sha256(path.encode("utf-8")).digest()[:8]
    return child(root(seed), 3, int.from_bytes(first, "little"))


def step_key(seed: int, step: int) -> Key:
    """The key that `loss` gets in step `step`."""
    k0, k1, _ = child(root(seed), 5, 0)
    return k0, k1, step


def _words(key: Key, count: int) -> Array:
    """The words of elements 0 ... count - 1, rounded up to whole blocks."""
    blocks = numpy.arange((count + 3) // 4, dtype=numpy.uint64)
    words = philox(blocks & _WORD, blocks >> _SHIFT, key[2], 0, key[:2])
    return numpy.stack(words, axis=-1).reshape(-1)


def uniform(key: Key, shape: tuple[int, ...]) -> Array:
    count = int(numpy.prod(shape, dtype=numpy.int64))
    words = _words(key, count)[:count]
    return ((words >> numpy.uint64(8)).astype(F32) * F32(2.0**-24)).reshape(shape)


def normal(key: Key, shape: tuple[int, ...]) -> Array:
    count = int(numpy.prod(shape, dtype=numpy.int64))
    pairs = _words(key, count).reshape(-1, 2) >> numpy.uint64(8)
    u = (pairs[:, 0] + numpy.uint64(1)).astype(F32) * F32(2.0**-24)
    rho = numpy.sqrt(F32(-2) * log(u))
    phi = (pairs[:, 1].astype(F32) * F32(2.0**-24)) * F32(6.2831855)
    values = numpy.stack([rho * cos(phi), rho * sin(phi)], axis=-1).reshape(-1)
    return values[:count].reshape(shape)
