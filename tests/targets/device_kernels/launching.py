"""The kernel of one operation as PTX, on the checked model of sm_86 beside the reference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
from alpha.targets.nvidia.ptx import Module
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
    """A graph of one operation, and its kernel."""

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
    def module(self) -> Module:
        return emit_module([(ENTRY, self.kernel)], "sm_86")

    @cached_property
    def text(self) -> str:
        return to_text(self.module)

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


def graph_of(operation: str, *types: TensorType, **attributes: Any) -> Graph:
    """One operation on inputs `x0`, `x1`, ..., whose result is `y`."""
    builder = Builder()
    inputs = [builder.input(f"x{place}", type_) for place, type_ in enumerate(types)]
    return builder.graph("one", [("y", builder.apply(operation, inputs, **attributes))])


def one(operation: str, *types: TensorType, **attributes: Any) -> One:
    return One(graph_of(operation, *types, **attributes))


def numbers(draw: numpy.random.Generator, type_: TensorType, scale: float) -> Array:
    """Of both signs."""
    if type_.dtype is Dtype.I32:
        return draw.integers(-(1 << 31), 1 << 31, type_.shape).astype(numpy.int32)
    return draw.standard_normal(type_.shape, dtype=numpy.float32) * numpy.float32(scale)
