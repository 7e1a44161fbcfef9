"""A system as plain data: everything but its rows, so that another program can run it again."""

from __future__ import annotations

from alpha.base.dtype import TensorType
from alpha.evaluate.canonical import Json
from alpha.evaluate.system import ArrayLayout, CsvLayout, Data, System, Tensor, WindowLayout
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
        "data": _data(system.data),
        "start": _start(system),
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


def _data(data: Data) -> Json:
    """How another program reads the same examples from the same files.

    `file` of a field is a place in `files`; `columns` are those of a csv file; `first` and `stride` are the beginning
    of the first window of a file of bytes, and the bytes from one to the next.
    """
    layout = data.layout
    fields: list[Json] = []
    for place, item in enumerate(data.fields):
        entry: dict[str, Json] = {
            "name": item.name,
            "type": str(item.type),
            "stored": item.stored.value,
            "file": place if isinstance(layout, ArrayLayout) else 0,
        }
        if isinstance(layout, CsvLayout):
            entry["columns"] = list(layout.columns[place])
        if isinstance(layout, WindowLayout):
            entry |= {"first": item.first, "stride": layout.stride}
        fields.append(entry)
    return {
        "source": data.source,
        "files": [{"file": file.path, "digest": file.digest} for file in data.files],
        "examples": data.examples,
        "training": data.training,
        "header": isinstance(layout, CsvLayout) and layout.header,
        "fields": fields,
    }


def _start(system: System) -> Json:
    """The file that the parameters are read from, and the name there of each; null for a fresh start."""
    if system.weights is None:
        return None
    names = zip(system.parameters, system.weights.names, strict=True)
    return {
        "file": system.weights.file.path,
        "digest": system.weights.file.digest,
        "tensors": {parameter.name: name for parameter, name in names},
    }


def _tensor(tensor: Tensor) -> Json:
    return {"name": tensor.name, "type": str(tensor.type)}


def _type(type: TensorType | None) -> Json:
    return None if type is None else str(type)
