"""A lane: the ways in which one kind of machine gets its kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from alpha.base.record import record
from alpha.graph.node import Node
from alpha.kernel.direct.site import Template
from alpha.kernel.node import Buffer, Kernel


@record(eq=False)
class Lane:
    """`name` is what messages call it. `templates` maps each primitive operation to what makes its kernel.

    `broadcast` writes out an operand that was broadcast, or is a number; `copy` brings a whole buffer to another of the
    same size. `arrangement` is the order of axes in which an operand of `contract`, the left (0) or right (1) one,
    should lie in memory; None where it may stay as it is.
    """

    name: str
    templates: Mapping[str, Template]
    broadcast: Template
    copy: Callable[[str, Buffer, Buffer], Kernel]
    arrangement: Callable[[Node, int], tuple[int, ...] | None]
