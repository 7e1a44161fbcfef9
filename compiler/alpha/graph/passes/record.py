"""What a pass is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from alpha.graph.node import Graph


@dataclass(frozen=True, slots=True)
class Pass:
    """`equation` says what one rewrite replaces by what; `function` is pure and keeps every output's bits."""

    name: str
    equation: str
    function: Callable[[Graph], Graph]
