"""What `alpha build --emit ptx` writes is all that a host needs: two files alone run a system on the checked model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy
import pytest

from alpha.graph.text import to_text
from checked.sm86 import Memory, Window, launch, parse
from laws.graphs import same_bits
from packages import open_package
from semantics.evaluate import evaluate
from semantics.graph import read_graph

PAIRING = "Digits.Build.RTX3090"
NAME = "build/digits-rtx3090.ptx"
KINDS = {"f32": "<f4", "i32": "<i4", "u32": "<u4", "index<10>": "<i4"}

pytestmark = pytest.mark.slow
Array = Any


def built(folder: Path, seed: str = "0") -> dict[str, bytes]:
    """The files of a build in a folder."""
    folder.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", "alpha", "build", PAIRING, "--emit", "ptx"],
        cwd=folder,
        env=dict(os.environ, PYTHONHASHSEED=seed),
        check=True,
        capture_output=True,
    )
    return {path.name: path.read_bytes() for path in sorted((folder / "build").iterdir())}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return built(tmp_path_factory.mktemp("card") / "own")


class Card:
    """A host as `docs/nvidia.md` describes one, which has read nothing but the two files."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.plan = json.loads(files["digits-rtx3090.ptx.plan.json"])
        self.code = parse(files["digits-rtx3090.ptx"].decode())
        self.memory = Memory(7)
        self.arena = self.memory.allocate("arena", self.plan["arena"])
        self.launches = 0

    def run(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """The outputs of a program. Inputs that are not given are in the arena already."""
        program = next(item for item in self.plan["programs"] if item["name"] == name)
        for port in program["inputs"]:
            if port["name"] in inputs:
                data = numpy.ascontiguousarray(inputs[port["name"]]).tobytes()
                assert len(data) == port["bytes"]
                self.memory.write(self.arena + port["offset"], data)
        for region, cells in turns(program, 0, len(program["regions"]), {}):
            for cell, index in cells.items():
                self.memory.write(self.arena + cell, index.to_bytes(4, "little"))
            self.launch(program["regions"][region], cells)
        return {port["name"]: self.read(port) for port in program["outputs"]}

    def launch(self, region: Mapping[str, Any], cells: Mapping[int, int]) -> None:
        windows = []
        for number, operand in enumerate(region["operands"]):
            moved = sum(row["stride"] * cells[row["cell"]] for row in operand["rows"])
            address = self.arena + operand["offset"] + moved
            partial = operand["written"] and region["accumulates"]
            window = Window(f"b{number}", address, operand["bytes"], operand["written"], partial)
            windows.append(window)
        self.launches += 1
        launch(
            self.code,
            region["entry"],
            blocks=region["blocks"],
            memory=self.memory,
            windows=windows,
            seed=self.launches,
        )

    def read(self, port: Mapping[str, Any]) -> Array:
        kind, _, shape = port["type"].partition("[")
        data = self.memory.read(self.arena + port["offset"], port["bytes"])
        sizes = [int(size) for size in shape.removesuffix("]").split(",") if size.strip()]
        return numpy.frombuffer(data, KINDS[kind]).reshape(sizes)


def turns(
    program: Mapping[str, Any], first: int, stop: int, cells: Mapping[int, int]
) -> Iterator[tuple[int, Mapping[int, int]]]:
    """Regions in the order in which they are launched, each with the indices of the loops around it."""
    place = first
    while place < stop:
        loop = next(
            (
                item
                for item in program["loops"]
                if item["first"] == place and item["last"] < stop and item["cell"] not in cells
            ),
            None,
        )
        if loop is None:
            yield place, cells
            place += 1
            continue
        order = range(loop["count"])
        for index in reversed(order) if loop["backward"] else order:
            yield from turns(program, place, loop["last"] + 1, {**cells, loop["cell"]: index})
        place = loop["last"] + 1


def test_the_entries_are_those_of_the_plan_and_keep_its_bounds(files: dict[str, bytes]) -> None:
    card = Card(files)
    assert card.code.target == card.plan["device"]
    regions = [region for program in card.plan["programs"] for region in program["regions"]]
    assert list(card.code.entries) == list(dict.fromkeys(region["entry"] for region in regions))
    for region in regions:
        entry = card.code.entries[region["entry"]]
        stated = entry.threads, entry.registers, entry.shared, len(entry.parameters)
        operands = len(region["operands"])
        assert stated == (region["threads"], region["registers"], region["shared"], operands)
    demands = {demand["name"]: demand["amount"] for demand in card.plan["demands"]}
    bounds = [entry.registers for entry in card.code.entries.values()]
    assert demands["registers-per-thread"] == max(bounds)
    assert demands["video-memory-bytes"] == card.plan["arena"]


def test_the_files_alone_run_the_system_to_the_bits_of_the_reference(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    system = open_package(tmp_path, "Digits.Run")[0].system("Digits.Run.baseline")
    graphs = {graph.name: read_graph(to_text(graph)) for graph in system.graphs}
    card = Card(files)

    def same(program: str, given: dict[str, Array], kept: dict[str, Array]) -> dict[str, Array]:
        """Both run a program; `kept` is what lies in the arena already."""
        found = card.run(program, given)
        wanted = evaluate(graphs[program], {**kept, **given})
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            assert same_bits(found[name], value), f"{program}: {name}"
        return wanted

    state = same("initial", {}, {})
    for number in (1, 2):
        rows = slice(number * 32, number * 32 + 32)
        image, label = (field.rows[rows] for field in system.data.fields)
        batch = {
            "batch.image": image.astype("<f4"),
            "batch.label": label.astype("<i4").reshape(32),
        }
        step = numpy.array(number, "<u4")
        rate = same("rate", {"step": step}, {})
        after = same("step", {**batch, **rate, "step": step}, state)
        state = {name: value for name, value in after.items() if name != "loss"}
    net = {name: value for name, value in state.items() if name.startswith("net.")}
    same("evaluate", batch, net)
    same("predict", {"input": batch["batch.image"]}, net)


def test_equal_inputs_give_equal_bytes_anywhere(files: dict[str, bytes], tmp_path: Path) -> None:
    again = built(tmp_path / "another" / "place", seed="5")
    assert again == files
