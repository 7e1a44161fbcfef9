"""Numbers, digests, orders, clocks and threads of the runtime against Python's own, on every host."""

from __future__ import annotations

import hashlib
import random
import struct
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy
import pytest

from alpha.base.host import HostTarget
from alpha.targets import HOSTS
from requirements import require_tool
from semantics.order import batch_rows
from targets.runtime.probing import probe_executable

Probe = Callable[..., bytes]


@pytest.fixture(scope="module", params=HOSTS, ids=[host.name for host in HOSTS])
def probe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    host: HostTarget = request.param
    emulator = [] if host.machine == 62 else [require_tool("qemu-aarch64-static")]
    path: Path = tmp_path_factory.mktemp("probe") / "probe"
    path.write_bytes(probe_executable(host))
    path.chmod(0o755)

    def run(*arguments: str, stdin: bytes = b"") -> bytes:
        return subprocess.run(
            [*emulator, str(path), *arguments], input=stdin, capture_output=True, check=True
        ).stdout

    return run


def doubles() -> list[float]:
    generator = random.Random(7)
    values = [0.0, -0.0, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, float("inf")]
    values += [1e16, 9999999999999998.0, 1e-5, 0.0001, 123456789012345680.0, -float("inf")]
    values += [10.0**power for power in range(-323, 309)]
    values += [2.0**power for power in range(-1074, 1024)]
    for _ in range(20000):
        word = generator.getrandbits(64)
        values.append(struct.unpack("<d", struct.pack("<Q", word))[0])
    return [value for value in values if value == value]


@pytest.mark.slow
def test_doubles_print_as_repr_does(probe: Probe) -> None:
    values = doubles()
    printed = probe("f64", stdin=struct.pack(f"<{len(values)}d", *values)).decode().split()
    assert printed == [repr(value) for value in values]


def test_floats_print_the_shortest_text_that_reads_back(probe: Probe) -> None:
    generator = numpy.random.default_rng(3)
    words = generator.integers(0, 1 << 32, 20000, dtype=numpy.uint32)
    edges = numpy.arange(0, 256, dtype=numpy.uint32) << 23
    values = numpy.concatenate([words, edges, edges + 1, edges - 1]).view(numpy.float32)
    values = values[~numpy.isnan(values)]
    printed = probe("f32", stdin=values.tobytes()).decode().split()
    for value, text in zip(values, printed, strict=True):
        assert numpy.float32(text) == value
        digits = sum(c.isdigit() for c in text.split("e")[0].strip("-0."))
        known = numpy.format_float_scientific(value, unique=True, trim="-")
        assert digits <= max(1, sum(c.isdigit() for c in known.split("e")[0].strip("-0.")))


def decimals() -> list[str]:
    generator = random.Random(11)
    values = [
        "0",
        "-0",
        "1",
        "+1.5",
        "1e400",
        "1e-400",
        "0.1",
        ".5",
        "5.",
        "1e23",
        "1e-45",
        "7e-46",
    ]
    values += ["16777217", "16777219", "3.4028235e38", "3.4028236e38", "9007199254740993", "1e22"]
    values += ["2.2250738585072011e-308", "1.00000005960464477539062500000001", "0.000000000000001"]
    values += ["1.000000059604644775390625", "1" + "0" * 900, "0." + "0" * 900 + "1", "9" * 900]
    values += ["8.5" + "0" * 850 + "1e10", "4.9406564584124654e-324", "2.4703282292062327e-324"]
    for _ in range(3000):
        digits = "".join(generator.choice("0123456789") for _ in range(generator.randint(1, 25)))
        point = generator.randint(0, len(digits))
        power = generator.choice(
            ["", f"e{generator.randint(-60, 60)}", f"E{generator.randint(-330, 310)}"]
        )
        values.append(digits[:point] + "." + digits[point:] + power)
    # exactly between two floats: the hardest to round
    for _ in range(300):
        value = struct.unpack("<f", struct.pack("<I", generator.randint(1, 0x7F000000)))[0]
        above = float(numpy.nextafter(numpy.float32(value), numpy.float32(numpy.inf)))
        values.append(f"{(value + above) / 2:.60e}")
    return values


@pytest.mark.slow
def test_decimals_are_read_as_the_nearest_float(probe: Probe) -> None:
    values = decimals()
    lines = probe("parse", stdin="\n".join(values).encode()).decode().splitlines()
    for text, line in zip(values, lines, strict=True):
        single, double = (bytes.fromhex(word) for word in line.split())
        assert struct.unpack("<d", double)[0] == float(text), text
        assert struct.unpack("<f", single)[0] == nearest_single(text), text


def nearest_single(text: str) -> float:
    """The nearest binary32, found exactly with Python's integers."""
    mantissa, _, power = text.lower().partition("e")
    exact = Fraction(mantissa.rstrip(".") or "0") * Fraction(10) ** int(power or "0")
    with numpy.errstate(over="ignore"):
        return _nearest(exact)


def _nearest(exact: Fraction) -> float:
    guess = numpy.float32(min(float(exact) if exact < 1e300 else 1e300, 3.5e38))
    best = float(guess)
    if numpy.isinf(guess) or exact >= Fraction(2) ** 128 - Fraction(2) ** 103:
        return float("inf")
    for step in (-numpy.inf, numpy.inf):
        other = float(numpy.nextafter(guess, numpy.float32(step)))
        if numpy.isinf(other):
            continue
        a, b = abs(Fraction(other) - exact), abs(Fraction(best) - exact)
        even = struct.unpack("<I", struct.pack("<f", other))[0] % 2 == 0
        if a < b or (a == b and even):
            best = other
    return best


@pytest.mark.parametrize("text", ["", "x", "-", ".", "e5", "1e", "--1", "nan", "inf"])
def test_what_is_no_number_is_not_read(probe: Probe, text: str) -> None:
    assert probe("parse", stdin=(text + "\n").encode()).strip() == b"none"


@pytest.mark.parametrize("way", ["sha", "slowsha"])
def test_digests_are_those_of_hashlib(probe: Probe, way: str) -> None:
    for size in [0, 1, 3, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, 70001]:
        data = random.Random(size).randbytes(size)
        assert probe(way, stdin=data).decode() == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(("epoch", "count"), [(0, 2), (3, 45), (1, 64), (2, 65), (9, 1509)])
def test_the_order_of_examples_is_the_reference(probe: Probe, epoch: int, count: int) -> None:
    places = [int(line) for line in probe("order", str(epoch), str(count)).split()]
    assert sorted(places) == list(range(count))
    assert places == list(map(int, batch_rows(5, epoch + 1, count, count, "EachEpoch")))


def test_the_clock_goes_forward(probe: Probe) -> None:
    assert probe("clock").endswith(b" forward")


@pytest.mark.parametrize(("threads", "rounds"), [(1, 10), (2, 20000), (5, 500)])
def test_every_thread_does_its_part_in_every_round(probe: Probe, threads: int, rounds: int) -> None:
    assert int(probe("pool", str(threads), str(rounds))) == threads * threads * rounds
