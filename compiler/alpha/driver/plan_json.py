"""A plan as JSON (`alpha.plan/1`): its text form, and what its digest is taken of. Spans are written as places.

Of a device it is all that a host needs to run the programs: `docs/nvidia.md` says what each name means.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from alpha.admission.amounts import json_value, unit_name
from alpha.base.span import Span
from alpha.plan.plan import Derivation, Dispatch, Plan, ProgramPlan, Region, Result

Object = dict[str, object]

SCHEMA = "alpha.plan/1"


def plan_text(plan: Plan) -> str:
    """One document, keys in a fixed order, ending with a newline."""
    document = {
        "schema": SCHEMA,
        "device": plan.device.name if plan.device else None,
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
                "regions": [_region(region) for region in program.regions],
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
                "inputs": _ports(plan, program, program.inputs, 0),
                "outputs": _ports(plan, program, program.outputs, max(len(program.regions) - 1, 0)),
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


def _region(region: Region) -> Object:
    if region.dispatch is not None:
        return {
            "symbol": region.symbol,
            **_dispatch(region.dispatch),
            "place": _place(region.span),
        }
    return {
        "symbol": region.symbol,
        "parallel": region.parallel,
        "writes": [_result(result) for result in region.results],
        "place": _place(region.span),
    }


def _dispatch(launch: Dispatch) -> Object:
    return {
        "entry": launch.entry,
        "blocks": launch.blocks,
        "threads": launch.threads,
        "registers": launch.registers,
        "shared": launch.shared,
        "accumulates": launch.accumulates,
        "operands": [
            {
                "offset": operand.offset,
                "bytes": operand.bytes,
                "written": operand.written,
                "rows": [{"cell": cell, "stride": stride} for cell, stride in operand.rows],
            }
            for operand in launch.operands
        ],
    }


def _ports(
    plan: Plan, program: ProgramPlan, ports: Sequence[tuple[str, int]], launch: int
) -> list[Object]:
    """Inputs before the first launch, or outputs behind the last one, with what lies there."""
    live = {
        buffer.offset: buffer
        for buffer in plan.buffers
        if not buffer.program
        or (buffer.program == program.name and buffer.first <= launch <= buffer.last)
    }
    return [
        {
            "name": name,
            "type": str(live[offset].type),
            "offset": offset,
            "bytes": live[offset].bytes,
        }
        for name, offset in ports
    ]


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
