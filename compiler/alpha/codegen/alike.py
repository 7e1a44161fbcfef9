"""Kernels that differ in nothing but where their buffers lie: one function does the work of all of them.

The steps of an optimiser are the same few operations for every parameter, and the programs of a system begin with the
same layers. Their addresses are the arguments of the function, one a buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from alpha.base.record import record
from alpha.codegen.debug import DebugInfo
from alpha.codegen.function import Function
from alpha.kernel.node import Kernel


@record
class Alike:
    """A function `void(ptr, ...)` for kernels that are alike, of which `kernel` is the first."""

    symbol: str
    kernel: Kernel


Found: TypeAlias = Mapping[str, Alike]
"""By the symbol of the kernel. A kernel that is like no other is not in it."""


def alike(kernels: Sequence[Kernel]) -> Found:
    """Kernels are alike if their code is, with an argument in the place of each address.

    Those that are split among threads keep their own functions. The code of two is compared only where the operation
    and the sizes agree, for it is dear to write.
    """
    shaped: dict[tuple[object, ...], list[Kernel]] = {}
    for kernel in kernels:
        if not kernel.parallel:
            buffers = tuple((buffer.scalar, buffer.count) for buffer in kernel.buffers)
            shaped.setdefault((kernel.operation, kernel.work, buffers), []).append(kernel)
    equal: dict[str, list[Kernel]] = {}
    for candidates in shaped.values():
        for kernel in candidates if len(candidates) > 1 else ():
            equal.setdefault(code(Alike("", kernel), {}), []).append(kernel)
    groups = [group for group in equal.values() if len(group) > 1]
    found: dict[str, Alike] = {}
    for number, group in enumerate(groups):
        one = Alike(f"alike.{group[0].operation}.{number}", group[0])
        found |= dict.fromkeys((kernel.symbol for kernel in group), one)
    return found


def code(one: Alike, declarations: dict[str, None]) -> str:
    """The text of the function. It has no place in a source, for each caller has its own; calls have theirs."""
    return Function(one.symbol, (one.kernel,), declarations, DebugInfo()).shared_text()
