"""How much memory a built program takes, exactly and before it runs."""

from __future__ import annotations

from functools import cache

from alpha.base.host import HostTarget
from alpha.evaluate.system import System
from alpha.plan.arena import rounded
from alpha.plan.plan import Plan
from alpha.runtime.build import compile_runtime, runtime_constant
from alpha.runtime.data_tables import data_bytes


@cache
def static_bytes(host: HostTarget) -> int:
    """Bytes of the runtime's fixed buffers: part of the program's image, the same for every system."""
    return compile_runtime(host).zeroed


def mapped_bytes(system: System, plan: Plan, host: HostTarget, threads: int) -> int:
    """Bytes of the one mapping of a run: arena, rows read from a file, and a stack a thread beyond the first."""
    page = host.page
    held = rounded(plan.arena) + rounded(data_bytes(system))
    stack = runtime_constant("pool", "STACK_BYTES") + 2 * page
    return -(-held // page) * page + (threads - 1) * stack + page
