"""How many blocks of a kernel lie on one processor of sm_86 at a time.

The formula is that of NVIDIA's occupancy header; the limits are those of compute capability 8.6.
"""

from __future__ import annotations

THREADS = 1024
REGISTERS = 255
WARPS = 48
BLOCKS = 16
REGISTER_FILE = 65536
SHARED_STATIC = 48 * 1024
SHARED_BLOCK = 99 * 1024
SHARED_PROCESSOR = 100 * 1024
SHARED_RESERVED = 1024


def blocks_per_processor(threads: int, registers: int, shared: int) -> int:
    """Blocks on one processor: `registers` are those of a thread, `shared` the bytes of a block. 0 is none."""
    warps = -(-threads // 32)
    warp_registers = -(-32 * registers // 256) * 256
    if threads > THREADS or registers > REGISTERS or shared > SHARED_BLOCK:
        return 0
    if warp_registers * (-(-warps // 4) * 4) > REGISTER_FILE:
        return 0
    shared_bytes = -(-(shared + SHARED_RESERVED) // 128) * 128
    bounds = [WARPS // warps, BLOCKS, SHARED_PROCESSOR // shared_bytes]
    if registers:
        bounds.append(4 * (REGISTER_FILE // 4 // warp_registers) // warps)
    return min(bounds)
