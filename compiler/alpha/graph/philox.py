"""Philox4x32-10 and the derivation of keys, in exact integers (specification, section 13).

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import hashlib

Words = tuple[int, int, int, int]
Key = tuple[int, int, int]
"""k0, k1, step; each a u32."""

MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
ROUNDS = 10

TAG_SPLIT = 1
TAG_DERIVE = 2
TAG_INITIALISER = 3
# 4, 5 and 6 are derived as a program runs: order, step and sample (`runtime/source/order.rt`)
TAG_FROM = 7

_WORD = 0xFFFFFFFF


def philox(counter: Words, key: tuple[int, int]) -> Words:
    """The four words of a counter under a key."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        product0 = MULTIPLIERS[0] * c0
        product1 = MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (product1 >> 32) ^ c1 ^ k0,
            product1 & _WORD,
            (product0 >> 32) ^ c3 ^ k1,
            product0 & _WORD,
        )
        k0 = (k0 + WEYL[0]) & _WORD
        k1 = (k1 + WEYL[1]) & _WORD
    return c0, c1, c2, c3


def words(key: Key, block: int) -> Words:
    """The four words of block `block` of a draw from `key`."""
    return philox((block & _WORD, block >> 32, key[2], 0), key[:2])


def child(key: Key, tag: int, index: int) -> Key:
    """The key derived for (tag, index); it keeps the step. `index` is below 2^64."""
    k0, k1, _, _ = philox((index & _WORD, index >> 32, tag, 1), key[:2])
    return k0, k1, key[2]


def root(seed: int) -> Key:
    """The key of a run's seed, which is taken mod 2^64."""
    return seed & _WORD, (seed >> 32) & _WORD, 0


def key_from(number: int) -> Key:
    """`keyFrom n`."""
    return child(root(number), TAG_FROM, 0)


def initialiser_key(seed: int, path: str) -> Key:
    """The key of the parameter whose path is `path` (`w1`, `blocks.qkv`)."""
    digest = hashlib.sha256(path.encode("utf-8")).digest()
    return child(root(seed), TAG_INITIALISER, int.from_bytes(digest[:8], "little"))
