"""The law of kernels that a device launches: each broken law is named, and the kernel beside it is accepted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from alpha.base.device import DeviceTarget
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.errors import KernelFault
from alpha.kernel.launched import REGISTERS, SHARED_BYTES, THREADS
from alpha.kernel.node import (
    LANES,
    QUAD,
    WARP,
    Atom,
    Buffer,
    Constant,
    Grid,
    Kernel,
    Row,
    Scalar,
    Shuffle,
    ValueType,
)
from alpha.kernel.text import to_text
from alpha.kernel.verify import verify
from alpha.targets import DEVICES

COUNT = 1_000
SOURCE = Buffer("x", Scalar.F32, COUNT)
RESULT = Buffer("y", Scalar.F32, COUNT)

Body = Callable[[KernelBuilder, Atom, Atom], None]


def made(body: Body, blocks: int = 4, threads: int = 256) -> Kernel:
    """Buffer 0 is read, buffer 1 is written."""
    builder = KernelBuilder()
    builder.reads(SOURCE)
    builder.writes(RESULT)
    block, thread = builder.launch(blocks, threads, 32)
    body(builder, block, thread)
    return builder.kernel("k", "add", COUNT, False, None)


def place(builder: KernelBuilder, block: Atom, thread: Atom, each: int = 1) -> Atom:
    return builder.affine([(block, 256 * each), (thread, each)])


def guarded(most: int, each: int = 1, lanes: int = 1) -> Body:
    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        here = place(builder, block, thread, each)
        with builder.when(builder.apply("less", here, index(most))):
            builder.store(1, here, builder.load(0, here, lanes))

    return body


def refused(kernel: Kernel, law: str) -> str:
    with pytest.raises(KernelFault, match=f"breaks the law `{law}`") as failure:
        verify(kernel)
    return str(failure.value)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_the_limits_of_kernels_are_those_of_every_device(device: DeviceTarget) -> None:
    assert (device.threads, device.registers, device.shared) == (THREADS, REGISTERS, SHARED_BYTES)
    assert device.warp == WARP


def test_a_condition_bounds_what_it_compares() -> None:
    verify(made(guarded(COUNT)))
    assert "elements 0 to 1000 of 1000" in refused(made(guarded(COUNT + 1)), "inside")


def test_a_condition_bounds_multiples_and_sums_of_what_it_compares() -> None:
    def body(rows: int) -> Body:
        def write(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
            row, column = builder.apply("quotient", thread, index(8)), block
            with builder.when(builder.apply("less", row, index(rows))):
                here = builder.affine([(row, 100), (column, 25), (index(1), 24)])
                builder.store(1, here, builder.load(0, here))

        return write

    verify(made(body(10)))
    refused(made(body(11)), "inside")


def test_a_condition_bounds_what_is_taken_off_a_number() -> None:
    def body(last: int) -> Body:
        def write(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
            here = place(builder, block, thread)
            with builder.when(builder.apply("less", here, index(COUNT))):
                turned = builder.affine([(here, -1)], last)
                builder.store(1, here, builder.load(0, turned))

        return write

    verify(made(body(COUNT - 1)))
    assert "elements -1 to 998" in refused(made(body(COUNT - 2)), "inside")
    assert "elements 1 to 1000" in refused(made(body(COUNT)), "inside")


def test_both_of_two_conditions_hold() -> None:
    def body(low: int) -> Body:
        def write(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
            here = place(builder, block, thread)
            inside = builder.apply("less", here, index(COUNT + 10))
            outside = builder.apply("greaterEqual", here, index(low))
            with builder.when(builder.apply("and", inside, outside)):
                moved = builder.affine([(here, 1)], -10)
                builder.store(1, moved, builder.load(0, moved))

        return write

    verify(made(body(10)))
    refused(made(body(9)), "inside")


def test_a_condition_says_nothing_behind_its_block() -> None:
    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        here = place(builder, block, thread)
        with builder.when(builder.apply("less", here, index(COUNT))):
            value = builder.load(0, here)
            builder.store(1, here, value)
        builder.load(0, here)

    refused(made(body), "inside")


def test_the_least_of_an_index_and_a_number_is_no_more_than_the_number() -> None:
    def body(most: int) -> Body:
        def write(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
            nearest = builder.apply("minimum", place(builder, block, thread), index(most))
            value = builder.load(0, nearest)
            with builder.when(builder.apply("less", thread, index(1))):
                builder.store(1, block, value)

        return write

    verify(made(body(COUNT - 1)))
    refused(made(body(COUNT)), "inside")


def test_four_elements_are_moved_from_multiples_of_four() -> None:
    verify(made(guarded(COUNT - 3, QUAD, QUAD), blocks=1))
    assert "multiple of four" in refused(made(guarded(COUNT - 3, 6, QUAD), blocks=1), "launched")


def test_rows_of_which_four_elements_are_moved_begin_at_multiples_of_four() -> None:
    def rows(stride: int) -> Kernel:
        kernel = made(guarded(COUNT - 3, QUAD, QUAD), blocks=1)
        row = Row("turn", 3, stride)
        moving = replace(SOURCE, rows=(row,), whole=COUNT + 2 * stride)
        return replace(kernel, buffers=(moving, RESULT))

    verify(rows(COUNT))
    assert "from anywhere on" in refused(rows(COUNT + 2), "launched")


def test_values_have_one_or_four_lanes() -> None:
    refused(made(guarded(COUNT - 15, 1, LANES)), "typed")


@pytest.mark.parametrize(
    "change",
    [
        {"blocks": 0},
        {"threads": 100},
        {"threads": 1_056},
        {"registers": 256},
        {"registers": 0},
    ],
)
def test_a_grid_keeps_the_limits(change: dict[str, int]) -> None:
    kernel = made(guarded(COUNT))
    assert isinstance(kernel.grid, Grid)
    refused(replace(kernel, grid=replace(kernel.grid, **change)), "launched")


def shared(size: int, count: int, uniform: bool = True) -> Kernel:
    """Each thread leaves its element in a shared array and takes its neighbour's."""

    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        array = builder.shares("tile", Scalar.F32, size)
        here = place(builder, block, thread)
        builder.shared_store(array, thread, Constant(1.0, ValueType(Scalar.F32)))
        if uniform:
            builder.barrier()
        else:
            with builder.when(builder.apply("less", thread, index(32))):
                builder.barrier()
        other = builder.apply("remainder", builder.add(thread, index(1)), index(count))
        value = builder.shared_load(array, other)
        with builder.below(here, COUNT, 1_023):
            builder.store(1, here, value)

    return made(body)


