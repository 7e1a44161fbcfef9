"""Numeric tables of the runtime, computed exactly with Python's integers."""

from __future__ import annotations

import math


def _primes(count: int) -> list[int]:
    found: list[int] = []
    candidate = 2
    while len(found) < count:
        if all(candidate % prime for prime in found):
            found.append(candidate)
        candidate += 1
    return found


def _cube_root(n: int) -> int:
    low, high = 0, 1 << (n.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**3 <= n:
            low = middle
        else:
            high = middle - 1
    return low


SHA_ROUNDS = [_cube_root(prime << 96) & 0xFFFFFFFF for prime in _primes(64)]
"""FIPS 180-4: the first 32 bits of the fractions of the cube roots of the first 64 primes."""

SHA_INITIAL = [math.isqrt(prime << 64) & 0xFFFFFFFF for prime in _primes(8)]
"""The same of the square roots of the first 8."""
