"""The laws of launches on a device: `launched` and `matched` of `plan.verify`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alpha.base.device import DeviceTarget
from alpha.kernel.launched import BLOCKS
from alpha.kernel.node import Kernel
from alpha.plan.plan import Dispatch, Plan, Region


def launched(plan: Plan) -> Iterator[str]:
    """Every region of a device's plan has a dispatch within the limits; a host's has none."""
    forms: dict[str, tuple[int, ...]] = {}
    for region in _regions(plan):
        launch = region.dispatch
        if (launch is None) != (plan.device is None):
            yield f"`{region.symbol}` has {'no' if launch is None else 'a'} dispatch"
        if launch is None or plan.device is None:
            continue
        yield from _outside(launch, plan.device)
        form = launch.threads, launch.registers, launch.shared, len(launch.operands)
        if forms.setdefault(launch.entry, form) != form:
            yield f"`{launch.entry}` is launched in two ways"


def matched(plan: Plan, kernels: Sequence[Kernel]) -> Iterator[str]:
    """A dispatch launches its region's kernel on that kernel's buffers, in their order."""
    if plan.device is None:
        return
    for region, kernel in zip(_regions(plan), kernels, strict=True):
        launch, grid = region.dispatch, kernel.grid
        if launch is None or grid is None:
            yield f"`{region.symbol}` is no kernel of a device"
            continue
        asked = grid.blocks, grid.threads, grid.registers, grid.shared_bytes
        if (launch.blocks, launch.threads, launch.registers, launch.shared) != asked:
            yield f"`{region.symbol}` is launched otherwise than its kernel says"
        found = [(item.offset, item.bytes, item.written, item.rows) for item in launch.operands]
        wanted = [
            (
                buffer.offset,
                buffer.bytes,
                number in kernel.written,
                tuple((row.offset, row.stride * buffer.scalar.size) for row in buffer.rows),
            )
            for number, buffer in enumerate(kernel.buffers)
        ]
        if found != wanted or launch.accumulates != kernel.accumulates:
            yield f"the operands of `{region.symbol}` are not its buffers"


def _regions(plan: Plan) -> Iterator[Region]:
    for program in plan.programs:
        yield from program.regions


def _outside(launch: Dispatch, device: DeviceTarget) -> Iterator[str]:
    if not 1 <= launch.blocks <= BLOCKS:
        yield f"`{launch.entry}` has {launch.blocks} blocks"
    if not 1 <= launch.threads <= device.threads or launch.threads % device.warp:
        yield f"a block of `{launch.entry}` has {launch.threads} threads"
    if not 1 <= launch.registers <= device.registers:
        yield f"a thread of `{launch.entry}` has {launch.registers} registers"
    if not 0 <= launch.shared <= device.shared:
        yield f"a block of `{launch.entry}` shares {launch.shared} bytes"
