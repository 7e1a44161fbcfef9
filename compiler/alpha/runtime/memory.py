"""How much memory a built program takes, exactly and before it runs."""

from __future__ import annotations

from alpha.base.host import HostTarget
from alpha.base.record import record
from alpha.evaluate.system import System
from alpha.plan.arena import rounded
from alpha.plan.plan import Plan
from alpha.runtime.data_tables import data_bytes
from alpha.runtime.sources import runtime_constant


@record
class ProcessMemory:
    """Bytes that the process of a run takes beside the pages of its own file and its first stack.

    `mapped` is the one mapping of a run on one thread: the arena, the rows that are read from a file, rounded up to
    pages. `thread` is what each further thread adds: its stack and two pages around it.
    """

    arena: int
    rows: int
    mapped: int
    thread: int

    def most(self, loaded: int, file: int, threads: int = 1) -> int:
        """The most that a training run has resident, but for its first stack and the kernel's own pages in it.

        `loaded` are the bytes of the program's loaded pages, `file` those of its file, which the self-check maps before
        anything else is. A page that is never touched is not resident, so a run may take less.
        """
        return loaded + max(self.mapped + (threads - 1) * self.thread, file)


def process_memory(system: System, plan: Plan, host: HostTarget) -> ProcessMemory:
    """Of the program that is built from the system; `prepare_run` of the runtime maps exactly this."""
    page = host.page
    rows = data_bytes(system)
    held = rounded(plan.arena) + rounded(rows)
    stack = runtime_constant("pool", "STACK_BYTES") + 2 * page
    return ProcessMemory(plan.arena, rows, -(-held // page) * page + page, stack)