def test_a_shared_array_has_its_elements() -> None:
    verify(shared(256, 256))
    assert "of 255 in `tile`" in refused(shared(255, 255), "inside")
    assert "of 256 in `tile`" in refused(shared(256, 257), "inside")


def test_the_shared_bytes_have_a_limit() -> None:
    verify(shared(12 * 1_024, 256))
    assert "49156 shared bytes" in refused(shared(12 * 1_024 + 1, 256), "launched")


def test_all_threads_of_a_block_come_to_a_barrier() -> None:
    refused(shared(256, 256, uniform=False), "uniform")


def test_a_condition_on_the_block_is_the_same_for_its_threads() -> None:
    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        with builder.when(builder.apply("less", block, index(2))):
            builder.barrier()
        guarded(COUNT)(builder, block, thread)

    verify(made(body))


def shuffled(mask: int, guard: int) -> Kernel:
    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        here = place(builder, block, thread)
        value: Atom = Constant(1.0, ValueType(Scalar.F32))
        with builder.below(thread, guard, 255):
            value = builder.shuffle(value, mask)
            with builder.below(here, COUNT, 1_023):
                builder.store(1, here, value)

    return made(body)


def test_whole_warps_come_to_a_shuffle() -> None:
    verify(shuffled(16, 256))
    refused(shuffled(32, 256), "typed")
    refused(shuffled(16, 255), "uniform")


def by_warp(add: int, by: int, barrier: bool = False) -> Kernel:
    """A shuffle, or a barrier, where `(256 block + thread + add) / by` is less than 7."""

    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        here = place(builder, block, thread)
        row = builder.apply("quotient", builder.add(here, index(add)), index(by))
        value: Atom = Constant(1.0, ValueType(Scalar.F32))
        with builder.when(builder.apply("less", row, index(7))):
            if barrier:
                builder.barrier()
            else:
                builder.shuffle(value, 1)
        guarded(COUNT)(builder, block, thread)

    return made(body)


def test_the_number_of_a_warp_decides_for_whole_warps() -> None:
    verify(by_warp(0, 32))
    verify(by_warp(64, 96))
    refused(by_warp(0, 16), "uniform")
    refused(by_warp(1, 32), "uniform")
    refused(by_warp(0, 32, barrier=True), "uniform")


def test_what_a_shuffle_gives_may_differ_in_a_warp() -> None:
    def body(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
        warp = builder.apply("quotient", thread, index(32))
        other = builder.shuffle(warp, 1)
        with builder.when(builder.apply("less", other, index(4))):
            builder.shuffle(warp, 1)
        guarded(COUNT)(builder, block, thread)

    refused(made(body), "uniform")


def test_a_lane_that_is_taken_out_is_one_of_four() -> None:
    def body(lane: int) -> Body:
        def write(builder: KernelBuilder, block: Atom, thread: Atom) -> None:
            four = builder.load(0, index(0), QUAD)
            with builder.below(place(builder, block, thread), COUNT, 1_023):
                builder.store(1, place(builder, block, thread), builder.extract(four, lane))

        return write

    verify(made(body(3)))
    refused(made(body(4)), "unambiguous")


def test_a_kernel_for_a_host_has_no_statement_for_a_device() -> None:
    kernel = shuffled(16, 256)
    assert any(isinstance(item, Shuffle) for item in kernel.body)
    refused(replace(kernel, grid=None), "defined")
    builder = KernelBuilder()
    builder.writes(RESULT)
    builder.store(0, index(0), Constant(1.0, ValueType(Scalar.F32)))
    builder.barrier()
    refused(builder.kernel("k", "add", 1, False, None), "launched")


def test_the_text_says_how_a_kernel_is_launched() -> None:
    lines = to_text(shared(256, 256)).splitlines()
    assert lines[3:5] == [
        "  grid 4 blocks %0, 256 threads %1  registers 32",
        "  shared 0 `tile` : f32[256]",
    ]
    assert "  barrier" in lines
