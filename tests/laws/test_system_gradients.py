"""The gradients that the shipped systems train by are the slopes of their losses, in float64 along random directions.

A step's first moment, from zero slots, holds the gradient: `moment` says how, with the parameter beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from alpha.graph.node import Graph
from laws import float64
from laws.graphs import inputs_of
from packages import open_package

Array = Any
SYSTEMS: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "Digits": ("m", lambda m, p: m / (1 - float(numpy.float32(0.9)))),
    # Its gradient is clipped at a norm of 1, which the one below does not reach.
    "Coppelius": ("m", lambda m, p: m / (1 - float(numpy.float32(0.9)))),
    "Olimpia": ("v", lambda v, p: v - float(numpy.float32(1e-4)) * p),
}
"""The slot that holds the first moment, and the gradient by it and the parameter."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_s_gradient_is_its_loss_s_slope(name: str) -> None:
    slot, gradient = SYSTEMS[name]
    evaluator, _ = open_package(None, f"{name}.Run")
    system = evaluator.system(f"{name}.Run.baseline")
    step = next(graph for graph in system.graphs if graph.name == "step")
    loss_only = Graph("loss", step.inputs, tuple(o for o in step.outputs if o[0] == "loss"))
    inputs: dict[str, Array] = dict(inputs_of(step, 5))
    generator = numpy.random.default_rng(6)
    for key, value in inputs.items():
        if key.startswith("net."):
            inputs[key] = generator.normal(0, 0.2, value.shape)
        elif key.startswith("slots."):
            inputs[key] = numpy.zeros(value.shape)
        elif value.dtype.kind == "f" and key.startswith("batch."):
            inputs[key] = generator.integers(0, 17, value.shape).astype(numpy.float64)
    inputs["step"], inputs["rate"] = numpy.uint32(1), numpy.float64(1e-3)
    found = float64.evaluate(step, inputs)

    def loss(key: str, moved: Array) -> float:
        return float(float64.evaluate(loss_only, {**inputs, key: moved})["loss"])

    parameters = [key for key in inputs if key.startswith("net.")]
    assert parameters
    for key in parameters:
        p = inputs[key]
        along = generator.normal(0, 1, p.shape)
        small = 1e-6
        slope = (loss(key, p + small * along) - loss(key, p - small * along)) / (2 * small)
        g = gradient(found[f"slots.{slot}.{key.removeprefix('net.')}"], p)
        assert float((g * along).sum()) == pytest.approx(slope, rel=1e-4, abs=1e-6), key
