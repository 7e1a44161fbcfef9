"""Plans of a command, each made once: a pairing's `admit` may ask for the demands before the build does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alpha.base.device import Target
from alpha.evaluate.system import System
from alpha.plan.plan import Demand, Plan
from alpha.targets.names import resolve

if TYPE_CHECKING:
    from alpha.kernel.node import Kernel


class Planner:
    """Makes plans and remembers them by the policy, its batch and the target."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int, str], tuple[Plan, tuple[Kernel, ...]]] = {}

    def plan(self, system: System, target: Target) -> tuple[Plan, tuple[Kernel, ...]]:
        from alpha.plan.make import make_plan  # a check that plans nothing does not pay for it

        key = (system.name, system.batch, target.name)
        if key not in self._made:
            self._made[key] = make_plan(system, target)
        return self._made[key]

    def demands(self, system: System, target: str) -> tuple[Demand, ...]:
        """The demands of a policy on a target, for the intrinsics of the platforms. T codes where it has no package."""
        return self.plan(system, resolve(target, direct=True))[0].demands
