"""No template of devices needs more registers than it asks for, whatever the dtype: ptxas puts none into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.passes import optimise
from alpha.kernel.device import DEVICE
from alpha.kernel.lower import lower
from alpha.kernel.node import Kernel
from alpha.targets.nvidia.assemble import Assembler, assemble
from alpha.targets.nvidia.emit import emit_module
from laws.graphs import BINARY, COMPARISONS, UNARY
from targets.device_kernels.launching import graph_of

SHAPE = (20, 400)


def operations(dtype: Dtype) -> Iterator[tuple[str, list[TensorType], dict[str, Any]]]:
    """Also some that are not defined for the dtype."""
    x = TensorType(dtype, SHAPE)
    for name in UNARY:
        yield name, [x], {}
    for name in (*BINARY, *COMPARISONS):
        yield name, [x, x], {}
    yield "fma", [x, x, x], {}
    yield "select", [TensorType(Dtype.BOOL, SHAPE), x, x], {}
    yield "pow", [x], {"exponent": -11}
    yield "powStep", [x, TensorType(Dtype.U32, ())], {}
    for target in Dtype:
        yield "cast", [x], {"dtype": target.value}
    for by in (7, -7, 8):
        yield "floorDiv", [x], {"by": by}
        yield "rem", [x], {"by": by}
    for axes in ((0,), (1,), (0, 1)):
        for name in ("sum", "max", "min"):
            yield name, [x], {"axes": axes}
    for axis in (0, 1):
        for name in ("argmax", "argmin"):
            yield name, [x], {"axis": axis}
    yield "transpose", [x], {"order": (1, 0)}
    yield "reverse", [x], {"axes": (0, 1)}
    yield "concat", [x] * 4, {"axis": 1}
    yield "pad", [x], {"axis": 0, "low": 1, "high": 2}
    yield "gather", [x, TensorType(Dtype.I32, (50,), 20)], {}
    yield "addRows", [x, TensorType(Dtype.I32, (20,), 7)], {}
    yield "pick", [x, TensorType(Dtype.I32, (20,), 400)], {}
    yield "contract", [x, x], {"left": "ik", "right": "jk", "result": "ij"}
    for shape in ((1_000,), (1_001,)):
        for name in ("uniform", "normal"):
            yield name, [TensorType(Dtype.U32, (3,))], {"shape": shape}


def kernels(dtype: Dtype) -> Iterator[Kernel]:
    for operation, types, attributes in operations(dtype):
        try:
            graph = graph_of(operation, *types, **attributes)
        except OperationError:
            continue
        yield from lower(optimise(graph), DEVICE).kernels


@pytest.mark.slow
@pytest.mark.parametrize("dtype", Dtype, ids=str)
def test_every_template_keeps_to_its_registers(dtype: Dtype, assembler: Assembler) -> None:
    """An entry that spills, or takes more than it asks for, is refused."""
    made = [(f"k{number}_{item.operation}", item) for number, item in enumerate(kernels(dtype))]
    usages = assemble(assembler, emit_module(made, "sm_86")).usages
    assert len(usages) == len(made) > 20
