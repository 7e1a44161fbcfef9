"""What each demand of the specification's table (specification, section 20) means, for `alpha explain`."""

from __future__ import annotations

EXPLANATIONS: dict[str, str] = {
    "instruction-set": (
        "Feature, exactly. The instruction set the code is made of: on a card the sm number, on a host the ELF\n"
        "machine number (62 is x86-64, 183 is AArch64)."
    ),
    "registers-per-thread": (
        "Resource, at least. The largest register bound that a kernel carries; the assembler must keep it."
    ),
    "threads-per-block": "Resource, at least. The largest block of threads that is launched.",
    "shared-bytes-per-block": "Resource, at least. The largest shared allocation of a block, in bytes.",
    "video-memory-bytes": (
        "Resource, at least. The peak of the device arena, host regions included, over training, resuming,\n"
        "evaluation and checkpoints. It is exact: nothing is allocated after the start."
    ),
    "driver-branch": "Abi, exactly. The driver branch for which the host's memory layouts are written.",
    "compute-class": "Abi, exactly. The class of the command stream.",
    "unified-memory": "Feature, at least. Present only if the host uses unified memory.",
    "registers-per-block": (
        "Resource, at least. Registers of whole warps, rounded to the allocation granule."
    ),
    "ptx-version": "Feature, at least. Only if the host loads PTX: 71 is version 7.1.",
    "cpu-level": "Feature, at least. 3 is x86-64-v3, the lowest level with FMA; 80 is Armv8.0-A.",
    "memory-bytes": (
        "Resource, at least. The peak of the host's arena: parameters, optimizer slots, batches and every\n"
        "intermediate value, each with its live range. It is exact: nothing is allocated after the start."
    ),
    "address-width": "Abi, exactly. The width of an address in bits: 64.",
}
