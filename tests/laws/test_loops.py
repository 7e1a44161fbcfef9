"""A rolled loop gives the bits of its turns one after the other, and its code does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.graph.node import Graph
from alpha.graph.text import to_text
from alpha.kernel.direct import site
from alpha.kernel.lower import lower
from kernel_runner import Runner
from laws.graphs import inputs_of, same_bits
from laws.loop_graphs import loop_graphs, unrolled
from semantics.evaluate import evaluate
from semantics.graph import read_graph

MANY = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


@pytest.mark.slow
@settings(MANY, max_examples=60)
@given(graph=loop_graphs(), seed=st.integers(0, 99), parts=st.sampled_from([1, 3]))
def test_turns_give_the_bits_of_the_unrolled_graph(
    runner: Runner, graph: Graph, seed: int, parts: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "PARALLEL_WORK", 1 if parts > 1 else site.PARALLEL_WORK)
        lowered = lower(graph)
    inputs = inputs_of(graph, seed)
    plain = unrolled(graph)
    expected = evaluate(read_graph(to_text(plain)), inputs)
    found = runner.run_lowered(lowered, inputs, parts)
    for name, node in graph.outputs:
        value = found[name].reshape(node.type.shape)
        assert same_bits(numpy.asarray(expected[name]), value), name
