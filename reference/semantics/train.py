"""Trains a described system in numpy, step by step, and gives the state whose checkpoint the executable must equal.

A description is the JSON that `alpha.evaluate.describe.describe` makes of an evaluated policy. This reads of it:

    parameters, slots   lists of {name, type} in checkpoint order: `w1` is the state `net.w1`, `m.w1` is `slots.m.w1`;
                        `type` as in graph texts (`f32[64, 32]`)
    batchFields         list of {name, type} for a whole batch; `image` is the input `batch.image`
    keyed               whether the step takes `key`
    graphs              {name: graph text}: initial, rate, step, evaluate
    batch, seed, holdOut, shuffle
    data.examples       all of them; the first data.training are trained on, the last holdOut are held out
    evaluateEvery       when the stop rules look at the metrics
    stop                list of rules, each with `kind` and, for `Plateau`, `metric`
    texts               {policy, learner, data}: the canonical texts whose digests a checkpoint holds

The rows stand beside it: an array a field, with a leading axis of all examples, held-out ones last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

from semantics.checkpoint import Identity, checkpoint_bytes, digest, stop_text
from semantics.elementwise import STORAGE, cast
from semantics.evaluate import evaluate
from semantics.graph import Graph, Type, read_graph, read_type
from semantics.numerics import Array, lane_sum
from semantics.order import batch_rows
from semantics.philox import step_key

INFINITY_BITS = 0x7F800000

Execute = Callable[[str, Mapping[str, Array]], dict[str, Array]]
"""Carries out the program of a name: from its inputs to its outputs."""


@dataclass(slots=True)
class Run:
    """A run in progress: the state after `step` steps and what was logged on the way.

    `plateaus` has the state of each `Plateau` rule by its place: bits of the lowest value, evaluations since. `execute`
    carries out the programs; None has their graphs evaluated here.
    """

    description: Mapping[str, Any]
    rows: Mapping[str, Array]
    state: dict[str, Array]
    step: int = 0
    losses: list[numpy.float32] = field(default_factory=list)
    plateaus: dict[int, tuple[int, int]] = field(default_factory=dict)
    execute: Execute | None = None
    _graphs: dict[str, Graph] = field(default_factory=dict)

    def graph(self, name: str) -> Graph:
        if name not in self._graphs:
            self._graphs[name] = read_graph(self.description["graphs"][name])
        return self._graphs[name]

    def outputs(self, name: str, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What the program of a name gives."""
        if self.execute is not None:
            return self.execute(name, inputs)
        return evaluate(self.graph(name), inputs)

    @property
    def examples(self) -> int:
        """The examples that are trained on."""
        return int(self.description["data"]["training"])

    def batch(self, places: Array) -> dict[str, Array]:
        """The batch inputs made of these examples."""
        found: dict[str, Array] = {}
        for item in self.description["batchFields"]:
            name = str(item["name"])
            type_ = read_type(item["type"])
            found[f"batch.{name}"] = _converted(self.rows[name][places], type_)
        return found


def start(
    description: Mapping[str, Any],
    rows: Mapping[str, Array],
    weights: Mapping[str, Array] | None = None,
    execute: Execute | None = None,
) -> Run:
    """The state before step 1. `weights` are the parameters by path where the policy starts from a file."""
    run = Run(description, rows, {}, execute=execute)
    run.state = run.outputs("initial", {})
    for path, values in (weights or {}).items():
        run.state[f"net.{path}"] = values
    for place, rule in enumerate(description["stop"]):
        if rule["kind"] == "Plateau":
            run.plateaus[place] = (INFINITY_BITS, 0)
    return run


def advance(run: Run, steps: int) -> None:
    """`steps` more training steps."""
    description = run.description
    for _ in range(steps):
        run.step += 1
        number = numpy.uint32(run.step)
        rate = run.outputs("rate", {"step": number})["rate"]
        places = batch_rows(
            description["seed"],
            run.step,
            description["batch"],
            run.examples,
            description["shuffle"],
        )
        inputs = {**run.state, "step": number, "rate": rate, **run.batch(places)}
        if description["keyed"]:
            inputs["key"] = numpy.array(step_key(description["seed"], run.step), dtype=numpy.uint32)
        outputs = run.outputs("step", inputs)
        run.losses.append(numpy.float32(outputs.pop("loss")))
        run.state = outputs
        if run.plateaus and run.step % description["evaluateEvery"] == 0:
            observe(run)


def observe(run: Run) -> None:
    """One evaluation, as the `Plateau` rules see it: a value is new when it is lower than all before."""
    found = metrics(run)
    for place, (lowest, since) in run.plateaus.items():
        name = run.description["stop"][place]["metric"]
        value = found["loss" if name == "loss" else f"metric.{name}"]
        if value < numpy.uint32(lowest).view(numpy.float32):
            run.plateaus[place] = (int(value.view(numpy.uint32)), 0)
        else:
            run.plateaus[place] = (lowest, since + 1)


def metrics(run: Run) -> dict[str, numpy.float32]:
    """Each metric over the held-out batches, in order: the mean of the batch values (specification, section 12.3)."""
    batch = run.description["batch"]
    values: dict[str, list[Array]] = {}
    examples = int(run.description["data"]["examples"])
    for first in range(examples - int(run.description["holdOut"]), examples, batch):
        inputs = {**run.state, **run.batch(numpy.arange(first, first + batch))}
        outputs = run.outputs("evaluate", inputs)
        for name, value in outputs.items():
            values.setdefault(name, []).append(value)
    return {
        name: numpy.float32(lane_sum(numpy.stack(found), (0,)) / numpy.float32(len(found)))
        for name, found in values.items()
    }


def checkpoint(run: Run, version: str) -> bytes:
    """The checkpoint file of the run's state, as executables built by the compiler of `version` write it."""
    description = run.description
    named = [
        *((f"net.{item['name']}", item["type"]) for item in description["parameters"]),
        *((f"slots.{item['name']}", item["type"]) for item in description["slots"]),
    ]
    tensors = [(name, read_type(type_).dtype, run.state[name]) for name, type_ in named]
    texts = description["texts"]
    identity = Identity(
        description["seed"],
        digest(texts["policy"]),
        digest(texts["learner"]),
        digest(texts["data"]),
        version,
    )
    stop = stop_text([run.plateaus.get(place) for place in range(len(description["stop"]))])
    return checkpoint_bytes(tensors, run.step, identity, stop)


def _converted(values: Array, type_: Type) -> Array:
    """Stored rows in the batch dtype: nearest for floats, exact for integers (specification, section 17)."""
    stored = {"f4": "f32", "f8": "f64"}.get(values.dtype.str[1:], "i64")
    whole = values if values.dtype.kind == "f" else values.astype(numpy.int64)
    found = cast(whole, stored, type_.dtype)
    return numpy.asarray(found.reshape(type_.shape), dtype=STORAGE[type_.dtype])
