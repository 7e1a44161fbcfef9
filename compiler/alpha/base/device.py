"""What a device target is to every level: names and numbers, no behaviour."""

from __future__ import annotations

from alpha.base.host import HostTarget
from alpha.base.record import record


@record
class DeviceTarget:
    """An instruction set of accelerators that Alpha emits kernels for.

    `instruction_set` is the amount of the demand of that name. The rest are the limits that a kernel keeps whatever the
    card: `threads` of a block, 32-bit `registers` of a thread, bytes of `shared` arrays of a block that need no opt-in.
    A block takes registers for whole warps of `warp` threads, each rounded up to `granule` registers. `kinds` are the
    output kinds of such a build, and the kind that is the target's own stands first.
    """

    name: str
    instruction_set: int
    threads: int
    registers: int
    shared: int
    warp: int
    granule: int
    kinds: tuple[str, ...]

    def block_registers(self, registers: int, threads: int) -> int:
        """The registers that a block of so many threads takes, each with a bound of `registers`."""
        warps = -(-threads // self.warp)
        return warps * (-(-registers * self.warp // self.granule) * self.granule)


Target = HostTarget | DeviceTarget
"""What a build is for: a host that runs everything itself, or a device that a host drives."""
