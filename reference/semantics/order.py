"""The order of examples: a keyed permutation of the places of an epoch (specification, section 13)."""

from __future__ import annotations

from functools import cache

import numpy

from semantics.numerics import Array
from semantics.philox import child, philox, root

ROUNDS = 6


def epoch_order(seed: int, epoch: int, examples: int, shuffle: str) -> Array:
    """The example at each place 0 ... examples - 1 of an epoch (from 0). `shuffle` is `EachEpoch` or `InOrder`."""
    places = numpy.arange(examples, dtype=numpy.uint64)
    if shuffle == "InOrder":
        return places.astype(numpy.int64)
    key = child(root(seed), 4, epoch)
    half = 1
    while (1 << (2 * half)) < examples:
        half += 1
    mask = numpy.uint64((1 << half) - 1)
    bits = numpy.uint64(half)

    def walk(x: Array) -> Array:
        left, right = x >> bits, x & mask
        for round_ in range(ROUNDS):
            word = philox(right, round_, 0, 2, key[:2])[0]
            left, right = right, left ^ (word & mask)
        return (left << bits) | right

    found = walk(places)
    while (outside := found >= examples).any():
        found = numpy.where(outside, walk(found), found)
    return found.astype(numpy.int64)


@cache
def _epoch(seed: int, epoch: int, examples: int, shuffle: str) -> Array:
    return epoch_order(seed, epoch, examples, shuffle)


def batch_rows(seed: int, step: int, batch: int, examples: int, shuffle: str) -> Array:
    """The examples of step `step` (from 1), in order."""
    batches = examples // batch
    order = _epoch(seed, (step - 1) // batches, examples, shuffle)
    first = ((step - 1) % batches) * batch
    return order[first : first + batch]
