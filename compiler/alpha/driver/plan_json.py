"""A plan as JSON: its text form, and what its digest is taken of. Spans are written as places."""

from __future__ import annotations

import json

from alpha.admission.amounts import json_value, unit_name
from alpha.base.span import Span
from alpha.plan.plan import Derivation, Plan, Result

Object = dict[str, object]


def plan_text(plan: Plan) -> str:
    """One document, keys in a fixed order, ending with a newline."""
    document = {
        "arena": plan.arena,
        "state": plan.state,
        "buffers": [
            {
                "name": buffer.name,
                "type": str(buffer.type),
                "offset": buffer.offset,
                "bytes": buffer.bytes,
                "program": buffer.program,
                "first": buffer.first,
                "last": buffer.last,
                "place": _place(buffer.span),
            }
            for buffer in plan.buffers
        ],
        "programs": [
            {
                "name": program.name,
                "regions": [
                    {
                        "symbol": region.symbol,
                        "parallel": region.parallel,
                        "writes": [_result(result) for result in region.results],
                        "place": _place(region.span),
                    }
                    for region in program.regions
                ],
                "loops": [
                    {
                        "first": loop.first,
                        "last": loop.last,
                        "count": loop.count,
                        "backward": loop.backward,
                        "cell": loop.cell,
                        "place": _place(loop.span),
                    }
                    for loop in program.loops
                ],
                "inputs": dict(program.inputs),
                "outputs": dict(program.outputs),
            }
            for program in plan.programs
        ],
        "demands": [
            {
                "name": demand.name,
                "kind": demand.kind,
                "bound": demand.bound,
                "unit": unit_name(demand.amount),
                "amount": json_value(demand.amount),
                "derivation": _derivation(demand.derivation),
            }
            for demand in plan.demands
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _result(result: Result) -> str:
    """`f32[160] at 4096 + 640 x index at 64`: in a loop the place moves with the index."""
    rows = "".join(f" + {stride} x index at {cell}" for cell, stride in result.rows)
    return f"{result.dtype.value}[{result.count}] at {result.offset}{rows}"


def _derivation(node: Derivation) -> Object:
    result: Object = {"text": node.text, "amount": node.amount, "place": _place(node.span)}
    if node.parts:
        result["parts"] = [_derivation(part) for part in node.parts]
    return result


def _place(span: Span | None) -> str | None:
    return None if span is None else str(span)
