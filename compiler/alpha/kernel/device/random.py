"""The templates of keys and draws. A key is made by one thread; a draw has a thread for each of its elements."""

from __future__ import annotations

from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.device.threads import FOLDING, MOVING, each
from alpha.kernel.direct.random import DRAWS, WEIGHTS, Drawn, derived, word
from alpha.kernel.direct.site import Site
from alpha.kernel.node import Kernel

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
    element = DRAWS[site.node.operation]
    with each(builder, site.count, FOLDING) as place:
        words = [builder.load(source, index(number)) for number in range(WORDS)]
        drawn = Drawn(builder, words, place, 1, site.count)
        builder.store(target, place, element(drawn))
    return site.kernel(builder, WEIGHTS[site.node.operation] * site.count, parallel=False)
