"""Contractions of sizes around lanes, tiles of rows and groups of them give the chains of the reference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.text import to_text
from alpha.kernel.direct import site
from alpha.kernel.lower import lower
from kernel_runner import Runner
from laws.graphs import inputs_of, same_bits
from semantics.evaluate import evaluate
from semantics.graph import read_graph

FORMS = (
    ("mk", "kn", "mn"),
    ("mk", "mn", "kn"),
    ("mn", "kn", "mk"),
    ("nm", "nk", "km"),
    ("bmk", "bnk", "bmn"),
    ("bnm", "bmk", "bnk"),
    ("amk", "kn", "amn"),
    ("bmn", "nkm", "bk"),
    ("mk", "k", "m"),
    ("k", "kn", "n"),
    ("mn", "mn", "mn"),
    ("m", "n", "mn"),
    ("mn", "mn", ""),
)
SIZES = (1, 3, 4, 5, 9, 15, 16, 17, 33, 48, 140)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    form=st.sampled_from(FORMS),
    sizes=st.tuples(*[st.sampled_from(SIZES)] * 3),
    parts=st.sampled_from([1, 3]),
    seed=st.integers(0, 99),
)
def test_contractions_of_any_size_give_the_reference(
    runner: Runner,
    form: tuple[str, str, str],
    sizes: tuple[int, int, int],
    parts: int,
    seed: int,
) -> None:
    left, right, result = form
    extents = dict(zip("mkn", sizes, strict=True)) | {"a": 2, "b": 3}
    builder = Builder()
    operands = [
        builder.input(name, TensorType(Dtype.F32, tuple(extents[letter] for letter in letters)))
        for name, letters in (("x", left), ("y", right))
    ]
    node = builder.apply("contract", operands, left=left, right=right, result=result)
    graph = builder.graph("contraction", [("z", node)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(site, "PARALLEL_WORK", 1)
        lowered = lower(graph)
    inputs = inputs_of(graph, seed)
    expected = evaluate(read_graph(to_text(graph)), inputs)
    found = runner.run_lowered(lowered, inputs, parts)["z"].reshape(node.type.shape)
    assert same_bits(numpy.asarray(expected["z"]), found)


def test_an_operand_whose_last_axis_is_summed_is_transposed_once() -> None:
    builder = Builder()
    x, y = (builder.input(name, TensorType(Dtype.F32, (32, 48))) for name in "xy")
    node = builder.apply("contract", (x, y), left="mk", right="nk", result="mn")
    kernels = lower(builder.graph("scores", [("z", node)])).kernels
    assert [kernel.operation for kernel in kernels] == ["transpose", "contract"]
