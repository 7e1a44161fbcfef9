"""The entries of a device's code: kernels that do the same to other buffers are one of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from alpha.base.record import replace
from alpha.kernel.node import Kernel
from alpha.kernel.text import to_text


def entries(kernels: Sequence[Kernel]) -> tuple[str, ...]:
    """The name of the entry of each kernel: `k12_relu`, numbered in the order in which they first appear.

    A kernel gets the addresses of its buffers, and of their rows, as arguments. So kernels that differ in the names and
    places of buffers alone share an entry.
    """
    names: dict[str, str] = {}
    found = []
    for kernel in kernels:
        form = _form(kernel)
        if form not in names:
            names[form] = f"k{len(names)}_{_word(kernel.operation)}"
        found.append(names[form])
    return tuple(found)


def distinct(kernels: Sequence[Kernel], names: Sequence[str]) -> tuple[tuple[str, Kernel], ...]:
    """Each entry with the first of its kernels, in the order of their numbers. `names` are those of all `kernels`."""
    found: dict[str, Kernel] = {}
    for kernel, name in zip(kernels, names, strict=True):
        found.setdefault(name, kernel)
    return tuple(found.items())


def _form(kernel: Kernel) -> str:
    """The text of a kernel without what its arguments say, and without what only the law of kernels reads."""
    buffers = tuple(
        replace(buffer, name=f"b{place}", bound=None, offset=None, rows=(), whole=None)
        for place, buffer in enumerate(kernel.buffers)
    )
    return to_text(replace(kernel, symbol="", buffers=buffers, work=0))


def _word(operation: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", operation)
