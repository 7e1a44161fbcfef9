"""The nearest changes that would be admitted: one number at a time, each re-admitted before it is proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from alpha.admission.admitted import Admission
from alpha.base.record import record
from alpha.base.span import Span
from alpha.core.term import Amount


@record
class Change:
    """A number of the policy that would make the build admitted. `needed` is what the refused demand then needs."""

    entry: str
    before: int
    after: int
    demand: str
    needed: Amount
    span: Span | None


def nearest_number(
    candidates: Sequence[int], admission: Callable[[int], Admission | None]
) -> tuple[int, Admission] | None:
    """The first of `candidates`, nearest first, whose admission succeeds; None if none does.

    `admission` gives None for a candidate that cannot be built at all. Demands shrink along the candidates, so a
    bisection finds the border; a candidate that cannot be built counts as refused.
    """
    low, high = 0, len(candidates)
    best: tuple[int, Admission] | None = None
    while low < high:
        middle = (low + high) // 2
        found = admission(candidates[middle])
        if found is not None and found.admitted is not None:
            best, high = (candidates[middle], found), middle
        else:
            low = middle + 1
    return best


def smaller_batches(batch: int, hold_out: int) -> list[int]:
    """Batch sizes below `batch`, the largest first, that divide the held-out examples into whole batches."""
    return [size for size in range(batch - 1, 0, -1) if hold_out % size == 0]
