"""What a pass is."""

from __future__ import annotations

from collections.abc import Callable

from alpha.base.record import record
from alpha.graph.node import Graph


@record
class Pass:
    """`equation` says what one rewrite replaces by what; `function` is pure and keeps every output's bits."""

    name: str
    equation: str
    function: Callable[[Graph], Graph]
