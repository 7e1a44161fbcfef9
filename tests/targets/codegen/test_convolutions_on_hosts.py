"""Convolutions and their slopes on both hosts, with channels around the 16 lanes; AArch64 runs under qemu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.graph.autodiff import gradients
from alpha.graph.builder import Builder
from alpha.graph.formula import Term
from alpha.graph.node import Node
from alpha.targets import HOSTS
from laws.graphs import inputs_of
from targets.codegen.test_hosts_agree import agree, every_kernel_is_split, worker

__all__ = ["every_kernel_is_split", "worker"]
WIDTHS = ((1, 15), (3, 16), (17, 2), (2, 33), (5, 65))
"""Channels of the image, and of the result."""


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_convolutions_and_pools(worker: Any, host: HostTarget, tmp_path: Path) -> None:
    builder = Builder()
    outputs: list[tuple[str, Node]] = []
    for place, (channels, results) in enumerate(WIDTHS):
        x = builder.input(f"x{place}", TensorType(Dtype.F32, (2, 4, 6, channels)))
        w = builder.input(f"w{place}", TensorType(Dtype.F32, (3, 3, channels, results)))
        y = Term(builder, builder.apply("conv2d", (x, w), padding=(1, 1)), None)
        halves = y.apply("reshape", shape=(2, 2, 2, 3, 2, results))
        pooled = halves.apply("max", axes=(2, 4)) * halves.apply("mean", axes=(2, 4))
        loss = pooled.apply("sum", axes=(0, 1, 2, 3))
        slopes = gradients(builder, loss.node, [x, w])
        outputs += [(f"y{place}", y.node), (f"pooled{place}", pooled.node)]
        outputs += [
            (f"{name}{place}", node) for name, node in zip(("dx", "dw"), slopes, strict=True)
        ]
    graph = builder.graph("convolutions", outputs)
    agree(worker, graph, inputs_of(graph, 31), host, tmp_path)
