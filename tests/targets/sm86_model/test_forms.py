"""Every form over arrays of lanes gives the bits that its scalar reference gives, wherever it is executed."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Sequence

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checked.sm86 import scalar
from checked.sm86.fma import fma32, fma64
from checked.sm86.forms import BITS, FORMS, PREFIX
from checked.sm86.opcodes import MEANINGS
from checked.sm86.softfloat import DOUBLE, HALF, SINGLE, Format
from targets.sm86_model.running import evaluate

PATTERNS: dict[str, Format] = {"h": HALF, "f": SINGLE, "g": DOUBLE}


pytestmark = pytest.mark.slow


def special_floats(form: Format) -> list[int]:
    """Zeros, subnormals, the edges of the range, powers of two and their neighbours, infinities, NaNs."""
    one = form.bias << form.fraction_bits
    least = 1 << form.fraction_bits
    found = [
        0,
        1,
        2,
        3,
        least - 1,
        least,
        least + 1,
        one - 1,
        one,
        one + 1,
        form.infinity - 1,
        form.infinity,
    ]
    found += [
        form.infinity + 1,
        form.nan,
        form.infinity | least >> 1,
        (form.bias - 1) << form.fraction_bits,
    ]
    found += [
        (form.bias + k) << form.fraction_bits
        for k in (1, 2, form.fraction_bits, form.fraction_bits + 1)
    ]
    found += [
        found[-1] - 1,
        found[-1] + 1,
        (form.bias << form.fraction_bits) | least >> 1,
    ]  # 1.5: ties
    for power in (15, 16, 31, 32, 63, 64):  # the edges of whole numbers
        if power < form.bias:
            edge = (form.bias + power) << form.fraction_bits
            found += [edge - 1, edge, edge + 1]
    return [pattern for item in found for pattern in (item, item | form.sign)]


def special_integers(bits: int) -> list[int]:
    edges = [0, 1, 2, 3, 5, 31, 32, 33, 63, 64, 65, 255, 256, 2 ** (bits - 1), 2**bits]
    return [(edge + by) % 2**bits for edge in edges for by in (-1, 0, 1)]


def specials(letter: str) -> list[int]:
    if letter == "p":
        return [0, 1]
    whole = special_integers(BITS[letter])
    return (
        special_floats(PATTERNS[letter])
        if letter in "fg"
        else whole + (special_floats(HALF) if letter == "h" else [])
    )


def draw(letter: str, chance: random.Random) -> int:
    """A pattern: special, of small numbers, near another special one, or of any bits."""
    bits = BITS[letter]
    kind = chance.randrange(4)
    if kind == 0 or letter == "p":
        return chance.choice(specials(letter))
    if kind == 1 and letter in "fg":
        form = PATTERNS[letter]
        exponent = form.bias + chance.randrange(-6, 40)
        return (
            chance.getrandbits(1) << (bits - 1)
            | exponent << form.fraction_bits
            | (chance.getrandbits(4) << (form.fraction_bits - 4))
        )
    if kind == 2:
        return (chance.choice(specials(letter)) + chance.randrange(-3, 4)) % 2**bits
    return chance.getrandbits(bits)


def sources(name: str) -> str:
    return "".join(slot.classes for slot in FORMS[name].slots[1:])


def is_nan(pattern: int, letter: str) -> bool:
    form = PATTERNS.get(letter)
    return form is not None and (pattern & ~form.sign) > form.infinity


def agrees(name: str, operands: Sequence[Sequence[int]]) -> None:
    """The vector model, in all lanes and in some of them, and the scalar reference give the same bits."""
    wanted = [scalar.MEANINGS[name](*lane) for lane in zip(*operands, strict=True)]
    for apart in (False, True):
        found = evaluate(name, operands, apart)
        for lane, (one, other) in enumerate(zip(found, wanted, strict=True)):
            shown = [f"{item[lane]:#x}" for item in operands]
            assert one == other, f"{name} of {shown} gives {one:#x}, not {other:#x}"


VALUES = sorted(set(MEANINGS) | {"fma.rn.f32"})


def test_every_form_has_a_scalar_reference() -> None:
    moves = {"mov.b32", "mov.b64"}
    others = {
        name for name in FORMS if name.split(".")[0] in ("ld", "st", "bra", "ret", "bar", "shfl")
    }
    assert set(scalar.MEANINGS) - moves == set(VALUES) == set(FORMS) - moves - others


@pytest.mark.parametrize("name", VALUES)
def test_a_form_gives_the_bits_of_its_reference(name: str) -> None:
    chance = random.Random(name)
    letters = sources(name)
    lanes = [[draw(letter, chance) for letter in letters] for _ in range(1000)]
    if len(letters) <= 2:
        first = specials(letters[0])
        second = specials(letters[1]) if len(letters) > 1 else [0]
        pairs = [[one, other][: len(letters)] for one in first for other in second]
        lanes += pairs if len(pairs) < 2000 else chance.sample(pairs, 2000)
    if name.startswith(("div.s", "div.u", "rem.")):
        lanes = [lane for lane in lanes if lane[1]]
    agrees(name, [list(column) for column in zip(*lanes, strict=True)])


@given(st.sampled_from(VALUES), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_any_operands_give_the_bits_of_the_reference(name: str, seed: int) -> None:
    chance = random.Random(seed)
    lanes = [[draw(letter, chance) for letter in sources(name)] for _ in range(32)]
    if name.startswith(("div.s", "div.u", "rem.")):
        for lane in lanes:
            lane[1] = lane[1] or 1
    agrees(name, [list(column) for column in zip(*lanes, strict=True)])


@pytest.mark.parametrize("form", ["mov.b32", "mov.b64"])
@pytest.mark.parametrize("to_float", [False, True])
def test_moves_of_bits_keep_every_bit(form: str, to_float: bool) -> None:
    letters = ("r", "f") if form == "mov.b32" else ("d", "g")
    source, target = letters if to_float else letters[::-1]
    patterns = specials(letters[1])
    for apart in (False, True):
        assert evaluate(form, [patterns], apart, source=source, target=target) == patterns


def test_registers_are_called_as_in_the_text() -> None:
    assert PREFIX["d"] == "rd" and PREFIX["g"] == "fd"


# ---- fused multiply-add against the C library


def library(name: str, type_: type) -> object:
    function = getattr(ctypes.CDLL("libm.so.6"), name)
    function.restype = type_
    function.argtypes = [type_] * 3
    return numpy.frompyfunc(lambda a, b, c: function(float(a), float(b), float(c)), 3, 1)


def floats(patterns: numpy.ndarray) -> numpy.ndarray:
    return patterns.astype(numpy.uint32).view(numpy.float32)


def families(chance: numpy.random.Generator, count: int) -> dict[str, tuple[numpy.ndarray, ...]]:
    """Operands of every kind of risk: any bits, ties in the normal range, and ties of subnormal results."""

    def scaled(low: int, high: int) -> numpy.ndarray:
        exponent = chance.integers(low, high, count) + 127
        sign = chance.integers(0, 2, count) << 31
        return floats(sign | exponent << 23 | chance.integers(0, 1 << 23, count))

    def few(bits: int) -> numpy.ndarray:
        return (chance.integers(1, 1 << bits, count) / (1 << (bits - 1))).astype(numpy.float32)

    def power(low: int, high: int) -> numpy.ndarray:
        sign = numpy.where(chance.integers(0, 2, count) == 1, -1, 1).astype(numpy.float32)
        return sign * numpy.float32(2) ** chance.integers(low, high, count).astype(numpy.float32)

    any_bits = tuple(floats(chance.integers(0, 1 << 32, count)) for _ in range(3))
    return {
        "near": (scaled(-2, 2), scaled(-2, 2), scaled(-2, 2)),
        "spread": (scaled(0, 1), scaled(0, 1), scaled(-30, 30)),
        "any bits": any_bits,
        "ties": (few(13), few(13), power(-40, 12)),
        "subnormal": (
            scaled(-64, -62),
            scaled(-64, -60),
            scaled(-126, -120) * numpy.float32(2.0**-10),
        ),
        "subnormal ties": (
            numpy.float32(2.0**-75) * (1 + few(3) * numpy.float32(2.0**-23)),
            numpy.float32(2.0**-75) * (1 - few(3) * numpy.float32(2.0**-23)),
            numpy.float32(2.0**-127) + few(6) * numpy.float32(2.0**-145),
        ),
        "overflow": (scaled(62, 66), scaled(60, 63), scaled(120, 127)),
    }


@pytest.mark.parametrize("family", list(families(numpy.random.default_rng(0), 1)))
def test_fma_of_singles_is_the_libraries(family: str) -> None:
    fmaf = library("fmaf", ctypes.c_float)
    a, b, c = families(numpy.random.default_rng(7), 40_000)[family]
    with numpy.errstate(all="ignore"):
        found = fma32(*(item.astype(numpy.float64) for item in (a, b, c)))
        wanted = fmaf(a, b, c).astype(numpy.float32)  # type: ignore[operator]
    same = found.view(numpy.uint32) == wanted.view(numpy.uint32)
    nan = numpy.isnan(wanted)
    assert (same | nan).all()
    assert (found.view(numpy.uint32)[nan] == 0x7FFFFFFF).all()


def test_the_witness_of_a_tie_below_the_normal_range() -> None:
    a = numpy.array([2.0**-75 * (1 + 2.0**-23)])
    b = numpy.array([2.0**-75 * (1 - 2.0**-23)])
    c = numpy.array([2.0**-127 + 2.0**-149])
    assert fma32(a, b, c).view(numpy.uint32)[0] == 4194305


@pytest.mark.parametrize("spread", [1, 60, 600, 2000])
def test_fma_of_doubles_is_the_libraries(spread: int) -> None:
    fma = library("fma", ctypes.c_double)
    chance = numpy.random.default_rng(spread)

    def draw_doubles() -> numpy.ndarray:
        exponent = 1023 + chance.integers(-min(spread, 1022) // 2, min(spread, 1022) // 2 + 1, 4000)
        fraction = chance.integers(0, 1 << 52, 4000) & -(1 << chance.integers(0, 50, 4000))
        return (chance.integers(0, 2, 4000) << 63 | exponent << 52 | fraction).view(numpy.float64)

    a, b, c = draw_doubles(), draw_doubles(), draw_doubles()
    c = numpy.where(chance.integers(0, 3, 4000) == 0, -(a * b), c)  # cancellation
    with numpy.errstate(all="ignore"):
        found = fma64(a, b, c)
        wanted = fma(a, b, c).astype(numpy.float64)  # type: ignore[operator]
    assert (found.view(numpy.uint64) == wanted.view(numpy.uint64)).all()
