"""Kernels that differ in nothing but where their buffers lie are one function; all others have their own."""

from __future__ import annotations

import re

import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.base.host import HostTarget
from alpha.codegen.alike import alike
from alpha.codegen.llvm import plan_ir, plan_modules
from alpha.graph.builder import Builder
from alpha.graph.node import Graph
from alpha.kernel.node import Kernel
from alpha.plan.make import plan_graphs
from alpha.plan.plan import Plan
from alpha.targets import HOSTS


def updates(*sizes: int) -> Graph:
    """For each size an input, its absolute value, and the square root of that."""
    builder = Builder()
    outputs = []
    for place, size in enumerate(sizes):
        x = builder.input(f"x{place}", TensorType(Dtype.F32, (size,)), None)
        positive = builder.apply("abs", (x,), None)
        outputs.append((f"y{place}", builder.apply("sqrt", (positive,), None)))
    return builder.graph("updates", outputs)


def planned(*sizes: int) -> tuple[Plan, tuple[Kernel, ...]]:
    plan, kernels = plan_graphs((updates(*sizes),), HOSTS[0])
    return plan, tuple(kernels)


def test_equal_operations_of_equal_sizes_are_alike() -> None:
    _, kernels = planned(40, 40, 40)
    found = alike(kernels)
    assert set(found) == {kernel.symbol for kernel in kernels}
    by_operation = {
        operation: {
            found[kernel.symbol].symbol for kernel in kernels if kernel.operation == operation
        }
        for operation in ("abs", "sqrt")
    }
    assert all(len(symbols) == 1 for symbols in by_operation.values())
    assert by_operation["abs"] != by_operation["sqrt"]


def test_another_size_is_not_alike() -> None:
    _, kernels = planned(40, 40, 41)
    found = alike(kernels)
    lone = {kernel.symbol for kernel in kernels if kernel.buffers[0].count == 41}
    assert len(lone) == 2
    assert set(found) == {kernel.symbol for kernel in kernels} - lone


def test_what_threads_share_keeps_its_function() -> None:
    _, kernels = planned(1 << 20, 1 << 20)
    assert all(kernel.parallel for kernel in kernels)
    assert alike(kernels) == {}


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_every_function_is_defined_once_in_all_modules(host: HostTarget) -> None:
    plan, kernels = planned(40, 40, 40, 7)
    shared = {one.symbol for one in alike(kernels).values()}
    for modules in (plan_modules(plan, kernels, host, 2), (plan_ir(plan, kernels, host),)):
        defined = [
            name for text in modules for name in re.findall(r'^define .*?@"([^"]+)"', text, re.M)
        ]
        assert len(defined) == len(set(defined)) and shared < set(defined)
        for text in modules:
            called = set(re.findall(r'call void @"([^"]+)"', text))
            known = set(re.findall(r'^(?:define|declare) .*?@"([^"]+)"', text, re.M))
            assert called <= known and not called - shared
        calls = sum(text.count('call void @"alike.') for text in modules)
        assert calls == 6
