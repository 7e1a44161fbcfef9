"""The modules that the shipped systems become."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from alpha.plan.entries import distinct, entries
from alpha.plan.make import plan_graphs
from alpha.targets.nvidia.emit import emit_module
from alpha.targets.nvidia.ptx import Module
from alpha.targets.nvidia.spec import SM_86
from packages import open_package


@pytest.fixture(scope="session")
def system_module() -> Callable[[str], Module]:
    """The module of all kernels of a shipped system's training and evaluation, by the system's name."""

    @cache
    def made(name: str) -> Module:
        evaluator, _ = open_package(None, f"{name}.Run")
        graphs = evaluator.system(f"{name}.Run.baseline").graphs
        _, kernels = plan_graphs(graphs, SM_86)
        return emit_module(distinct(kernels, entries(kernels)), SM_86.name)

    return made
