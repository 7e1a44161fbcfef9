"""The templates of keys and draws. A key is made by one thread; a draw has a thread for each block of four elements."""

from __future__ import annotations

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.threads import FOLDING, MOVING, each
from alpha.kernel.direct.random import (
    DRAWS,
    WEIGHTS,
    Drawn,
    derived,
    number_of,
    philox,
    word,
)
from alpha.kernel.direct.site import Site
from alpha.kernel.node import QUAD, Kernel

WORDS = 3
"""Words of a key."""


def key(site: Site) -> Kernel:
    builder = KernelBuilder()
    target = builder.writes(site.result)
    with each(builder, 1, MOVING):
        for place, name in enumerate(("k0", "k1", "step")):
            builder.store(target, index(place), word(site.integer(name)))
    return site.kernel(builder, WORDS, parallel=False)


def derive_key(site: Site) -> Kernel:
    builder = KernelBuilder()
    source = builder.reads(site.buffer(0))
    number = builder.reads(site.buffer(1)) if len(site.operands) == 2 else None
    target = builder.writes(site.result)
    with each(builder, 1, MOVING):
        for place, value in enumerate(derived(builder, site, source, number)):
            builder.store(target, index(place), value)
    return site.kernel(builder, WORDS, parallel=False)


def draw(site: Site) -> Kernel:
    builder = KernelBuilder()
    source, target = builder.reads(site.buffer(0)), builder.writes(site.result)
    element, count = DRAWS[site.node.operation], site.count
    blocks = -(-count // QUAD)
    with each(builder, blocks, FOLDING) as block:
        k0, k1, step = (builder.load(source, index(number)) for number in range(WORDS))
        low, upper = number_of(builder, block, count)
        words = philox(builder, (low, upper, step, word(0)), (k0, k1))
        values = [element(Drawn(builder, words, word(lane))) for lane in range(QUAD)]
        place = builder.scaled(block, QUAD)
        if count % QUAD == 0:
            builder.store(target, place, builder.pack(values))
        else:
            for lane, value in enumerate(values[:count]):
                there = builder.add(place, index(lane))
                with builder.below(there, count, (blocks - 1) * QUAD + lane):
                    builder.store(target, there, value)
    return site.kernel(builder, WEIGHTS[site.node.operation] * count, parallel=False)
