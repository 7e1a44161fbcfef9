"""The arena over time: which buffer holds which bytes, at which launch. As facts, and as a drawing of them."""

from __future__ import annotations

import json

from alpha.admission.peak import peak
from alpha.base.record import record
from alpha.plan.plan import Buffer, Plan, ProgramPlan

SCHEMA = "alpha.memory/1"

KINDS = (
    ("parameters", "net."),
    ("slots", "slots."),
    ("batch", "batch."),
    ("numbers", ""),
)
"""Kinds of the buffers that live through all programs, by how their names begin. The rest is `workspace`."""

WORKSPACE = "workspace"


def kind_of(buffer: Buffer) -> str:
    """What a buffer is for: one of `KINDS`, or `WORKSPACE`."""
    if buffer.program:
        return WORKSPACE
    return next(kind for kind, prefix in KINDS if buffer.name.startswith(prefix))


@record
class Picture:
    """What is drawn: `programs` are those chosen, in plan order, `buffers` all that live in one of them."""

    plan: Plan
    programs: tuple[ProgramPlan, ...]

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        names = {"", *(program.name for program in self.programs)}
        return tuple(buffer for buffer in self.plan.buffers if buffer.program in names)

    def totals(self) -> dict[str, int]:
        """Bytes of each kind, in the order in which they lie in the arena; of the workspace, its part of the arena."""
        found = dict.fromkeys((*(kind for kind, _ in KINDS), WORKSPACE), 0)
        for buffer in self.buffers:
            if not buffer.program:
                found[kind_of(buffer)] += buffer.bytes
        found[WORKSPACE] = self.plan.arena - self.plan.state
        return {kind: size for kind, size in found.items() if size}


def memory_json(picture: Picture) -> str:
    """One document on one line (`alpha.memory/1`). Launches count from 0, as in the plan."""
    plan, moment = picture.plan, peak(picture.plan)
    document = {
        "schema": SCHEMA,
        "device": None if plan.device is None else plan.device.name,
        "arena": plan.arena,
        "state": plan.state,
        "peak": None
        if moment is None
        else {"program": moment.program, "launch": moment.region, "live": moment.live},
        "programs": [
            {
                "name": program.name,
                "launches": len(program.regions),
                "loops": [
                    {"first": loop.first, "last": loop.last, "count": loop.count}
                    for loop in program.loops
                ],
            }
            for program in picture.programs
        ],
        "buffers": [
            {
                "name": buffer.name,
                "kind": kind_of(buffer),
                "type": str(buffer.type),
                "program": buffer.program or None,
                "offset": buffer.offset,
                "bytes": buffer.bytes,
                "first": buffer.first if buffer.program else None,
                "last": buffer.last if buffer.program else None,
                "place": None if buffer.span is None else str(buffer.span),
            }
            for buffer in picture.buffers
        ],
    }
    return json.dumps(document, ensure_ascii=False) + "\n"
