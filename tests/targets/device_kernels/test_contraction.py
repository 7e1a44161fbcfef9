"""Contractions on devices: every size and layout has the bits of the law, and tiles cost what they are meant to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.ops.convolution import WEIGHTS, windows_of
from alpha.kernel.device import contraction_tiled
from alpha.kernel.device.contraction_panels import DEPTH
from alpha.kernel.device.contraction_tiled import TILES, Tile
from alpha.targets.nvidia.assemble import Assembler, assemble
from checked.sm86 import blocks_per_processor
from targets.device_kernels.launching import ENTRY, One, one

pytestmark = pytest.mark.slow

UNDERFLOW = 1e-30
"""A product of two numbers of this size is zero, and has a sign: that of an output is that of its last product."""
LAYOUTS = [("mk", "kn"), ("mk", "nk"), ("km", "kn"), ("km", "nk")]


def contract(left: str, right: str, result: str, **sizes: int) -> One:
    types = [
        TensorType(Dtype.F32, tuple(sizes[letter] for letter in letters))
        for letters in (left, right)
    ]
    return one("contract", *types, left=left, right=right, result=result)


def size(made: One) -> int:
    """Rows of its tile, 0 without tiles."""
    if not made.grid.shared:
        return 0
    (tile,) = (tile for tile in TILES if tile.threads == made.grid.threads)
    return tile.size


WHOLE = {128: (128, 256), 64: (64, 128), 32: (32, 64)}
EDGES = {128: (250, 241), 64: (125, 100), 32: (61, 39)}
FOURS = {128: (252, 236), 64: (124, 108), 32: (60, 36)}
SIZES = [(16, WHOLE), (21, EDGES), (20, FOURS)]
"""Steps of k, and for each tile how many rows and columns: whole tiles, and with edges of every kind."""


OfTile = Callable[..., One]


@pytest.fixture
def of_tile(monkeypatch: pytest.MonkeyPatch) -> OfTile:
    """Contractions of a few tiles, where larger ones would take smaller tiles to have blocks for a whole card."""

    def made(
        tile: Tile, steps: int, sizes: dict[int, tuple[int, int]], left: str, right: str
    ) -> One:
        monkeypatch.setattr(contraction_tiled, "TILES", (tile,))
        rows, columns = sizes[tile.size]
        found = contract(left, right, "mn", m=rows, n=columns, k=steps)
        assert size(found) == tile.size
        return found

    return made


@pytest.mark.parametrize(("left", "right"), LAYOUTS)
@pytest.mark.parametrize(
    ("rows", "steps", "columns"),
    [(33, 19, 35), (36, 20, 44), (32, 16, 32), (70, 31, 64), (61, 24, 100)],
)
def test_a_matrix_need_not_be_whole_tiles(
    left: str, right: str, rows: int, steps: int, columns: int
) -> None:
    made = contract(left, right, "mn", m=rows, k=steps, n=columns)
    assert size(made) == 32
    made.agrees()
    made.agrees(UNDERFLOW, seed=1)


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: f"{tile.size}")
@pytest.mark.parametrize(("left", "right"), LAYOUTS)
@pytest.mark.parametrize(("steps", "sizes"), SIZES)
def test_every_tile_has_the_bits_of_the_law(
    of_tile: OfTile,
    tile: Tile,
    left: str,
    right: str,
    steps: int,
    sizes: dict[int, tuple[int, int]],
) -> None:
    made = of_tile(tile, steps, sizes, left, right)
    made.agrees(seed=steps)
    made.agrees(UNDERFLOW, seed=steps)


@pytest.mark.parametrize(
    ("left", "right", "result", "sizes"),
    [
        ("bshd", "bthd", "bhst", {"b": 2, "s": 40, "h": 3, "d": 20, "t": 36}),
        ("bhst", "bthd", "bshd", {"b": 2, "s": 40, "h": 3, "d": 35, "t": 37}),
        ("mik", "kin", "mn", {"m": 40, "i": 3, "k": 7, "n": 33}),
        ("imk", "kin", "nm", {"m": 40, "i": 3, "k": 8, "n": 36}),
        ("amk", "knb", "anmb", {"m": 10, "a": 7, "k": 30, "n": 6, "b": 11}),
    ],
)
def test_letters_count_as_rows_columns_steps_and_batch(
    left: str, right: str, result: str, sizes: dict[str, int]
) -> None:
    made = contract(left, right, result, **sizes)
    assert size(made) == 32
    made.agrees()
    made.agrees(UNDERFLOW, seed=1)


@st.composite
def contractions(draw: st.DrawFn) -> One:
    """Letters in any order, of which rows, columns and steps suffice for a small tile."""
    sizes = {"b": draw(st.integers(1, 3)), "e": draw(st.sampled_from([1, 2, 4]))}
    for outer, inner, least in (("m", "p", 32), ("n", "q", 32), ("k", "l", 16)):
        sizes[inner] = draw(st.sampled_from([1, 2, 3, 4, 8]))
        sizes[outer] = -(-least // sizes[inner]) + draw(st.integers(0, 5))
    letters = [draw(st.permutations(group)) for group in ("bempkl", "benqkl", "bemnpq")]
    left, right, result = ("".join(group) for group in letters)
    return contract(left, right, result, **sizes)


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
@given(made=contractions(), scale=st.sampled_from([1.0, UNDERFLOW]))
def test_letters_may_stand_in_any_order(made: One, scale: float) -> None:
    made.agrees(scale)


@pytest.mark.parametrize(
    ("left", "right", "result", "sizes"),
    [
        ("k", "k", "", {"k": 30}),
        ("mk", "kn", "mn", {"m": 20, "k": 30, "n": 13}),
        ("mk", "kn", "mn", {"m": 40, "k": 15, "n": 40}),
        ("ak", "kab", "ab", {"a": 40, "k": 9, "b": 32}),
        ("ab", "ab", "ab", {"a": 40, "b": 33}),
        ("ik", "kj", "j", {"i": 3, "k": 5, "j": 9}),
        ("m", "n", "mn", {"m": 40, "n": 40}),
    ],
)
def test_what_makes_no_tile_is_a_chain_a_thread(
    left: str, right: str, result: str, sizes: dict[str, int]
) -> None:
    made = contract(left, right, result, **sizes)
    assert size(made) == 0
    made.agrees()
    made.agrees(UNDERFLOW, seed=1)


def test_a_thread_has_four_chains_where_many_are_left() -> None:
    made = contract("mk", "kn", "mn", m=2_400, k=5, n=28)
    assert made.grid.blocks * made.grid.threads < 2_400 * 28 // 2
    assert made.agrees().warp_instructions["ld.global.nc.v4.f32"]
    uneven = contract("mk", "kn", "mn", m=2_400, k=5, n=29)
    assert uneven.grid.blocks * uneven.grid.threads >= 2_400 * 29


@pytest.mark.parametrize(("left", "right"), LAYOUTS)
@pytest.mark.parametrize("columns", [8, 10])
def test_a_long_and_narrow_result_is_made_in_tiles(left: str, right: str, columns: int) -> None:
    made = contract(left, right, "mn", m=2_020, k=20, n=columns)
    assert size(made) == 32
    made.agrees(UNDERFLOW)
    turned = contract(right, left, "nm", m=2_020, k=20, n=columns)
    assert size(turned) == 32
    turned.agrees()
    assert size(contract(left, right, "mn", m=2_020, k=20, n=7)) == 0
    assert size(contract(left, right, "mn", m=2_010, k=20, n=columns)) == 0


@pytest.mark.parametrize(
    ("channels", "outputs", "window"), [(3, 32, (3, 3)), (4, 36, (2, 5)), (3, 5, (3, 3))]
)
def test_windows_are_contracted_where_they_lie(
    channels: int, outputs: int, window: tuple[int, int]
) -> None:
    image = TensorType(Dtype.F32, (2, 9, 8, channels))
    weights = TensorType(Dtype.F32, (*window, channels, outputs))
    made = one("contractWindows", image, weights, window=window, right=WEIGHTS, result="nhwo")
    assert (size(made) == 32) == (outputs >= 32)
    made.agrees()
    slope = TensorType(Dtype.F32, (*windows_of(image, window).shape[:3], outputs))
    made = one("contractWindows", image, slope, window=window, right="nhwo", result=WEIGHTS)
    made.agrees()
    made.agrees(UNDERFLOW, seed=1)


def test_larger_matrices_have_larger_tiles() -> None:
    def of(rows: int, columns: int, batch: int = 1) -> int:
        sizes = {"b": batch, "m": rows, "k": 32, "n": columns}
        return size(contract("bmk", "bkn", "bmn", **sizes))

    assert [of(n, n) for n in (31, 32, 256, 512, 1024, 4096)] == [0, 32, 32, 64, 128, 128]
    assert of(64, 64, batch=64) == 64
    assert of(31, 1024) == 0
    assert of(4096, 63, batch=2) == 64
    assert of(129, 129, batch=32) == 32  # most of four large tiles would be empty


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: f"{tile.size}")
@pytest.mark.parametrize(("steps", "sizes"), SIZES)
def test_tiles_fit_their_registers(
    of_tile: OfTile,
    tile: Tile,
    steps: int,
    sizes: dict[int, tuple[int, int]],
    assembler: Assembler,
) -> None:
    """An entry that spills, or takes more than it asks for, is refused."""
    for letters in LAYOUTS:
        made = assemble(assembler, of_tile(tile, steps, sizes, *letters).module)
        assert made.usages[ENTRY].registers <= tile.registers


def test_blocks_lie_beside_each_other_on_a_multiprocessor(of_tile: OfTile) -> None:
    made = {tile.size: of_tile(tile, 16, WHOLE, "mk", "kn") for tile in TILES}
    blocks = {
        rows: blocks_per_processor(it.grid.threads, it.grid.registers, it.grid.shared_bytes)
        for rows, it in made.items()
    }
    assert blocks == {128: 2, 64: 5, 32: 14}


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: f"{tile.size}")
@pytest.mark.parametrize(("left", "right"), LAYOUTS)
@pytest.mark.parametrize(("steps", "sizes"), SIZES)
def test_no_banks_meet(
    of_tile: OfTile,
    tile: Tile,
    left: str,
    right: str,
    steps: int,
    sizes: dict[int, tuple[int, int]],
) -> None:
    """An access of 16 bytes a thread takes four wavefronts, which is the least; one of 4 bytes takes one."""
    counts = of_tile(tile, steps, sizes, left, right).agrees(traffic=True)
    least = sum(
        number * (4 if ".v4." in form else 1)
        for form, number in counts.warp_instructions.items()
        if ".shared." in form
    )
    assert counts.shared_wavefronts == least


def test_most_of_what_a_large_tile_does_is_to_multiply(of_tile: OfTile) -> None:
    mix = of_tile(TILES[0], 64 * DEPTH, WHOLE, "mk", "kn").agrees().warp_instructions
    assert mix["fma.rn.f32"] > 0.88 * sum(mix.values())
    assert mix["ld.shared.v4.f32"] * 16 == mix["fma.rn.f32"]
