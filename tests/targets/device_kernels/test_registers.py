"""No template of devices needs more registers than it asks for, whatever the dtype: ptxas puts none into memory."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.errors import OperationError
from alpha.graph.passes import optimise
from alpha.kernel.device import DEVICE
from alpha.kernel.lower import lower
from alpha.kernel.node import Kernel
from alpha.targets.nvidia.emit import emit_module
from alpha.targets.nvidia.text import to_text
from laws.graphs import BINARY, COMPARISONS, UNARY
from requirements import require_ptxas

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
        builder = Builder()
        inputs = [builder.input(f"x{place}", type_) for place, type_ in enumerate(types)]
        try:
            end = builder.apply(operation, inputs, **attributes)
        except OperationError:
            continue
        yield from lower(optimise(builder.graph("one", [("y", end)])), DEVICE).kernels


@pytest.mark.slow
@pytest.mark.parametrize("dtype", Dtype, ids=str)
def test_every_template_keeps_to_its_registers(dtype: Dtype, tmp_path: Path) -> None:
    ptxas = str(require_ptxas().path)
    made = [(f"k{number}_{item.operation}", item) for number, item in enumerate(kernels(dtype))]
    source = tmp_path / "all.ptx"
    source.write_text(to_text(emit_module(made, "sm_86")), "utf-8")
    command = [ptxas, "-arch=sm_86", "-v", "-o", str(tmp_path / "all.cubin"), str(source)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.findall(
        r"Function properties for (\w+)\s+(\d+) bytes stack frame, (\d+) bytes spill", said
    )
    assert len(found) == len(made) > 20
    assert not [item for item in found if item[1:] != ("0", "0")]
