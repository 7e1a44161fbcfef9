"""The two NVIDIA architectures that Alpha emits for, and the limits that every card of them has.

The limits are those of the headers `cuda/__device/arch_traits.h` (nvidia-cuda-cccl 13.3.5.0.6) and `cuda_occupancy.h`
(nvidia-cuda-runtime 13.0.96), where compute capability 8.6 and 8.9 have the same. Static shared arrays end at 48 KiB,
which the assembler enforces too.
"""

from alpha.base.device import DeviceTarget

SM_86 = DeviceTarget(
    name="sm_86",
    instruction_set=86,
    threads=1024,
    registers=255,
    shared=48 * 1024,
    warp=32,
    granule=256,
    kinds=("ptx",),
)

SM_89 = DeviceTarget(
    name="sm_89",
    instruction_set=89,
    threads=1024,
    registers=255,
    shared=48 * 1024,
    warp=32,
    granule=256,
    kinds=("ptx",),
)
