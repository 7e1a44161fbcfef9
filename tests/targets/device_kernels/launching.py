"""The kernel of one operation as PTX: on the checked model of sm_86 beside the reference, and assembled by ptxas."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from alpha.graph.text import to_text as graph_text
from alpha.kernel.device import DEVICE
from alpha.kernel.lower import lower
from alpha.kernel.node import Grid, Kernel
from alpha.targets.nvidia.emit import emit_module
from alpha.targets.nvidia.text import to_text
from checked.sm86 import Counts, Memory, Window, launch, parse
from kernel_runner import to_memory
from laws.graphs import same_bits
from semantics.evaluate import evaluate
from semantics.graph import read_graph

Array = Any
ENTRY = "k"


@dataclass
class One:
    """An operation on inputs `x0`, `x1`, ... with one output, and its kernel."""

    graph: Graph

    @cached_property
    def kernel(self) -> Kernel:
        (kernel,) = lower(self.graph, DEVICE).kernels
        return kernel

    @property
    def grid(self) -> Grid:
        assert self.kernel.grid is not None
        return self.kernel.grid

    @cached_property
    def text(self) -> str:
        return to_text(emit_module([(ENTRY, self.kernel)], "sm_86"))

    def agrees(self, scale: float = 1.0, seed: int = 0, traffic: bool = False) -> Counts:
        """`holds` for numbers of chance of about that size."""
        draw = numpy.random.default_rng(seed)
        inputs = {
            str(node.attribute("name")): numbers(draw, node.type, scale)
            for node in self.graph.inputs
        }
        return self.holds(inputs, seed, traffic)

    def holds(self, inputs: dict[str, Array], seed: int = 0, traffic: bool = False) -> Counts:
        """Runs it and holds the bits to the reference."""
        expected = evaluate(read_graph(graph_text(self.graph)), inputs)["y"]
        found, counts = self._launched(inputs, seed, traffic)
        assert same_bits(found.reshape(expected.shape), expected)
        return counts

    def _launched(self, inputs: dict[str, Array], seed: int, traffic: bool) -> tuple[Array, Counts]:
        memory = Memory(seed)
        windows: list[Window] = []
        types = {str(node.attribute("name")): node.type for node in self.graph.inputs}
        for number, buffer in enumerate(self.kernel.buffers):
            address = memory.allocate(buffer.name, buffer.bytes)
            written = number in self.kernel.written
            if not written:
                memory.write(address, to_memory(types[buffer.name].dtype, inputs[buffer.name]))
            windows.append(Window(buffer.name, address, buffer.bytes, written))
        counts = launch(
            parse(self.text),
            ENTRY,
            blocks=self.grid.blocks,
            memory=memory,
            windows=windows,
            seed=seed,
            traffic=traffic,
        )
        (result,) = (window for window in windows if window.written)
        dtype = numpy.int32 if self.graph.outputs[0][1].type.dtype is Dtype.I32 else numpy.float32
        return numpy.frombuffer(memory.read(result.address, result.bytes), dtype), counts


def one(operation: str, *types: TensorType, **attributes: Any) -> One:
    builder = Builder()
    inputs = [builder.input(f"x{place}", type_) for place, type_ in enumerate(types)]
    return One(builder.graph("one", [("y", builder.apply(operation, inputs, **attributes))]))


def numbers(draw: numpy.random.Generator, type_: TensorType, scale: float) -> Array:
    """Of both signs."""
    if type_.dtype is Dtype.I32:
        return draw.integers(-(1 << 31), 1 << 31, type_.shape).astype(numpy.int32)
    return draw.standard_normal(type_.shape, dtype=numpy.float32) * numpy.float32(scale)


@dataclass(frozen=True)
class Assembled:
    """What ptxas says of a kernel: registers of a thread, and bytes of a thread that went to memory."""

    registers: int
    spilled: int


def assembled(ptxas: str, text: str, folder: Path) -> Assembled:
    source = folder / "one.ptx"
    source.write_text(text, "utf-8")
    command = [ptxas, "-arch=sm_86", "-v", "-o", str(folder / "one.cubin"), str(source)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr

    def number(pattern: str) -> int:
        match = re.search(pattern, said)
        assert match is not None, said
        return int(match.group(1))

    spilled = number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes stack frame")
    return Assembled(number(r"Used (\d+) registers"), spilled)
