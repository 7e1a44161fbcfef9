"""The code of a device's plan: one entry for all kernels that differ in their buffers alone."""

from __future__ import annotations

import os
from collections.abc import Sequence

from alpha.kernel.node import Kernel
from alpha.plan.entries import distinct
from alpha.plan.plan import Plan
from alpha.targets.code import code_text


def plan_code(plan: Plan, kernels: Sequence[Kernel]) -> str:
    """The text of its one module. `kernels` are those of all regions, in their order.

    With `ALPHA_VERIFY=1` in the environment, as in continuous integration, the law of PTX is checked as well; a broken
    one is a bug in Alpha and ends in exit status 70.
    """
    assert plan.device is not None
    names = [
        region.dispatch.entry
        for program in plan.programs
        for region in program.regions
        if region.dispatch is not None
    ]
    verified = os.environ.get("ALPHA_VERIFY") == "1"
    return code_text(plan.device, distinct(kernels, names), verified)
