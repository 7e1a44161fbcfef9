"""A system as plain data: everything but its rows, so that another program can run it again."""

from __future__ import annotations

from alpha.base.dtype import TensorType
from alpha.evaluate.canonical import Json
from alpha.evaluate.system import System, Tensor
from alpha.graph.text import to_text


def describe(system: System) -> dict[str, Json]:
    """JSON-able; graphs in their text form, so that nothing is lost."""
    return {
        "schema": "alpha.system/1",
        "name": system.name,
        "parameters": [_tensor(tensor) for tensor in system.parameters],
        "slots": [_tensor(tensor) for tensor in system.slots],
        "batchFields": [_tensor(tensor) for tensor in system.batch_fields],
        "metrics": list(system.metrics),
        "keyed": system.keyed,
        "predictInput": _type(system.predict_input),
        "predictOutput": _type(system.predict_output),
        "graphs": {graph.name: to_text(graph) for graph in system.graphs},
        "data": {
            "file": system.data.file,
            "digest": system.data.digest,
            "examples": system.data.examples,
            "header": system.data.layout.header,
            "fields": [
                {
                    "name": field.name,
                    "type": str(field.type),
                    "stored": field.stored.value,
                    "columns": list(columns),
                }
                for field, columns in zip(
                    system.data.fields, system.data.layout.columns, strict=True
                )
            ],
        },
        "batch": system.batch,
        "steps": system.steps,
        "seed": system.seed,
        "holdOut": system.hold_out,
        "shuffle": system.shuffle,
        "bundle": system.bundle,
        "evaluateEvery": system.evaluate_every,
        "checkpoint": {
            "every": system.checkpoint.every,
            "keep": system.checkpoint.keep,
            "folder": system.checkpoint.folder,
        },
        "report": {
            "every": system.report.every,
            "scalars": list(system.report.scalars),
            "to": list(system.report.sinks),
        },
        "stop": [
            {
                "kind": rule.kind,
                "metric": rule.metric,
                "patience": rule.patience,
                "value": rule.value,
            }
            for rule in system.stop
        ],
        "mayMove": list(system.may_move),
        "texts": {
            "policy": system.policy_text,
            "learner": system.learner_text,
            "data": system.data_text,
        },
    }


def _tensor(tensor: Tensor) -> Json:
    return {"name": tensor.name, "type": str(tensor.type)}


def _type(type: TensorType | None) -> Json:
    return None if type is None else str(type)
