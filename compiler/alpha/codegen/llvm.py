"""Kernels as LLVM IR text: SSA with phi nodes, one instruction for each operator.

A kernel is a function of its own, or stands in one with those that are launched together with it. Kernels that are
alike are calls of one function. The text depends on nothing but the kernels, how they are launched, and the host.
Offsets in the arena are constants of the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TypeAlias

from alpha.base.host import HostTarget
from alpha.codegen.alike import Alike, Found, alike, code
from alpha.codegen.debug import DebugInfo
from alpha.codegen.function import Function
from alpha.kernel.node import If, Kernel, Loop, Statement
from alpha.plan.launches import launches
from alpha.plan.plan import Plan

_Group: TypeAlias = tuple[str, tuple[Kernel, ...]]
ATTRIBUTES = 'nounwind optsize "no-builtins" "frame-pointer"="all" "probe-stack"="inline-asm"'
"""`optsize`: no padding before loops and nothing duplicated, which is smaller, and no slower that can be measured.
No `uwtable`: nothing unwinds at run time, so the unwind tables are debugging information, not loaded."""


def plan_ir(plan: Plan, kernels: Sequence[Kernel], host: HostTarget) -> str:
    """One module with the function of every launch of a plan, whose regions the kernels are, in order."""
    shared = alike(kernels)
    return _module(_groups(plan, kernels), host, shared, _different(shared))


def plan_modules(
    plan: Plan, kernels: Sequence[Kernel], host: HostTarget, count: int
) -> tuple[str, ...]:
    """As `plan_ir`, in at most `count` modules that take about equally long to compile."""
    shared = alike(kernels)
    parts: list[tuple[int, _Group | Alike]] = [
        (sum(_size(kernel, shared) for kernel in group[1]), group)
        for group in _groups(plan, kernels)
    ]
    parts += [(_statements(one.kernel.body), one) for one in _different(shared)]
    shares: list[list[_Group | Alike]] = [[] for _ in range(count)]
    sizes = [0] * count
    for size, part in sorted(parts, key=lambda sized: -sized[0]):
        least = sizes.index(min(sizes))
        sizes[least] += size
        shares[least].append(part)
    return tuple(
        _module(
            [part for part in share if not isinstance(part, Alike)],
            host,
            shared,
            [part for part in share if isinstance(part, Alike)],
        )
        for share in shares
        if share
    )


def _groups(plan: Plan, kernels: Sequence[Kernel]) -> list[_Group]:
    """The kernels of every launch, under its symbol."""
    following = iter(kernels)
    return [
        (launch.symbol, tuple(islice(following, len(launch.regions))))
        for program in plan.programs
        for launch in launches(program)
    ]


def _different(shared: Found) -> list[Alike]:
    return list({one.symbol: one for one in shared.values()}.values())


def _size(kernel: Kernel, shared: Found) -> int:
    """How many statements a kernel brings to the function of its launch."""
    return 1 if kernel.symbol in shared else _statements(kernel.body)


def _statements(body: Sequence[Statement]) -> int:
    """How many statements a body has, in all loops."""
    return sum(1 + (_statements(each.body) if isinstance(each, Loop | If) else 0) for each in body)


def kernels_ir(kernels: Sequence[Kernel], host: HostTarget) -> str:
    """One module with a hidden function `void(ptr arena, i64 part, i64 parts)` for each kernel, under its symbol.

    Every buffer must have its offset. Equal kernels give equal text.
    """
    return _module([(kernel.symbol, (kernel,)) for kernel in kernels], host, {}, ())


def _module(
    groups: Sequence[_Group], host: HostTarget, shared: Found, defined: Sequence[Alike]
) -> str:
    """The functions of launches, and those of `shared` that are `defined` in this module."""
    declarations: dict[str, None] = {}
    debug = DebugInfo()
    names = {symbol: one.symbol for symbol, one in shared.items()}
    here = {one.symbol for one in defined}
    for kernel in (kernel for _, group in groups for kernel in group):
        if names.get(kernel.symbol) not in {None, *here}:
            addresses = ", ".join("ptr" for _ in kernel.buffers)
            declarations[f'declare hidden void @"{names[kernel.symbol]}"({addresses})'] = None
    functions = [
        *(Function(*group, declarations, debug, names).text() for group in groups),
        *(code(one, declarations) for one in defined),
    ]
    features = f' "target-features"="{host.features}"' if host.features else ""
    parts = [
        f'target triple = "{host.triple}"\n',
        *(f"{line}\n" for line in sorted(declarations)),
        *functions,
        f'attributes #0 = {{ {ATTRIBUTES} "target-cpu"="{host.cpu}"{features} }}\n',
        debug.text(),
    ]
    return "\n".join(part for part in parts if part)
