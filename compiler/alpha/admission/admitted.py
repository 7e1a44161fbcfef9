"""The decision, and the token that proves it: emission takes an `Admitted`, and only `admit` makes one."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.admission.compare import Row, Verdict, compare, refusal
from alpha.admission.errors import condition_false, unmet
from alpha.base.record import record
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic
from alpha.evaluate.system import Profile
from alpha.plan.plan import Demand

_ADMISSION_KEY = object()


class Admitted:
    """Proof that every one of `demands` was met by `profile`. Whoever emits a plan asks that they are that plan's."""

    __slots__ = ("demands", "profile")

    def __init__(self, demands: tuple[Demand, ...], profile: str, _key: object) -> None:
        if _key is not _ADMISSION_KEY:
            raise TypeError("only admission makes Admitted")
        self.demands = demands
        self.profile = profile

    def require(self, demands: Sequence[Demand]) -> None:
        """Stops the emission of anything but what was admitted."""
        if tuple(demands) != self.demands:
            raise ValueError("this is not the plan that was admitted")


@record
class Admission:
    """`refusal` is the name of the first unmet demand, or "" if there is none.

    `condition` is what the pairing's own `admit` said; it can refuse what the comparison admits, never the reverse.
    `admitted` is None unless both agree, and then `diagnostics` says why.
    """

    profile: Profile
    rows: tuple[Row, ...]
    refusal: str
    condition: bool
    diagnostics: tuple[Diagnostic, ...]
    admitted: Admitted | None

    @property
    def unmet(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict is not Verdict.MET)


def admit(
    demands: Sequence[Demand],
    profile: Profile,
    condition: bool = True,
    condition_span: Span | None = None,
    device_span: Span | None = None,
) -> Admission:
    """Compares every demand with the safety facts of `profile`, in order.

    The spans are those of a pairing's `admit` and `device`.

    The diagnostics hold the refusal alone: its report shows the other rows.
    """
    rows = compare(demands, profile.supplies)
    name = refusal(rows)
    diagnostics: tuple[Diagnostic, ...] = ()
    if name:
        first = next(row for row in rows if row.verdict is not Verdict.MET)
        others = sum(row.verdict is not Verdict.MET for row in rows) - 1
        diagnostics = (unmet(first, profile, others, device_span),)
    elif not condition:
        diagnostics = (condition_false(condition_span),)
    token = None if diagnostics else Admitted(tuple(demands), profile.name, _ADMISSION_KEY)
    return Admission(profile, rows, name, condition, diagnostics, token)
