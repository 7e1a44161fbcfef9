"""The templates of keys and draws: Philox4x32-10 in integer code (specification, section 13)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.graph.philox import MULTIPLIERS, ROUNDS, WEYL
from alpha.kernel.builder import IOTA, KernelBuilder, index
from alpha.kernel.direct.site import Site, splits
from alpha.kernel.elementary import F32, log, sine
from alpha.kernel.node import LANES, Atom, Constant, Kernel, Scalar, ValueType

Words = tuple[Atom, Atom, Atom, Atom]
TWO_PI = 6.2831854820251465
"""The f32 nearest to 6.2831855."""
UNIT = 2.0**-24
BLOCKS = 1 << 32
"""Blocks of four words that the low word of a counter tells apart."""
WEIGHTS = {"uniform": 60, "normal": 120}


def word(value: int, lanes: int = 1) -> Constant:
    return Constant(value, ValueType(Scalar.U32, lanes))


def philox(builder: KernelBuilder, counter: Words, key: tuple[Atom, Atom]) -> Words:
    """The four words of a counter under a key, in each lane."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    lanes = c0.type.lanes
    for turn in range(ROUNDS):
        if turn:
            k0 = builder.add(k0, word(WEYL[0], lanes))
            k1 = builder.add(k1, word(WEYL[1], lanes))
        m0, m1 = (word(value, lanes) for value in MULTIPLIERS)
        high0, low0 = builder.apply("mulHigh", c0, m0), builder.apply("mul", c0, m0)
        high1, low1 = builder.apply("mulHigh", c2, m1), builder.apply("mul", c2, m1)
        c0 = builder.apply("xor", builder.apply("xor", high1, c1), k0)
        c2 = builder.apply("xor", builder.apply("xor", high0, c3), k1)
        c1, c3 = low1, low0
    return c0, c1, c2, c3


def key(site: Site) -> Kernel:
    builder = KernelBuilder()
    target = builder.writes(site.result)
    for place, name in enumerate(("k0", "k1", "step")):
        builder.store(target, index(place), word(site.integer(name)))
    return site.kernel(builder, 3, parallel=False)


def derive_key(site: Site) -> Kernel:
    builder = KernelBuilder()
    source = builder.reads(site.buffer(0))
    number = builder.reads(site.buffer(1)) if len(site.operands) == 2 else None
    target = builder.writes(site.result)
    for place, value in enumerate(derived(builder, site, source, number)):
        builder.store(target, index(place), value)
    return site.kernel(builder, 3, parallel=False)


def derived(
    builder: KernelBuilder, site: Site, source: int, number: int | None
) -> tuple[Atom, Atom, Atom]:
    """The words of the key that follows from the one in the buffer `source`.

    Its index is in the buffer `number`, or known where there is none.
    """
    k0, k1, step = (builder.load(source, index(place)) for place in range(3))
    low: Atom
    if number is not None:
        low, high = builder.load(number, index(0)), word(0)
    else:
        known = site.integer("index")
        low, high = word(known & 0xFFFFFFFF), word(known >> 32)
    first, second, _, _ = philox(builder, (low, high, word(site.integer("tag")), word(1)), (k0, k1))
    return first, second, step


def draw(site: Site) -> Kernel:
    """`uniform` and `normal`: each lane computes the block of its own element and takes its words."""
    builder = KernelBuilder()
    source = builder.reads(site.buffer(0))
    target = builder.writes(site.result)
    words = [builder.load(source, index(place)) for place in range(3)]
    element = DRAWS[site.node.operation]
    work = WEIGHTS[site.node.operation] * site.count
    blocks, rest = divmod(site.count, LANES)

    def run(place: Atom, lanes: int) -> None:
        builder.store(target, place, element(_drawn(builder, words, place, lanes, site.count)))

    if blocks:
        with builder.loop(blocks, parallel=splits(work)) as block:
            run(builder.scaled(block, LANES), LANES)
    if rest:
        with builder.loop(rest, parallel=splits(work)) as item:
            run(builder.affine([(item, 1)], blocks * LANES), 1)
    return site.kernel(builder, work)


