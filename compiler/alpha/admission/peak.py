"""The moment of the memory peak: the launch at which most bytes of the arena are live."""

from __future__ import annotations

from alpha.base.record import record
from alpha.base.span import Span
from alpha.plan.liveness import live_bytes
from alpha.plan.plan import Plan


@record
class Moment:
    """`live` are the bytes of all buffers alive at that launch, state included; the arena also holds their gaps."""

    program: str
    region: int
    symbol: str
    live: int
    span: Span | None


def peak(plan: Plan) -> Moment | None:
    """The first launch with the most live bytes, programs in plan order; None for a plan without a launch."""
    best: Moment | None = None
    lasting = sum(buffer.bytes for buffer in plan.buffers if not buffer.program)
    for program in plan.programs:
        own = [buffer for buffer in plan.buffers if buffer.program == program.name]
        amounts = live_bytes(own, len(program.regions))
        for place, (region, amount) in enumerate(zip(program.regions, amounts, strict=True)):
            live = lasting + amount
            if best is None or live > best.live:
                best = Moment(program.name, place, region.symbol, live, region.span)
    return best
