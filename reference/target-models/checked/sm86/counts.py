"""What a launch amounts to, for estimates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Counts:
    """Sums over launches.

    `thread_instructions` counts each instruction once for each thread that executes it, `warp_instructions` once for
    each warp with such a thread, by form. `barriers` counts the barriers that blocks passed. `shared_wavefronts` and
    `global_sectors` (32 bytes each) are counted only where a launch is asked to measure traffic.
    """

    thread_instructions: int = 0
    warp_instructions: Counter[str] = field(default_factory=Counter)
    barriers: int = 0
    shared_wavefronts: int = 0
    global_sectors: int = 0

    def __iadd__(self, other: Counts) -> Counts:
        self.thread_instructions += other.thread_instructions
        self.warp_instructions.update(other.warp_instructions)
        self.barriers += other.barriers
        self.shared_wavefronts += other.shared_wavefronts
        self.global_sectors += other.global_sectors
        return self