def _drawn(
    builder: KernelBuilder, key: Sequence[Atom], place: Atom, lanes: int, count: int
) -> Drawn:
    """The elements from `place` on, one a lane, of `count` elements, with the words of their blocks under a key."""
    # `place` is a multiple of 16 where there are 16 lanes, so no lane's block carries into the upper word.
    low, upper = number_of(builder, builder.apply("quotient", place, index(4)), count)
    inside: Atom = Constant(IOTA, ValueType(Scalar.U32, LANES))
    if lanes == 1:
        inside = _lower(builder, builder.apply("remainder", place, index(4)))
    else:
        fours = Constant(tuple(lane // 4 for lane in IOTA), ValueType(Scalar.U32, LANES))
        low = builder.add(builder.splat(low, lanes), fours)
    inside = builder.apply("and", inside, word(3, lanes))
    k0, k1, step = (builder.splat(atom, lanes) for atom in key)
    counter = (low, builder.splat(upper, lanes), step, word(0, lanes))
    return Drawn(builder, philox(builder, counter, (k0, k1)), inside)


def number_of(builder: KernelBuilder, block: Atom, count: int) -> tuple[Atom, Atom]:
    """The lower and the upper word of the number of a block, which stands first in its counter."""
    low = _lower(builder, block)
    if count <= BLOCKS * 4:
        return low, word(0)
    return low, _lower(builder, builder.apply("quotient", block, index(BLOCKS)))


def _lower(builder: KernelBuilder, whole: Atom) -> Atom:
    """The low 32 bits of an index."""
    if isinstance(whole, Constant):
        assert isinstance(whole.value, int)
        return word(whole.value & 0xFFFFFFFF)
    return builder.convert(whole, Scalar.U32)


class Drawn:
    """Elements of blocks with the words `words`: in each lane number `place`, 0 to 3, of its block."""

    def __init__(self, builder: KernelBuilder, words: Words, place: Atom) -> None:
        self.builder = builder
        self.words = words
        self.place = place
        self.lanes = place.type.lanes
        self.f = F32(builder, self.lanes)

    def bit(self, value: int) -> Atom:
        """Whether that bit of the element's number is set, per lane."""
        if isinstance(self.place, Constant) and isinstance(self.place.value, int):
            known = bool(self.place.value & value)
            return Constant(known, ValueType(Scalar.BOOL, self.lanes))
        masked = self.builder.apply("and", self.place, word(value, self.lanes))
        return self.builder.apply("notEqual", masked, word(0, self.lanes))

    def choose(self, condition: Atom, chosen: Atom, otherwise: Atom) -> Atom:
        if isinstance(condition, Constant):
            return chosen if condition.value else otherwise
        return self.builder.apply("select", condition, chosen, otherwise)

    def fraction(self, value: Atom, more: int = 0) -> Atom:
        """((value >> 8) + more) * 2^-24; the number is at most 2^24, so f32 holds it exactly."""
        shifted = self.builder.apply("shiftRight", value, word(8, self.lanes))
        if more:
            shifted = self.builder.add(shifted, word(more, self.lanes))
        number = self.builder.convert(self.builder.bits(shifted, Scalar.I32), Scalar.F32)
        return self.f.do("mul", number, UNIT)


def _uniform(drawn: Drawn) -> Atom:
    w0, w1, w2, w3 = drawn.words
    odd, upper = drawn.bit(1), drawn.bit(2)
    low = drawn.choose(odd, w1, w0)
    return drawn.fraction(drawn.choose(upper, drawn.choose(odd, w3, w2), low))


def _normal(drawn: Drawn) -> Atom:
    """rho * cos phi for even elements, rho * sin phi for odd ones; both elements of a pair use its two words."""
    f = drawn.f
    w0, w1, w2, w3 = drawn.words
    odd, upper = drawn.bit(1), drawn.bit(2)
    u = drawn.fraction(drawn.choose(upper, w2, w0), 1)
    rho = f.do("sqrt", f.do("mul", -2.0, log(f, u)))
    phi = f.do("mul", drawn.fraction(drawn.choose(upper, w3, w1)), TWO_PI)
    quarter = drawn.choose(odd, f.integer(0), f.integer(1))
    return f.do("mul", rho, sine(f, phi, quarter))


DRAWS = {"uniform": _uniform, "normal": _normal}
