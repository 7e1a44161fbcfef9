"""Kernels in executables of both hosts give the reference's bits; AArch64 runs under qemu."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.codegen.llvm import kernels_ir
from alpha.codegen.worker import Worker
from alpha.elf.link import LinkOptions, link
from alpha.elf.stubs import stub_object
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.graph.text import to_text
from alpha.kernel.direct import site
from alpha.kernel.lower import lower
from alpha.targets import HOSTS
from kernel_runner import from_memory, placed, plan_loop, played, to_memory
from laws.graphs import BINARY, UNARY, graphs, inputs_of, same_bits
from laws.loop_graphs import loop_graphs
from requirements import require_tool
from semantics.evaluate import evaluate
from semantics.graph import read_graph

Array = Any
WRITE, EXIT = {62: 1, 183: 64}, {62: 231, 183: 94}
PARTS = 3


@pytest.fixture(scope="module")
def worker() -> Any:
    with Worker() as worker:
        yield worker


def executable(worker: Worker, graph: Graph, inputs: Mapping[str, Array], host: HostTarget) -> Any:
    """A program that runs the graph's kernels on an arena it carries and prints the arena; where its outputs are."""
    lowered = lower(optimise(graph))
    places: dict[str, int] = {}
    size = 0
    for name, node in lowered.nodes.items():
        places[name] = size
        size += -(-node.type.bytes // 64) * 64
    arena = bytearray(size)
    for name, buffer in lowered.inputs:
        data = to_memory(lowered.nodes[name].type.dtype, inputs[name])
        arena[places[buffer.name] : places[buffer.name] + len(data)] = data
    kernels = [
        replace(k, buffers=tuple(placed(b, places) for b in k.buffers)) for k in lowered.kernels
    ]
    calls: list[str] = []
    for item in played(kernels, [plan_loop(turns, places) for turns in lowered.loops]):
        if isinstance(item, tuple):
            cell, index = item
            calls.append(
                f"store i32 {index}, ptr getelementptr (i8, ptr @arena, i64 {cell}), align 4"
            )
            continue
        parts = PARTS if item.parallel else 1
        calls += [
            f'call void @"{item.symbol}"(ptr @arena, i64 {part}, i64 {parts})'
            for part in range(parts)
        ]
    content = "".join(f"\\{byte:02X}" for byte in arena)
    start = "\n".join(
        [
            f'target triple = "{host.triple}"',
            f'@arena = internal global [{size} x i8] c"{content}", align 64',
            *(f'declare hidden void @"{k.symbol}"(ptr, i64, i64)' for k in kernels),
            "declare hidden i64 @rt_syscall(i64, i64, i64, i64, i64, i64, i64)",
            "define hidden void @rt_start(ptr %stack) nounwind uwtable {",
            *calls,
            "%from = ptrtoint ptr @arena to i64",
            f"%w = call i64 @rt_syscall(i64 {WRITE[host.machine]}, i64 1, i64 %from, i64 {size}, i64 0, i64 0, i64 0)",
            f"%e = call i64 @rt_syscall(i64 {EXIT[host.machine]}, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0)",
            "unreachable",
            "}",
        ]
    )
    objects = [
        ("start", stub_object(host)),
        ("kernels", worker.compile(kernels_ir(kernels, host), host)),
        ("main", worker.compile(start, host)),
    ]
    ends = [(name, places[buffer.name]) for name, buffer in lowered.outputs]
    return link(objects, LinkOptions(host, b"{}")), ends


def agree(
    worker: Worker, graph: Graph, inputs: Mapping[str, Array], host: HostTarget, folder: Path
) -> None:
    image, ends = executable(worker, graph, inputs, host)
    place = folder / f"kernels-{host.name}"
    place.unlink(missing_ok=True)
    place.write_bytes(image)
    place.chmod(0o755)
    command = [str(place)] if host.machine == 62 else [require_tool("qemu-aarch64-static"), place]
    done = subprocess.run(command, capture_output=True, check=True)
    expected = evaluate(read_graph(to_text(graph)), inputs)
    types = {name: node.type for name, node in graph.outputs}
    for name, offset in ends:
        data = done.stdout[offset : offset + types[name].bytes]
        found = from_memory(types[name], data)
        assert same_bits(numpy.asarray(expected[name]), found), (name, to_text(graph))


@pytest.fixture(autouse=True)
def every_kernel_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "PARALLEL_WORK", 1)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_functions_and_casts(worker: Worker, host: HostTarget, tmp_path: Path) -> None:
    generator = numpy.random.default_rng(21)
    count = 700
    kind = TensorType(Dtype.F32, (count,))
    builder = Builder()
    x, y = builder.input("x", kind), builder.input("y", kind)
    wide = builder.input("wide", TensorType(Dtype.F64, (count,)))
    whole = builder.input("whole", TensorType(Dtype.I64, (count,)))
    outputs = [(name, builder.apply(name, (x,))) for name in UNARY]
    outputs += [(name, builder.apply(name, (x, y))) for name in BINARY]
    outputs.append(("fma", builder.apply("fma", (x, y, x))))
    for source, node in (("x", x), ("wide", wide), ("whole", whole)):
        for dtype in Dtype:
            if dtype is not Dtype.BOOL:
                cast = builder.apply("cast", (node,), dtype=dtype)
                outputs.append((f"{source}.{dtype.value}", cast))
    graph = builder.graph("functions", outputs)
    bits = generator.integers(0, 2**32, (2, count), dtype=numpy.uint32).view(numpy.float32)
    inputs = {
        "x": numpy.where(numpy.arange(count) % 2 == 0, bits[0], generator.normal(0, 9, count)),
        "y": bits[1],
        "wide": generator.normal(0, 1e6, count),
        "whole": generator.integers(-(2**63), 2**63 - 1, count),
    }
    inputs["x"] = inputs["x"].astype(numpy.float32)
    agree(worker, graph, inputs, host, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=graphs(most=25), seed=st.integers(0, 2**32 - 1))
def test_whole_graphs(
    worker: Worker, host: HostTarget, tmp_path: Path, graph: Graph, seed: int
) -> None:
    agree(worker, graph, inputs_of(graph, seed, specials=True), host, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(graph=loop_graphs(), seed=st.integers(0, 2**32 - 1))
def test_whole_graphs_with_loops(
    worker: Worker, host: HostTarget, tmp_path: Path, graph: Graph, seed: int
) -> None:
    agree(worker, graph, inputs_of(graph, seed), host, tmp_path)
