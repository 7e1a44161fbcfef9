"""Plans of a command, each made once: a pairing's `admit` may ask for the demands before the build does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alpha.base.device import Target
from alpha.evaluate.system import System
from alpha.plan.plan import Demand
from alpha.targets.names import resolve

if TYPE_CHECKING:
    from alpha.graph.node import Graph
    from alpha.plan.make import Planned


class Planner:
    """Makes plans and remembers them by the policy, its batch and the target."""

    def __init__(self) -> None:
        self._graphs: dict[tuple[str, int], tuple[Graph, ...]] = {}
        self._made: dict[tuple[str, int, type[Target]], dict[str, Planned]] = {}

    def plan(self, system: System, target: Target) -> Planned:
        """Targets of one lane have the same kernels in the same places, and all targets the same graphs."""
        from alpha.plan.make import plan_optimised, retargeted  # a check may plan nothing

        made = self._made.setdefault((system.name, system.batch, type(target)), {})
        if target.name not in made:
            if made:
                made[target.name] = retargeted(next(iter(made.values())), target)
            else:
                made[target.name] = plan_optimised(system, self._optimised(system), target)
        return made[target.name]

    def _optimised(self, system: System) -> tuple[Graph, ...]:
        from alpha.graph.passes import optimise

        key = system.name, system.batch
        if key not in self._graphs:
            self._graphs[key] = tuple(optimise(graph) for graph in system.graphs)
        return self._graphs[key]

    def demands(self, system: System, target: str) -> tuple[Demand, ...]:
        """The demands of a policy on a target, for the intrinsics of the platforms. T codes where it has no package."""
        return self.plan(system, resolve(target, direct=True))[0].demands
