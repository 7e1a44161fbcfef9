"""What can be wrong with a text, and with what it does."""

from __future__ import annotations

import enum


class FaultKind(enum.Enum):
    """The named faults of the model."""

    OUT_OF_BOUNDS = "out of bounds"
    FORBIDDEN = "access that the launch does not allow"
    MISALIGNED = "misaligned access"
    UNINITIALISED_REGISTER = "uninitialised register"
    UNINITIALISED_SHARED = "uninitialised shared read"
    UNINITIALISED_GLOBAL = "uninitialised global read"
    SHARED_RACE = "shared race"
    GLOBAL_RACE = "global race"
    BARRIER_DIVERGENCE = "barrier divergence"
    WARP_DIVERGENCE = "warp-synchronous operation under divergence"
    NOT_WRITTEN = "output not fully written"
    STEP_BOUND = "executed-instruction bound exceeded"
    DIVISION_BY_ZERO = "division by zero"
    LAUNCH_LIMIT = "launch beyond a limit"
    MISMATCH = "launch that differs from its entry"


class Fault(Exception):
    """A kernel does what it may not do.

    `line` counts from 1 in the parsed text; `block` and `thread` are the first offender's numbers, and `address` is
    where it reached (in the space of the instruction). Each is None where it has no meaning.
    """

    def __init__(
        self,
        kind: FaultKind,
        kernel: str,
        text: str,
        line: int | None = None,
        block: int | None = None,
        thread: int | None = None,
        address: int | None = None,
    ) -> None:
        self.kind = kind
        self.kernel = kernel
        self.text = text
        self.line = line
        self.block = block
        self.thread = thread
        self.address = address
        super().__init__(str(self))

    def __str__(self) -> str:
        place = [self.kernel]
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.block is not None:
            place.append(f"block {self.block}")
        if self.thread is not None:
            place.append(f"thread {self.thread}")
        if self.address is not None:
            place.append(f"address {self.address:#x}")
        return f"{self.kind.value}: {self.text} ({', '.join(place)})"


class Malformed(Exception):
    """A text that is outside of the subset. `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(f"line {line}: {reason}")
