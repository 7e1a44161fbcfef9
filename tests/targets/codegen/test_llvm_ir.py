"""The code of kernels: what it may call, what it depends on, and what a debugger sees of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.base.span import Source, Span
from alpha.codegen.llvm import kernels_ir
from alpha.codegen.worker import Worker
from alpha.graph.builder import Builder
from alpha.graph.passes import optimise
from alpha.kernel.builder import KernelBuilder, index
from alpha.kernel.lower import lower
from alpha.kernel.node import (
    Buffer,
    Constant,
    If,
    Kernel,
    Scalar,
    Store,
    ValueType,
    Variable,
)
from alpha.kernel.verify import verify
from alpha.targets import HOSTS
from kernel_runner import Runner
from requirements import require_tool

ALLOWED = re.compile(
    r"llvm\.(fma|fabs|sqrt|floor|roundeven|maximum|minimum|fptosi\.sat|fptoui\.sat)\."
)
SOURCE = Source("systems/Test/Model.alpha", "model Test =\n  forward x =\n    exp x\n")


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


def kernels() -> list[Kernel]:
    """One of each family, at a place in a source, with buffers one after the other."""
    at = Span(SOURCE, SOURCE.text.index("exp"), len(SOURCE.text) - 1)
    builder = Builder()
    x = builder.input("x", TensorType(Dtype.F32, (9, 37)), at)
    ids = builder.input("ids", TensorType(Dtype.I32, (5,), 9), at)
    outputs = [x, *(builder.apply(name, (x,), at) for name in ("exp", "log", "tanh", "erf", "sin"))]
    outputs += [builder.apply(name, (x,), at, axes=(0,)) for name in ("sum", "max")]
    outputs += [builder.apply(name, (x,), at, axis=1) for name in ("argmax", "argmin")]
    outputs += [
        builder.apply("cast", (x,), at, dtype=name) for name in ("u8", "i64", "bf16", "f16")
    ]
    outputs.append(builder.apply("gather", (x, ids), at))
    outputs.append(builder.apply("contract", (x, x), at, left="ik", right="jk", result="ij"))
    key = builder.apply("key", (), at, k0=1, k1=2, step=3)
    outputs.append(builder.apply("normal", (key,), at, shape=(40,)))
    graph = builder.graph("all", [(f"y{place}", node) for place, node in enumerate(outputs)])
    lowered = lower(optimise(graph))
    places: dict[str, int] = {}
    for kernel in lowered.kernels:
        for buffer in kernel.buffers:
            places.setdefault(buffer.name, 4096 * len(places))
    return [
        replace(kernel, buffers=tuple(replace(b, offset=places[b.name]) for b in kernel.buffers))
        for kernel in lowered.kernels
    ]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_only_exact_intrinsics_are_called(host: HostTarget) -> None:
    ir = kernels_ir(kernels(), host)
    called = set(re.findall(r"@\"?([\w.]+)\"?\(", ir)) - {kernel.symbol for kernel in kernels()}
    assert called
    assert not [name for name in called if not ALLOWED.match(name)]
    for flag in ("fast", "reassoc", "contract", "nnan", "ninf", "nsz", "arcp", "afn", "nsw", "nuw"):
        assert not re.search(rf"\b{flag}\b(?!\")", re.sub(r"@[^(]*\(", "(", ir)), flag


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_objects_need_no_library(worker: Worker, host: HostTarget, tmp_path: Path) -> None:
    tool = require_tool("readelf")
    place = tmp_path / "kernels.o"
    place.write_bytes(worker.compile(kernels_ir(kernels(), host), host))
    printed = subprocess.run(
        [tool, "--syms", "--wide", str(place)], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in printed.splitlines()]
    undefined = [row[7] for row in rows if len(row) > 7 and row[6] == "UND"]
    assert undefined == []
    functions = [row for row in rows if len(row) > 7 and row[3] == "FUNC"]
    assert {row[5] for row in functions} == {"HIDDEN"}
    assert len(functions) == len(kernels())


def test_the_attributes_that_executables_rely_on() -> None:
    for host in HOSTS:
        ir = kernels_ir(kernels(), host)
        (line,) = [line for line in ir.splitlines() if line.startswith("attributes #0")]
        for word in (
            "nounwind",
            '"no-builtins"',
            '"frame-pointer"="all"',
            '"probe-stack"="inline-asm"',
            f'"target-cpu"="{host.cpu}"',
        ):
            assert word in line
        # Nothing unwinds: debuggers read .debug_frame, which strip removes.
        assert "uwtable" not in line
        assert ir.count("define hidden void") == ir.count("define") == len(kernels())


PRINT = "import sys; sys.path[:0] = {path!r}; from test_llvm_ir import *; print(kernels_ir(kernels(), HOSTS[0]))"


@pytest.mark.slow
def test_hash_seeds_and_folders_do_not_show(tmp_path: Path) -> None:
    here = Path(__file__)
    code = PRINT.format(path=[str(here.parent), str(here.parents[2])])
    texts = set()
    for seed, folder in (("0", tmp_path), ("1", here.parent), ("4711", tmp_path)):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        texts.add(done.stdout)
    assert len(texts) == 1


@pytest.mark.slow
def test_a_debugger_finds_the_alpha_line_of_a_kernel(worker: Worker, tmp_path: Path) -> None:
    tool = require_tool("llvm-dwarfdump")
    for host in HOSTS:
        place = tmp_path / f"{host.name}.o"
        place.write_bytes(worker.compile(kernels_ir(kernels(), host), host))
        lines = subprocess.run(
            [tool, "--debug-line", str(place)], capture_output=True, text=True, check=True
        ).stdout
        assert 'include_directories[  1] = "systems/Test"' in lines
        assert 'name: "Model.alpha"' in lines
        assert re.search(r"^0x[0-9a-f]+ +3 +5 ", lines, re.MULTILINE)
        info = subprocess.run(
            [tool, "--debug-info", str(place)], capture_output=True, text=True, check=True
        ).stdout
        assert 'DW_AT_name\t("all.0.exp")' in info
        assert 'DW_AT_comp_dir\t("/alpha/src")' in info
        assert "version = 0x0004" in info
        assert subprocess.run([tool, "--verify", str(place)], capture_output=True).returncode == 0


def test_a_conditional_store_happens_where_the_condition_holds() -> None:
    """No template of the direct lane needs `If`; targets to come do."""
    builder = KernelBuilder()
    source = builder.reads(Buffer("source", Scalar.I32, 6))
    target = builder.writes(Buffer("target", Scalar.I32, 6))
    with builder.loop(6) as place:
        value = builder.load(source, place)
        chosen = builder.apply("greater", value, Constant(2, ValueType(Scalar.I32)))
        assert isinstance(chosen, Variable)
    draft = builder.kernel("guarded", "test", 6, False, None)
    (loop,) = draft.body
    guarded = If(chosen, (Store(target, loop.index, value),))  # type: ignore[union-attr]
    body = (replace(loop, body=(*loop.body, guarded)),)  # type: ignore[type-var, union-attr]
    kernel = replace(
        draft,
        body=body,
        buffers=(replace(draft.buffers[0], offset=0), replace(draft.buffers[1], offset=64)),
    )
    verify(kernel)
    runner = Runner()
    arena = b"".join(number.to_bytes(4, "little") for number in (1, 2, 3, 4, 0, 9))
    after = runner.call(kernels_ir([kernel], HOSTS[0]), [kernel], arena.ljust(128, b"\0"), 1)
    runner.close()
    found = [int.from_bytes(after[64 + 4 * k : 68 + 4 * k], "little") for k in range(6)]
    assert found == [0, 0, 3, 4, 0, 9]


def test_a_float_constant_keeps_its_bits() -> None:
    builder = KernelBuilder()
    target = builder.writes(Buffer("target", Scalar.F32, 4, offset=0))
    for place, value in enumerate((0.1, -0.0, float("inf"), 1e-45)):
        nearest = float(numpy.float32(value))
        builder.store(target, index(place), Constant(nearest, ValueType(Scalar.F32)))
    kernel = builder.kernel("constants", "test", 4, False, None)
    runner = Runner()
    after = runner.call(kernels_ir([kernel], HOSTS[0]), [kernel], bytes(64), 1)
    runner.close()
    assert after[:16].hex() == "cdcccc3d" + "00000080" + "0000807f" + "01000000"
