"""The code of a device's plan: one entry for all kernels that differ in their buffers alone."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.kernel.node import Kernel
from alpha.plan.entries import distinct
from alpha.plan.plan import Plan
from alpha.targets.code import code_text


def plan_code(plan: Plan, kernels: Sequence[Kernel]) -> str:
    """The text of its one module. `kernels` are those of all regions, in their order."""
    assert plan.device is not None
    names = [
        region.dispatch.entry
        for program in plan.programs
        for region in program.regions
        if region.dispatch is not None
    ]
    return code_text(plan.device, distinct(kernels, names))
