"""What a library shows of its system: the arrays it takes and gives, and the symbols that take them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from alpha.base.dtype import TensorType
from alpha.base.record import fields, record
from alpha.evaluate.system import System
from alpha.plan.plan import Plan

ABI = 1
"""Raised when a call takes or gives something else than before."""
ABI_SYMBOL = "shared_abi"
CALLS = ("bytes", "open", "step", "evaluate", "predict", "load", "save", "error", "close")


@record
class Array:
    """An argument: its dtype, its shape (the batch axis in front), and `n` of `index n`, else 0."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bound: int


@record
class Interface:
    """`name` is what every symbol begins with, and an underscore behind it.

    `step` and `evaluate` are the fields that these calls read; the others of a batch may be null pointers. `metrics`
    name the numbers that `evaluate` gives, in order. A system without `predict` has no `input` and no `output`.
    """

    name: str
    system: str
    batch: tuple[Array, ...]
    step: tuple[str, ...]
    evaluate: tuple[str, ...]
    metrics: tuple[str, ...]
    input: Array | None
    output: Array | None


def interface_of(system: System, plan: Plan) -> Interface:
    programs = {program.name: program for program in plan.programs}
    reads = {
        name: tuple(
            tensor.name
            for tensor in system.batch_fields
            if name in programs and f"batch.{tensor.name}" in dict(programs[name].inputs)
        )
        for name in ("step", "evaluate")
    }
    batch = [
        _array(field.name, field.type, (system.batch, *field.type.shape))
        for field in system.data.fields
    ]
    has_predict = "predict" in programs
    return Interface(
        identifier(system.name.partition(".Run.")[0].rpartition(".")[2].lower()),
        system.name,
        tuple(batch),
        reads["step"],
        reads["evaluate"],
        metric_names(system, plan),
        _end("input", system.predict_input) if has_predict else None,
        _end("output", system.predict_output) if has_predict else None,
    )


def metric_names(system: System, plan: Plan) -> tuple[str, ...]:
    """What an evaluation gives: the loss, where the learner has one, then the metrics."""
    outputs = [dict(p.outputs) for p in plan.programs if p.name == "evaluate"]
    has_loss = any("loss" in each for each in outputs)
    return (("loss",) if has_loss else ()) + (system.metrics if outputs else ())


def exports(interface: Interface) -> Iterator[tuple[str, str]]:
    """The symbols of a library, each with the symbol of the runtime that it names."""
    for call in CALLS:
        yield f"{interface.name}_{call}", f"shared_{call}"
    yield f"{interface.name}_ABI", ABI_SYMBOL


def interface_json(interface: Interface) -> str:
    """The property `alpha:interface` of a library's manifest, from which `alpha.load` knows its arrays."""
    document = {part.name: getattr(interface, part.name) for part in fields(interface)}
    document |= {
        "batch": [_document(array) for array in interface.batch],
        "input": _document(interface.input),
        "output": _document(interface.output),
    }
    return json.dumps(document, separators=(",", ":"))


def _document(array: Array | None) -> dict[str, object] | None:
    if array is None:
        return None
    return {part.name: getattr(array, part.name) for part in fields(array)}


def identifier(name: str) -> str:
    """A name of Alpha as one that C and C++ take."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _array(name: str, kind: TensorType, shape: tuple[int, ...]) -> Array:
    return Array(name, kind.dtype.value, shape, kind.bound or 0)


def _end(name: str, kind: TensorType | None) -> Array | None:
    return None if kind is None else _array(name, kind, kind.shape)
