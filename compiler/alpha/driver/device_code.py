"""The code of a device's plan as text: one entry for all kernels that differ in their buffers alone."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.kernel.node import Kernel
from alpha.plan.entries import distinct
from alpha.plan.plan import Plan
from alpha.targets.nvidia.emit import emit_module
from alpha.targets.nvidia.text import to_text


def ptx_text(plan: Plan, kernels: Sequence[Kernel]) -> str:
    """The PTX module of a plan, ending with a newline. `kernels` are those of all its regions, in their order."""
    assert plan.device is not None
    names = [
        region.dispatch.entry
        for program in plan.programs
        for region in program.regions
        if region.dispatch is not None
    ]
    return to_text(emit_module(distinct(kernels, names), plan.device.name))
