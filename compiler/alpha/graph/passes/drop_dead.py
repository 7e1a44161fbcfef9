"""Nodes that no output needs disappear, and serials close up.

    a = op(x), used by nothing   ->  (nothing)

The walk over a graph never meets such a node; rebuilding leaves it behind. Inputs stay: they are the signature.
"""

from __future__ import annotations

from alpha.graph.node import Graph
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, rebuild


def drop_dead(graph: Graph) -> Graph:
    return rebuild(graph, copy)


DROP_DEAD = Pass("drop_dead", "a node that no output needs -> nothing", drop_dead)
