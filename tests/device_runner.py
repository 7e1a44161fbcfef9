"""Runs programs of a device's plan on the checked model of sm_86, for tests.

What runs is the printed PTX, parsed by the model. The arena lies at an address of chance; before a region runs for the
first time the bytes of buffers that begin to live with it are unknown, so nothing is read that the plan says is dead,
and a launch touches the operands of its region and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from alpha.base.device import DeviceTarget
from alpha.base.dtype import TensorType
from alpha.driver.device_code import plan_code
from alpha.evaluate.describe import describe
from alpha.evaluate.system import System
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.plan.make import make_plan, plan_graphs
from alpha.plan.plan import Dispatch, Operand, Plan, ProgramPlan
from alpha.targets.nvidia.spec import SM_86
from checked.sm86 import Counts, Memory, Window, launch, parse
from kernel_runner import from_memory, played, to_memory
from packages import open_package
from semantics import train
from semantics.data import read_examples, read_weights

Array = Any
STATE = ("net.", "slots.")
BOUND = 1 << 22


class Device:
    """A card with one build on it. `run` carries out a program; parameters and slots stay in the arena between runs.

    `text` is the PTX of the plan, `bound` the most instructions of a thread in one launch.
    """

    def __init__(
        self,
        plan: Plan,
        text: str,
        graphs: Sequence[Graph],
        seed: int = 0,
        bound: int = BOUND,
    ) -> None:
        self.plan = plan
        self.seed = seed
        self.bound = bound
        self.types = {graph.name: _types(graph) for graph in graphs}
        self.text = text
        self.module = parse(self.text)
        self.memory = Memory(seed)
        self.base = self.memory.allocate("arena", plan.arena)
        self.counts = Counts()
        self._held: set[str] = set()

    def run(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of a program. State that is in the arena already is not written again."""
        program = self.plan.program(name)
        given, made = self.types[name]
        for key, offset in program.inputs:
            if key not in self._held:
                data = to_memory(given[key].dtype, inputs[key])
                self.memory.write(self.base + offset, data)
        self._launch(program)
        self._held |= {key for key, _ in program.outputs if key.startswith(STATE)}
        found: dict[str, Array] = {}
        for key, offset in program.outputs:
            type_ = made[key]
            data = self.memory.read(self.base + offset, type_.bytes)
            found[key] = from_memory(type_, data)
        return found

    def _launch(self, program: ProgramPlan) -> None:
        begun: set[int] = set()
        cells: dict[int, int] = {}
        for item in played(range(len(program.regions)), program.loops):
            if isinstance(item, tuple):
                cell, index = item
                cells[cell] = index
                self.memory.write(self.base + cell, index.to_bytes(4, "little"))
                continue
            if item not in begun:
                begun.add(item)
                self._begin(program, item, cells)
            dispatch = program.regions[item].dispatch
            assert dispatch is not None
            self._one(dispatch, cells)

    def _one(self, dispatch: Dispatch, cells: Mapping[int, int]) -> None:
        self.seed += 1
        windows = [
            Window(
                f"b{number}",
                self.base + offset_of(operand, cells),
                operand.bytes,
                operand.written,
                operand.written and dispatch.accumulates,
            )
            for number, operand in enumerate(dispatch.operands)
        ]
        self.counts += launch(
            self.module,
            dispatch.entry,
            blocks=dispatch.blocks,
            memory=self.memory,
            windows=windows,
            seed=self.seed,
            bound=self.bound,
        )

    def _begin(self, program: ProgramPlan, region: int, cells: Mapping[int, int]) -> None:
        """Forgets the bytes of buffers that begin to live, but for those of operands that end here."""
        given = {offset for _, offset in program.inputs} | cells.keys()
        own = [item for item in self.plan.buffers if item.program == program.name]
        living = [item for item in own if item.first < region <= item.last]
        for item in own:
            if item.first != region or item.offset in given:
                continue
            stays = any(
                item.offset < other.offset + other.bytes and other.offset < item.offset + item.bytes
                for other in living
            )
            if not stays:
                self.memory.forget(self.base + item.offset, item.bytes)


def offset_of(operand: Operand, cells: Mapping[int, int]) -> int:
    """Where in the arena an operand begins, with the index that each cell holds."""
    return operand.offset + sum(cells[cell] * stride for cell, stride in operand.rows)


def _types(graph: Graph) -> tuple[dict[str, TensorType], dict[str, TensorType]]:
    given = {str(node.attribute("name")): node.type for node in graph.inputs}
    return given, {name: node.type for name, node in graph.outputs}


class DeviceRunner:
    """`run` gives the outputs of a graph, as `kernel_runner.Runner` does."""

    def __init__(self, target: DeviceTarget = SM_86) -> None:
        self.target = target

    def close(self) -> None:
        pass

    def run(self, graph: Graph, inputs: Mapping[str, Array], parts: int = 1) -> dict[str, Array]:
        """`parts` chooses the order of blocks and the place of the arena."""
        plan, kernels = plan_graphs([graph], self.target)
        device = Device(plan, plan_code(plan, kernels), [optimise(graph)], parts)
        return device.run(graph.name, inputs)


def on_model(system: System) -> Device:
    """A card with the programs of a system."""
    plan, kernels = make_plan(system, SM_86)
    return Device(plan, plan_code(plan, kernels), system.graphs)


def trained(
    package: Path | None, name: str, steps: int, data: Path, version: str
) -> tuple[bytes, Device]:
    """The checkpoint after so many steps of the policy `baseline` of a system, all of them on the model.

    `package` is None for a shipped system; `data` is the folder of its data files.
    """
    evaluator, _ = open_package(package, f"{name}.Run")
    system = evaluator.system(f"{name}.Run.baseline")
    device = on_model(system)
    return trained_on(device, system, steps, data, version), device


def trained_on(device: Device, system: System, steps: int, data: Path, version: str) -> bytes:
    """The checkpoint after so many steps on a device."""
    described = json.loads(json.dumps(describe(system)))
    rows, weights = read_examples(described, data), read_weights(described, data)
    run = train.start(described, rows, weights, device.run)
    train.advance(run, steps)
    return train.checkpoint(run, version)
