"""Runs kernels on the build machine, for tests.

It lowers a graph, lays its buffers out one after the other, and calls each kernel in a child process that loads the IR
with LLVM's JIT.

The child keeps a crash of tested code away from the tests. What it runs is the text that `codegen` makes, compiled with
the settings of the worker for the same processor.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy

from alpha.base.dtype import Dtype, TensorType
from alpha.codegen.frames import read_frame, write_frame
from alpha.codegen.llvm import kernels_ir
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.kernel.block import Turns
from alpha.kernel.lower import Lowered, lower
from alpha.kernel.node import Buffer, Kernel
from alpha.plan.plan import Loop
from alpha.targets import HOSTS

Array = Any
X86 = HOSTS[0]
GUARD = 64
FILL = 0xA5

MEMORY: Mapping[Dtype, Any] = {
    Dtype.F64: numpy.float64,
    Dtype.F32: numpy.float32,
    Dtype.BF16: numpy.uint16,
    Dtype.F16: numpy.float16,
    Dtype.I64: numpy.int64,
    Dtype.I32: numpy.int32,
    Dtype.U32: numpy.uint32,
    Dtype.U8: numpy.uint8,
    Dtype.BOOL: numpy.uint8,
}


def to_memory(dtype: Dtype, value: Array) -> bytes:
    """The bytes of an array held as the reference holds it."""
    if dtype is Dtype.BF16:
        value = numpy.asarray(value, numpy.float32).view(numpy.uint32) >> 16
    with numpy.errstate(over="ignore"):
        return numpy.ascontiguousarray(value).astype(MEMORY[dtype]).tobytes()


def from_memory(type_: TensorType, data: bytes) -> Array:
    value = numpy.frombuffer(data, MEMORY[type_.dtype]).reshape(type_.shape)
    if type_.dtype is Dtype.BF16:
        return (value.astype(numpy.uint32) << 16).view(numpy.float32)
    if type_.dtype is Dtype.F16:
        return value.astype(numpy.float32)
    return value.astype(numpy.bool_) if type_.dtype is Dtype.BOOL else value


def placed(buffer: Buffer, places: Mapping[str, int]) -> Buffer:
    rows = tuple(replace(row, offset=places[row.cell]) for row in buffer.rows)
    return replace(buffer, offset=places[buffer.name], rows=rows)


def plan_loop(turns: Turns, places: Mapping[str, int]) -> Loop:
    cell = places[turns.cell]
    return Loop(turns.first, turns.last, turns.count, turns.backward, cell, None)


def played(kernels: Sequence[Kernel], loops: Sequence[Loop]) -> Iterator[Kernel | tuple[int, int]]:
    """Kernels in the order they run, and before each turn of a loop its cell and the index."""

    def run(first: int, last: int, inside: Sequence[Loop]) -> Iterator[Kernel | tuple[int, int]]:
        place = first
        while place <= last:
            if inside and inside[0].first == place:
                loop, *others = inside
                inner = [item for item in others if item.first <= loop.last]
                for turn in range(loop.count):
                    yield loop.cell, loop.count - 1 - turn if loop.backward else turn
                    yield from run(loop.first, loop.last, inner)
                inside, place = others[len(inner) :], loop.last + 1
            else:
                yield kernels[place]
                place += 1

    return run(0, len(kernels) - 1, loops)


class Runner:
    """One child process; `run` gives the outputs of a graph."""

    def __init__(self) -> None:
        self.child = subprocess.Popen(
            (sys.executable, __file__), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def close(self) -> None:
        assert self.child.stdin and self.child.stdout
        self.child.stdin.close()
        self.child.wait(30)
        self.child.stdout.close()

    def call(
        self,
        ir: str,
        kernels: Sequence[Kernel],
        arena: bytes,
        parts: int,
        loops: Sequence[Loop] = (),
    ) -> bytes:
        """The arena after all kernels ran, the parallel ones as `parts` parts, the last part first."""
        assert self.child.stdin and self.child.stdout
        names = " ".join(
            f"={item[0]}/{item[1]}"
            if isinstance(item, tuple)
            else f"{item.symbol}/{parts if item.parallel else 1}"
            for item in played(kernels, loops)
        )
        text = ir.encode()
        header = {"names": names, "code": len(text)}
        write_frame(self.child.stdin, header, text + arena)
        answer = read_frame(self.child.stdout)
        assert answer is not None, "the kernels crashed"
        return answer[1]

    def run(self, graph: Graph, inputs: Mapping[str, Array], parts: int = 1) -> dict[str, Array]:
        graph = optimise(graph)
        found = self.run_lowered(lower(graph), inputs, parts)
        return {name: found[name].reshape(node.type.shape) for name, node in graph.outputs}

    def run_lowered(
        self, lowered: Lowered, inputs: Mapping[str, Array], parts: int = 1
    ) -> dict[str, Array]:
        """Checks, too, that nothing outside of the buffers was written, and that inputs are unchanged."""
        places: dict[str, int] = {}
        size = GUARD
        types = {name: node.type for name, node in lowered.nodes.items()}
        for name, type_ in types.items():
            places[name] = size
            size += -(-type_.bytes // 64) * 64 + GUARD
        arena = bytearray([FILL]) * size
        for name, _ in lowered.inputs:
            data = to_memory(types[name].dtype, inputs[name])
            arena[places[name] : places[name] + len(data)] = data
        kernels = [
            replace(
                kernel,
                buffers=tuple(placed(item, places) for item in kernel.buffers),
            )
            for kernel in lowered.kernels
        ]
        loops = [plan_loop(turns, places) for turns in lowered.loops]
        after = self.call(kernels_ir(kernels, X86), kernels, bytes(arena), parts, loops)
        holes = bytearray(after)
        for name, type_ in types.items():
            start, end = places[name], places[name] + type_.bytes
            if name in dict(lowered.inputs):
                assert after[start:end] == arena[start:end], f"input {name} was written"
            holes[start:end] = bytes([FILL]) * type_.bytes
        assert holes == bytes([FILL]) * size, "a kernel wrote outside of its buffers"
        found: dict[str, Array] = {}
        outputs = dict(lowered.outputs)
        for name, buffer in outputs.items():
            type_ = types[buffer.name]
            start = places[buffer.name]
            found[name] = from_memory(type_, after[start : start + type_.bytes])
        return found


def serve() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while (frame := read_frame(requests)) is not None:
        header, body = frame
        length = int(header["code"])
        text, arena = body[:length].decode(), body[length:]
        # The JIT looks functions up by name, which hidden ones do not have.
        module = llvm.parse_assembly(text.replace("define hidden", "define"))
        module.verify()
        target = llvm.Target.from_triple(X86.triple)
        machine = target.create_target_machine(
            cpu=X86.cpu, features=X86.features, opt=1, reloc="pic", codemodel="small", jit=True
        )
        engine = llvm.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        room = ctypes.create_string_buffer(len(arena) + 64)
        base = -(-ctypes.addressof(room) // 64) * 64
        ctypes.memmove(base, arena, len(arena))
        shape = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        for item in str(header["names"]).split():
            name, _, parts = item.rpartition("/")
            if name.startswith("="):
                ctypes.c_uint32.from_address(base + int(name[1:])).value = int(parts)
                continue
            kernel = shape(engine.get_function_address(name))
            for part in reversed(range(int(parts))):
                kernel(base, part, int(parts))
        write_frame(answers, {}, ctypes.string_at(base, len(arena)))
        del engine


if __name__ == "__main__":
    serve()
