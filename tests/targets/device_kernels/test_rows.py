"""Rows folded by 16 threads or a block: the order of the law, whatever the length."""

from __future__ import annotations

import numpy
import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.kernel.device.rows import CHUNK, LONG
from alpha.kernel.node import LANES
from alpha.targets.nvidia.assemble import Assembler, assemble
from targets.device_kernels.launching import ENTRY, One, one


def fold(
    operation: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: Dtype = Dtype.F32
) -> One:
    return one(operation, TensorType(dtype, shape), axes=axes)


def exchanges(made: One) -> int:
    return made.text.count("shfl.sync.bfly.b32")


@pytest.mark.parametrize("length", [32, 33, 47, 48, 143, 144, 145, 160, 272, 999, 1_024, 2_341])
def test_a_sum_has_the_order_of_the_law(length: int) -> None:
    made = fold("sum", (37, length), (1,))
    assert exchanges(made) == 4
    made.agrees()


@pytest.mark.parametrize("operation", ["sum", "max", "min"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 333), (1,)),
        ((2, 3, 70), (0, 2)),
        ((2, 3, 7, 10), (0, 2, 3)),
        ((3, 64, 1), (1,)),
        ((3, 4, 40), (0, 1, 2)),
        ((5_000,), (0,)),
    ],
)
@pytest.mark.parametrize("dtype", [Dtype.F32, Dtype.I32])
def test_several_axes_are_one_row(
    operation: str, shape: tuple[int, ...], axes: tuple[int, ...], dtype: Dtype
) -> None:
    made = fold(operation, shape, axes, dtype)
    assert exchanges(made) == 4
    made.agrees()


@pytest.mark.parametrize(("shape", "axes"), [((40, 31), (1,)), ((100, 33), (0,)), ((4, 1), (1,))])
def test_short_rows_and_columns_have_a_thread_an_output(
    shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    made = fold("sum", shape, axes)
    assert exchanges(made) == 0
    made.agrees()


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((LONG,), (0,)),
        ((3, LONG + CHUNK + 149), (1,)),
        ((2, 3, LONG // 2 + 5), (0, 2)),
        ((2, 5 * CHUNK + LANES), (1,)),
    ],
)
@pytest.mark.parametrize(("operation", "dtype"), [("sum", Dtype.F32), ("max", Dtype.I32)])
def test_a_long_row_has_a_block_of_its_own(
    shape: tuple[int, ...], axes: tuple[int, ...], operation: str, dtype: Dtype
) -> None:
    made = fold(operation, shape, axes, dtype)
    assert made.grid.shared
    assert made.grid.blocks == made.graph.outputs[0][1].type.count
    counts = made.agrees(traffic=True)
    least = sum(number for form, number in counts.warp_instructions.items() if ".shared." in form)
    assert counts.shared_wavefronts == least


def test_a_sum_of_zeros_below_zero_is_below_zero() -> None:
    """No accumulator begins with a zero that is not in the row."""
    for length in (40, LONG):
        fold("sum", (2, length), (1,)).holds({"x0": numpy.full((2, length), -0.0, numpy.float32)})


def test_neighbours_are_read_together() -> None:
    """16 neighbours are two sectors of 32 bytes; nothing is read twice."""
    rows, length = 64, 320
    counts = fold("sum", (rows, length), (1,)).agrees(traffic=True)
    assert counts.global_sectors == rows * length // 8 + rows // 2


def test_rows_fit_their_registers(assembler: Assembler) -> None:
    """An entry that spills, or takes more than it asks for, is refused."""
    for length in (47, 1_023, LONG + 7):
        made = fold("sum", (100, length), (1,))
        usage = assemble(assembler, made.module).usages[ENTRY]
        assert usage.registers <= made.grid.registers
