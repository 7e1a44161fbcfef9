"""Passes over graphs: each a record of a name, an equation and a pure function, and each verified after every run."""

from __future__ import annotations

from alpha.graph.node import Graph
from alpha.graph.passes.drop_dead import DROP_DEAD
from alpha.graph.passes.expand import EXPAND
from alpha.graph.passes.join_loops import JOIN_LOOPS
from alpha.graph.passes.keep_less import KEEP_LESS
from alpha.graph.passes.merge_equal import MERGE_EQUAL
from alpha.graph.passes.move_nothing import MOVE_NOTHING
from alpha.graph.passes.record import Pass
from alpha.graph.verify import verify

__all__ = ["PASSES", "Pass", "optimise", "run"]

PASSES: tuple[Pass, ...] = (EXPAND, MOVE_NOTHING, MERGE_EQUAL, JOIN_LOOPS, KEEP_LESS, DROP_DEAD)


def run(pass_: Pass, graph: Graph) -> Graph:
    """The graph after one pass, verified."""
    result = pass_.function(graph)
    verify(result)
    return result


def optimise(graph: Graph) -> Graph:
    """The graph of primitives that a build lowers. No output changes a bit."""
    verify(graph)
    for pass_ in PASSES:
        graph = run(pass_, graph)
    verify(graph, primitive=True)
    return graph
