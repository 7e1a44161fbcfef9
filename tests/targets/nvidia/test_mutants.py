"""Every mistake in a kernel is told: by the fault of its kind, or by a wrong bit.

Graphs whose kernels have every shape that there is, in sizes that fill no block and no tile.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy
import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import replace
from alpha.driver.device_code import plan_code
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Node
from alpha.graph.passes import optimise
from alpha.graph.text import to_text
from alpha.plan.make import plan_graphs
from alpha.targets.nvidia import ptx
from alpha.targets.nvidia.read import from_text
from alpha.targets.nvidia.spec import SM_86
from alpha.targets.nvidia.text import to_text as ptx_text
from checked.sm86 import Fault
from device_runner import Device
from laws.graphs import same_bits
from semantics.evaluate import evaluate
from semantics.graph import read_graph
from targets.device_kernels.launching import graph_of
from targets.nvidia.ptx_mutants import EXPECTED, WRONG, Mutant, Outcome, mutants

TIES = numpy.array([-2, -1, -0.0, 0.0, 1, 1.5, numpy.nan], numpy.float32)
BOUND = 20_000
"""Instructions of a thread: more than any of these kernels needs."""


def f32(*shape: int) -> TensorType:
    return TensorType(Dtype.F32, shape)


def rows_plus_bias() -> Graph:
    builder = Builder()
    a, b = builder.input("a", f32(37, 19)), builder.input("b", f32(19))
    wide: Node = builder.apply("broadcast", (b,), shape=(37, 19))
    return builder.graph("one", [("y", builder.apply("sub", (a, wide)))])


def ids(*shape: int, bound: int) -> TensorType:
    return TensorType(Dtype.I32, shape, bound)


GRAPHS: dict[str, tuple[Graph, int]] = {
    "sub with a broadcast row": (rows_plus_bias(), 60),
    "fma of fours": (graph_of("fma", f32(9, 36), f32(9, 36), f32(9, 36)), 60),
    "exp": (graph_of("exp", f32(41)), 60),
    "transpose": (graph_of("transpose", f32(13, 9, 3), order=(2, 0, 1)), 60),
    "concat": (graph_of("concat", f32(5, 7), f32(5, 4), axis=1), 60),
    "gather": (graph_of("gather", f32(11, 5), ids(23, bound=11)), 60),
    "addRows": (graph_of("addRows", f32(23, 5), ids(23, bound=11)), 60),
    "sum of columns": (graph_of("sum", f32(35, 21), axes=(0,)), 60),
    "sum of rows": (graph_of("sum", f32(21, 75), axes=(1,)), 80),
    "argmax": (graph_of("argmax", f32(190, 5), axis=1), 60),
    "small contraction": (graph_of("contract", f32(7, 11), f32(11, 5), left="ik", right="kj", result="ij"), 60),
    "tiled contraction": (graph_of("contract", f32(131, 19), f32(19, 71), left="ik", right="kj", result="ij"), 120),
    "tiles of transposes": (graph_of("contract", f32(21, 70), f32(133, 21), left="ki", right="jk", result="ij"), 60),
}  # fmt: skip
"""Each with how many of its mistakes are made."""

LAST_PIECE = "the last piece ends where the row does"
BORDER = "of four neighbours one alone meets the border, which graphs of other sizes have elsewhere"
EQUAL: dict[tuple[str, str, str], str] = {
    ("exp", "number + 1", "shr.s32 %r, %r, 1"): "the exponent is applied in two parts, however it is split",
    ("concat", "off by one", "setp.lt.s32 %p, %r, 11"): LAST_PIECE,
    ("concat", "bound + 1", "setp.lt.s32 %p, %r, 11"): LAST_PIECE,
    ("tiled contraction", "off by one", "setp.lt.s32 %p, %r, 131"): BORDER,
    ("tiled contraction", "bound + 1", "setp.lt.s32 %p, %r, 131"): BORDER,
    ("tiled contraction", "off by one", "setp.lt.s32 %p, %r, 71"): BORDER,
    ("tiled contraction", "bound + 1", "setp.lt.s32 %p, %r, 71"): BORDER,
    ("tiled contraction", "number + 1", "add.s32 %r, %r, 1"): BORDER,
    ("tiled contraction", "number + 1", "add.s32 %r, %r, 2"): BORDER,
    ("tiled contraction", "number + 1", "add.s32 %r, %r, 3"): BORDER,
    ("tiles of transposes", "off by one", "setp.lt.s32 %p, %r, 133"): BORDER,
    ("tiles of transposes", "bound + 1", "setp.lt.s32 %p, %r, 133"): BORDER,
    ("tiles of transposes", "off by one", "setp.lt.s32 %p, %r, 70"): BORDER,
    ("tiles of transposes", "bound + 1", "setp.lt.s32 %p, %r, 70"): BORDER,
    ("tiles of transposes", "number + 1", "add.s32 %r, %r, 1"): BORDER,
    ("tiles of transposes", "number + 1", "add.s32 %r, %r, 2"): BORDER,
    ("tiles of transposes", "number + 1", "add.s32 %r, %r, 3"): BORDER,
    ("sum of rows", "bound + 1", "setp.eq.s32 %p, %r, 0"): "all 16 threads of a row end with its sum",
}  # fmt: skip
"""Mistakes that change nothing, with the reason: the graph, the kind, and the line without numbers of registers."""


def values_of(graph: Graph, ties: bool) -> dict[str, Any]:
    """Numbers without a pattern, one in seven zero; with `ties` a few that often meet their equals."""
    generator = numpy.random.default_rng(5)
    found: dict[str, Any] = {}
    for node in graph.inputs:
        type_ = node.type
        if type_.bound is not None:
            drawn = generator.integers(0, type_.bound, type_.shape, numpy.int32)
        else:
            drawn = generator.normal(0, 1, type_.shape).astype(numpy.float32)
            drawn.ravel()[::7] = 0
            if ties:
                drawn = generator.choice(TIES, type_.shape)
        found[str(node.attribute("name"))] = drawn
    return found


class Case:
    """One graph, planned for sm_86, with its right answer."""

    def __init__(self, graph: Graph) -> None:
        self.graph = optimise(graph)
        self.plan, kernels = plan_graphs([graph], SM_86)
        self.module = from_text(plan_code(self.plan, kernels))
        self.inputs = values_of(graph, graph.outputs[0][1].operation == "argmax")
        self.expected: Mapping[str, Any] = evaluate(read_graph(to_text(graph)), self.inputs)

    def mutants(self, count: int) -> list[tuple[int, Mutant]]:
        """Mistakes in all entries, a fixed choice of so many; at least one of each kind that there is."""
        found = [
            (number, mutant)
            for number, entry in enumerate(self.module.entries)
            for mutant in mutants(entry)
        ]
        random.Random(3).shuffle(found)
        first = {mutant.what: (number, mutant) for number, mutant in reversed(found)}
        rest = [item for item in found if item not in list(first.values())]
        return [*first.values(), *rest][:count]

    def outcome(self, module: ptx.Module) -> Outcome | None:
        """What tells that a module is wrong; None if nothing does."""
        for seed in range(2):
            device = Device(self.plan, ptx_text(module), [self.graph], seed, BOUND)
            try:
                found = device.run(self.graph.name, self.inputs)
            except Fault as fault:
                return fault.kind
            for name, value in self.expected.items():
                if not same_bits(numpy.asarray(value), found[name]):
                    return WRONG
        return None


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_every_mistake_is_told_by_its_fault(name: str) -> None:
    graph, count = GRAPHS[name]
    case = Case(graph)
    assert case.outcome(case.module) is None
    told: Counter[str] = Counter()
    for number, mutant in case.mutants(count):
        entries = list(case.module.entries)
        entries[number] = mutant.entry
        outcome = case.outcome(replace(case.module, entries=tuple(entries)))
        where = f"{mutant.what} in line {mutant.place}: {mutant.line}"
        if outcome is None:
            key = name, mutant.what, re.sub(r"%([a-z]+)\d+", r"%\1", mutant.line)
            assert key in EQUAL, f"nobody tells {where}"
            continue
        assert outcome in EXPECTED[mutant.what], f"{outcome} tells {where}"
        told[mutant.what] += 1
    assert told.total() >= count // 2


def test_there_are_enough_of_them() -> None:
    made = sum(len(Case(graph).mutants(count)) for graph, count in GRAPHS.values())
    assert made >= 300
