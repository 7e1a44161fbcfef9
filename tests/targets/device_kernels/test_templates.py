"""The kernels of devices obey the law, write each element once, and have grids that fit what they make."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import replace
from alpha.codegen.llvm import kernels_ir
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.kernel.device import DEVICE
from alpha.kernel.errors import KernelFault
from alpha.kernel.lower import lower
from alpha.kernel.node import QUAD, If, Kernel, Load, Loop, Statement, Store
from alpha.kernel.text import to_text
from alpha.kernel.verify import verify
from alpha.plan.entries import distinct, entries
from alpha.targets import HOSTS
from laws.graphs import OPERATIONS
from laws.loop_graphs import loop_graphs
from laws.wide_graphs import wide
from packages import open_package
from targets.device_kernels.launching import graph_of
from targets.device_kernels.writing import writes

MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))
SYSTEMS = ("Digits.Run", "Coppelius.Run", "Olimpia.Run")


def kernels(graph: Graph) -> tuple[Kernel, ...]:
    """They are verified as they are made."""
    return lower(optimise(graph), DEVICE).kernels


def one(operation: str, *types: TensorType, **attributes: Any) -> Kernel:
    (kernel,) = kernels(graph_of(operation, *types, **attributes))
    return kernel


def statements(block: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in block:
        yield statement
        if isinstance(statement, If | Loop):
            yield from statements(statement.body)


def lanes(kernel: Kernel) -> tuple[set[int], set[int]]:
    """How many elements its loads and its stores move at once."""
    found = list(statements(kernel.body))
    return (
        {item.result.type.lanes for item in found if isinstance(item, Load)},
        {item.value.type.lanes for item in found if isinstance(item, Store)},
    )


def launched(kernel: Kernel) -> tuple[int, int]:
    assert kernel.grid is not None
    return kernel.grid.blocks, kernel.grid.threads


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(MANY, max_examples=6)
@given(data=st.data(), dtype=st.sampled_from([Dtype.F32, Dtype.BF16, Dtype.F16]))
def test_every_operation_obeys_the_law(operation: str, data: st.DataObject, dtype: Dtype) -> None:
    for kernel in kernels(data.draw(wide(operation, dtype))):
        assert kernel.grid is not None and not kernel.parallel


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(MANY, max_examples=4)
@given(data=st.data())
def test_a_smaller_result_is_refused(operation: str, data: st.DataObject) -> None:
    """The last thread that has something to do makes the last element."""
    for kernel in kernels(data.draw(wide(operation, Dtype.F32))):
        (target,) = kernel.written
        buffers = list(kernel.buffers)
        buffers[target] = replace(buffers[target], count=buffers[target].count - 1)
        with pytest.raises(KernelFault, match="inside"):
            verify(replace(kernel, buffers=tuple(buffers)))


@pytest.mark.slow
@settings(MANY, max_examples=40)
@given(graph=loop_graphs())
def test_loops_obey_the_law(graph: Graph) -> None:
    kernels(graph)


def each_element_is_written_once(kernel: Kernel) -> None:
    for place, counts in writes(kernel).items():
        assert (counts == 1).all(), (kernel.symbol, kernel.buffers[place].name)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(MANY, max_examples=3)
@given(data=st.data())
def test_each_element_of_a_result_is_written_by_one_thread(
    operation: str, data: st.DataObject
) -> None:
    for kernel in kernels(data.draw(wide(operation, Dtype.F32))):
        each_element_is_written_once(kernel)


def test_a_launch_of_twice_the_blocks_writes_twice() -> None:
    kernel = one("not", TensorType(Dtype.BOOL, (100,)))
    assert kernel.grid is not None
    counts = writes(replace(kernel, grid=replace(kernel.grid, blocks=2)))
    assert counts[1].tolist() == [2] * 100


@pytest.mark.slow
@pytest.mark.parametrize("module", SYSTEMS)
def test_the_kernels_of_a_system_obey_the_law_and_write_each_element_once(module: str) -> None:
    evaluator, diagnostics = open_package(None, module)
    system = evaluator.system(f"{module}.baseline")
    assert not diagnostics.items
    made = [kernel for graph in system.graphs for kernel in kernels(graph)]
    assert made
    names = entries(made)
    for _, kernel in distinct(made, names):
        each_element_is_written_once(kernel)


@pytest.mark.parametrize(
    ("count", "grid"),
    [
        (1, (1, 32)),
        (33, (1, 64)),
        (256, (1, 256)),
        (257, (2, 256)),
        (1_000_003, (3_907, 256)),
    ],
)
def test_a_launch_has_a_thread_for_each_element_in_whole_warps(
    count: int, grid: tuple[int, int]
) -> None:
    assert launched(one("not", TensorType(Dtype.BOOL, (count,)))) == grid


@pytest.mark.parametrize("dtype", [Dtype.F32, Dtype.I32, Dtype.U32], ids=str)
def test_arithmetic_moves_16_bytes_at_once(dtype: Dtype) -> None:
    type_ = TensorType(dtype, (8, 100))
    kernel = one("add", type_, type_)
    assert lanes(kernel) == ({QUAD}, {QUAD})
    assert launched(kernel) == (1, 224)


@pytest.mark.parametrize(
    "type_",
    [TensorType(Dtype.F32, (17, 47)), TensorType(Dtype.F64, (800,)), TensorType(Dtype.U8, (800,))],
    ids=str,
)
def test_arithmetic_moves_single_elements_where_16_bytes_are_not_four_of_them(
    type_: TensorType,
) -> None:
    assert lanes(one("maximum", type_, type_)) == ({1}, {1})


ROWS = TensorType(Dtype.F32, (6, 8))


@pytest.mark.parametrize(
    ("operation", "types", "attributes", "moved"),
    [
        ("repeat", [ROWS], {"axis": 0, "count": 3}, ({4}, {4})),
        ("repeat", [ROWS], {"axis": 2, "count": 4}, ({1}, {4})),
        ("repeat", [ROWS], {"axis": 2, "count": 3}, ({1}, {1})),
        ("slice", [ROWS], {"low": (1, 4), "high": (6, 8)}, ({4}, {4})),
        ("slice", [ROWS], {"low": (1, 3), "high": (6, 7)}, ({1}, {1})),
        ("slice", [ROWS], {"low": (0, 0), "high": (6, 7)}, ({1}, {1})),
        ("concat", [ROWS, ROWS], {"axis": 1}, ({4}, {4})),
        ("concat", [ROWS, TensorType(Dtype.F32, (6, 3))], {"axis": 1}, ({1}, {1})),
        ("pad", [ROWS], {"axis": 0, "low": 1, "high": 0}, ({4}, {4})),
        ("gather", [ROWS, TensorType(Dtype.I32, (5,), 6)], {}, ({1, 4}, {4})),
        ("reverse", [ROWS], {"axes": (0,)}, ({4}, {4})),
        ("reverse", [ROWS], {"axes": (1,)}, ({1}, {1})),
        ("transpose", [ROWS], {"order": (1, 0)}, ({1}, {1})),
        ("uniform", [TensorType(Dtype.U32, (3,))], {"shape": (9, 4)}, ({1}, {4})),
        ("uniform", [TensorType(Dtype.U32, (3,))], {"shape": (9, 3)}, ({1}, {1})),
    ],
)
def test_rows_of_whole_fours_are_moved_four_at_once(
    operation: str, types: list[TensorType], attributes: dict[str, Any], moved: Any
) -> None:
    assert lanes(one(operation, *types, **attributes)) == moved


def test_bools_beside_words_are_moved_one_by_one() -> None:
    choice = TensorType(Dtype.BOOL, (6, 8))
    assert lanes(one("select", choice, ROWS, ROWS)) == ({1, 4}, {4})
    assert lanes(one("less", ROWS, ROWS)) == ({4}, {1})
    assert launched(one("less", ROWS, ROWS)) == (1, 32)
    assert lanes(one("and", choice, choice)) == ({1}, {1})


def test_a_kernel_for_a_device_is_not_emitted_for_a_host() -> None:
    kernel = one("neg", TensorType(Dtype.F32, (5,)))
    placed = tuple(replace(buffer, offset=0) for buffer in kernel.buffers)
    with pytest.raises(ValueError, match="is for a device"):
        kernels_ir([replace(kernel, buffers=placed)], HOSTS[0])


def test_what_runs_can_be_read() -> None:
    kernel = one("relu", TensorType(Dtype.F32, (6, 100)))
    assert to_text(kernel) == (
        "kernel one.0.relu  operation relu  work 600\n"
        "  buffer 0 `x0` : f32[600] aligned\n"
        "  buffer 1 `relu.1` : f32[600] written\n"
        "  grid 1 blocks %0, 160 threads %1  registers 40\n"
        "  %2 : bool = less %1, 150\n"
        "  if %2\n"
        "    %3 : i64 = mul %1, 4\n"
        "    %4 : f32x4 = load 0[%3]\n"
        "    %5 : boolx4 = lessEqual %4, 0x0.0p+0\n"
        "    %6 : f32x4 = select %5, 0x0.0p+0, %4\n"
        "    %7 : i64 = mul %1, 4\n"
        "    store 1[%7] = %6\n"
    )
