"""A plan as JSON: its text form, and what its digest is taken of. Spans are written as places."""

from __future__ import annotations

import json

from alpha.admission.amounts import json_value, unit_name
from alpha.base.span import Span
from alpha.plan.plan import Derivation, Plan

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
                        "place": _place(region.span),
                    }
                    for region in program.regions
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


def _derivation(node: Derivation) -> Object:
    result: Object = {"text": node.text, "amount": node.amount, "place": _place(node.span)}
    if node.parts:
        result["parts"] = [_derivation(part) for part in node.parts]
    return result


def _place(span: Span | None) -> str | None:
    return None if span is None else str(span)
