"""How many blocks of a kernel one processor of a card holds at a time. It compares kernels; no build asks for it.

The formula is that of `cuda_occupancy.h` of CUDA 13.0 (nvidia-cuda-runtime 13.0.96), for compute capability 8.x, where
barriers bound nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from alpha.base.device import DeviceTarget
from alpha.base.record import record

REGISTER_FILE = 65_536
PARTS = 4
"""A processor has four parts, each with a quarter of its registers, which serves whole warps."""
SHARED_GRANULE, RESERVED = 128, 1_024
"""Shared bytes are given in such multiples; each block has so many more that are not its own."""


@record
class Processor:
    """The most warps, blocks and shared bytes at a time, and the shared bytes of one block with the opt-in."""

    warps: int
    blocks: int
    shared: int
    block_shared: int


PROCESSORS: Mapping[str, Processor] = MappingProxyType(
    {
        "sm_86": Processor(48, 16, 102_400, 101_376),
        "sm_89": Processor(48, 24, 102_400, 101_376),
    }
)
"""By architecture. Source: `cuda_occupancy.h`, and `cuda/__device/arch_traits.h` of nvidia-cuda-cccl 13.3.5.0.6."""


def blocks_at_once(device: DeviceTarget, threads: int, registers: int, shared: int) -> int:
    """Blocks of `threads` threads with `registers` registers each and `shared` bytes; 0 where not one fits."""
    limits = PROCESSORS[device.name]
    warps = -(-threads // device.warp)
    of_warp = device.block_registers(registers, device.warp)
    in_parts = -(-warps // PARTS) * PARTS
    if (
        threads > device.threads
        or registers > device.registers
        or of_warp * in_parts > REGISTER_FILE
        or shared > limits.block_shared
    ):
        return 0
    bytes_ = -(-(shared + RESERVED) // SHARED_GRANULE) * SHARED_GRANULE
    found = min(limits.warps // warps, limits.blocks, limits.shared // bytes_)
    if of_warp:
        found = min(found, PARTS * (REGISTER_FILE // PARTS // of_warp) // warps)
    return found
