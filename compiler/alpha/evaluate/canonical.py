"""Canonical texts: sorted keys, numbers in shortest form. Their digests say whether a run may be resumed."""

from __future__ import annotations

import json
import math

from alpha.base.dtype import Dtype
from alpha.core.term import Amount
from alpha.evaluate.models import Parameter
from alpha.evaluate.policies import Settings
from alpha.evaluate.system import CsvLayout, Data, Tensor, Weights, WindowLayout
from alpha.evaluate.values import Initialiser, ListValue, Record, Scalar, TupleValue, Value, Variant
from alpha.graph.ieee import nearest
from alpha.graph.node import Graph
from alpha.graph.text import to_text

_F32_DIGITS = 10
"""Nine digits tell any two f32 apart."""

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


def text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def number(value: float, dtype: Dtype = Dtype.F32) -> str:
    """The value rounded to the fewest decimal digits that still give it in its dtype."""
    if dtype is not Dtype.F32 or not math.isfinite(value):
        return repr(value)
    texts = (f"{value:.{digits}g}" for digits in range(1, _F32_DIGITS))
    return repr(
        float(next((text for text in texts if nearest(float(text), dtype) == value), value))
    )


def plain(value: Value) -> Json:
    """A known value as JSON. Functions have no canonical form here: a schedule is its graph."""
    match value:
        case int() | str():
            return value
        case Amount(amount, unit, feature):
            return {"amount": str(amount), "unit": list(unit), "feature": feature}
        case Scalar(dtype, held):
            return number(float(held), dtype) if dtype.is_float else held
        case ListValue(items) | TupleValue(items):
            return [plain(item) for item in items]
        case Record(_, fields):
            return {name: plain(item) for name, item in fields.items()}
        case Variant():
            return {value.name: [plain(item) for item in value.arguments]}
        case _:
            raise TypeError(f"{type(value).__name__} has no canonical text")


def policy(settings: Settings, rate: Graph, weights: Weights | None) -> str:
    """Without what may differ when a run is resumed: steps, checkpoint, report, stop and mayMove."""
    started: dict[str, Json] = {} if weights is None else {"weights": weights.file.digest}
    return text(
        {
            **started,
            "batch": settings.batch,
            "bundle": settings.bundle,
            "evaluateEvery": settings.evaluate_every,
            "holdOut": settings.hold_out,
            "rate": to_text(rate),
            "seed": settings.seed,
            "shuffle": settings.shuffle,
            "start": plain(settings.start),
        }
    )


def learner(
    symbol: str,
    parameters: tuple[tuple[Parameter, Initialiser], ...],
    slots: tuple[tuple[str, Initialiser], ...],
    graphs: tuple[Graph, ...],
) -> str:
    return text(
        {
            "learner": symbol,
            "parameters": [
                {"name": parameter.path, "type": str(parameter.type), "init": _initialiser(init)}
                for parameter, init in parameters
            ],
            "slots": [{"name": name, "init": _initialiser(init)} for name, init in slots],
            "graphs": {graph.name: to_text(graph) for graph in graphs},
        }
    )


def _initialiser(initialiser: Initialiser) -> Json:
    return [initialiser.kind, number(initialiser.scale)]


def data(loaded: Data, fields: tuple[Tensor, ...]) -> str:
    """What is read, and how: the same examples in the same order have the same text."""
    described: list[Json] = [{"name": field.name, "type": str(field.type)} for field in fields]
    layout = loaded.layout
    files: dict[str, Json] = {"file": loaded.files[0].path, "digest": loaded.files[0].digest}
    if isinstance(layout, CsvLayout):
        described = [
            {"name": field.name, "type": str(field.type), "columns": list(columns)}
            for field, columns in zip(fields, layout.columns, strict=True)
        ]
        return text({**files, "header": layout.header, "fields": described})
    if isinstance(layout, WindowLayout):
        names: list[Json] = [f.name for f in sorted(loaded.fields, key=lambda field: field.first)]
        return text(
            {
                **files,
                "source": "bytes",
                "stride": layout.stride,
                "windows": names,
                "fields": described,
            }
        )
    return text(
        {
            "source": loaded.source,
            "files": [{"file": file.path, "digest": file.digest} for file in loaded.files],
            "fields": described,
        }
    )
