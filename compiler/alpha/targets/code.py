"""The code of a device as text. The emitter of a family is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.device import DeviceTarget
from alpha.kernel.node import Kernel


def code_text(
    device: DeviceTarget, entries: Iterable[tuple[str, Kernel]], verified: bool = False
) -> str:
    """One module with an entry of each name, ending with a newline: PTX, which is all that cards have so far.

    Where it is to be `verified`, raises `PtxFault` for a module that breaks the law of PTX: a bug in Alpha.
    """
    from alpha.targets.nvidia.emit import emit_module
    from alpha.targets.nvidia.text import to_text

    module = emit_module(entries, device.name)
    if verified:
        from alpha.targets.nvidia.verify import verify

        verify(module)
    return to_text(module)
