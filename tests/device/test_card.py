"""What a card gives for the printed PTX: the bits of the model, kernel for kernel. Skipped where there is none.

The record of a run says what was found on that card under that driver, and nothing about other cards.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from alpha import __version__
from alpha.driver.device_code import plan_code
from alpha.evaluate.system import System
from alpha.plan.make import make_plan
from alpha.plan.plan import Dispatch
from alpha.targets.nvidia.spec import SM_86, SM_89
from device.driver import Driver, NoCard
from device_runner import Device, offset_of, trained_on
from packages import open_package
from targets.runtime.building import ROOT

TARGETS = {(8, 6): SM_86, (8, 9): SM_89}
RECORDS = ROOT / "build" / "device"
FILL = b"\xa5"


@pytest.fixture(scope="module")
def card() -> Iterator[Driver]:
    try:
        driver = Driver()
    except NoCard as why:
        pytest.skip(str(why))
    if driver.capability not in TARGETS:
        pytest.skip(f"no device: {driver.name} is of compute capability {driver.capability}")
    yield driver
    driver.close()


class Twins(Device):
    """A model whose launches a card repeats on the same bytes; both must write the same."""

    def attach(self, driver: Driver) -> None:
        self.driver = driver
        module = driver.module(self.text)
        self.functions = {name: driver.function(module, name) for name in self.module.entries}
        self.arena = driver.allocate(self.plan.arena)
        self.compared = 0

    def _one(self, dispatch: Dispatch, cells: Mapping[int, int]) -> None:
        places = [offset_of(operand, cells) for operand in dispatch.operands]
        pairs = list(zip(dispatch.operands, places, strict=True))
        for operand, place in pairs:
            if operand.written and not dispatch.accumulates:
                self.driver.write(self.arena + place, FILL * operand.bytes)
        for operand, place in pairs:
            if not operand.written or dispatch.accumulates:
                data = self.memory.read(self.base + place, operand.bytes)
                self.driver.write(self.arena + place, data)
        super()._one(dispatch, cells)
        addresses = [self.arena + place for place in places]
        function = self.functions[dispatch.entry]
        self.driver.launch(function, dispatch.blocks, dispatch.threads, addresses)
        for operand, place in pairs:
            if operand.written:
                expected = self.memory.read(self.base + place, operand.bytes)
                assert self.driver.read(self.arena + place, operand.bytes) == expected, (
                    dispatch.entry
                )
        self.compared += 1


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), [("Digits", 3), ("Olimpia", 1)])
def test_a_card_gives_the_bits_of_the_model(card: Driver, name: str, steps: int) -> None:
    evaluator, _ = open_package(None, f"{name}.Run")
    system: System = evaluator.system(f"{name}.Run.baseline")
    plan, kernels = make_plan(system, TARGETS[card.capability])
    twins = Twins(plan, plan_code(plan, kernels), system.graphs)
    twins.attach(card)
    checkpoint = trained_on(twins, system, steps, ROOT / "systems", __version__)
    assert twins.compared > 0
    record(card, name, steps, twins, checkpoint)


def record(card: Driver, name: str, steps: int, twins: Twins, checkpoint: bytes) -> Path:
    """Writes down what was found."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    path = RECORDS / f"{name.lower()}.json"
    found = {
        "schema": "alpha.device-run/1",
        "card": card.name,
        "capability": list(card.capability),
        "driver": card.version,
        "host": platform.machine(),
        "alpha": __version__,
        "system": name,
        "steps": steps,
        "launchesCompared": twins.compared,
        "ptxSha256": hashlib.sha256(twins.text.encode()).hexdigest(),
        "checkpointSha256": hashlib.sha256(checkpoint).hexdigest(),
    }
    path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    return path
