"""The law of the plan, checked on every plan. A broken law is a bug in Alpha: `PlanFault`.

Each law is one entry of `LAWS`:

1. `aligned`: every buffer starts at a multiple of 64 bytes.
2. `inside`: every buffer ends in the arena, and one that lives through all programs in its state.
3. `apart`: buffers that are live at once share no byte. Programs never run at the same time.
4. `adds`: the parts of a derivation add up to its amount, and the amount of a demand is that of its derivation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from alpha.plan.arena import ALIGNMENT
from alpha.plan.plan import Buffer, Plan


class PlanFault(Exception):
    """The verifier found a plan that breaks the law of its level."""


def verify(plan: Plan) -> None:
    """Checks every law; the first that is broken raises `PlanFault`."""
    for name, law in LAWS:
        for fault in law(plan):
            raise PlanFault(f"the plan breaks the law `{name}`: {fault}")


def _aligned(plan: Plan) -> Iterator[str]:
    for buffer in plan.buffers:
        if buffer.offset % ALIGNMENT or buffer.offset < 0:
            yield f"`{buffer.name}` lies at {buffer.offset}"


def _inside(plan: Plan) -> Iterator[str]:
    for buffer in plan.buffers:
        end = plan.arena if buffer.program else plan.state
        if buffer.offset + buffer.bytes > end:
            yield f"`{buffer.name}` leaves the {end} bytes it may lie in"


def _apart(plan: Plan) -> Iterator[str]:
    lasting = [buffer for buffer in plan.buffers if not buffer.program]
    yield from _shared(lasting)
    for program in dict.fromkeys(buffer.program for buffer in plan.buffers if buffer.program):
        own = [buffer for buffer in plan.buffers if buffer.program == program]
        for launch in sorted({buffer.first for buffer in own}):
            live = [item for item in own if item.first <= launch <= item.last]
            yield from _shared([*lasting, *live])


def _shared(buffers: Sequence[Buffer]) -> Iterator[str]:
    end, before = 0, ""
    for buffer in sorted(buffers, key=lambda item: (item.offset, item.bytes)):
        if buffer.offset < end:
            yield f"`{buffer.name}` and `{before}` share bytes while both are live"
        end, before = buffer.offset + buffer.bytes, buffer.name


def _adds(plan: Plan) -> Iterator[str]:
    for demand in plan.demands:
        if demand.derivation.amount != demand.amount.value:
            yield f"`{demand.name}` is {demand.amount.value}, derived {demand.derivation.amount}"
        pending = [demand.derivation]
        while pending:
            node = pending.pop()
            pending += node.parts
            if node.parts and sum(part.amount for part in node.parts) != node.amount:
                yield f"the parts of `{node.text}` do not add up to {node.amount}"


LAWS: tuple[tuple[str, Callable[[Plan], Iterator[str]]], ...] = (
    ("aligned", _aligned),
    ("inside", _inside),
    ("apart", _apart),
    ("adds", _adds),
)
