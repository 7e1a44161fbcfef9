"""The counted budget (specification, section 7): steps and bytes of values, the same on every machine.

Every module has one account. A definition without parameters is charged to its own module, once, whoever needs it
first; everything else to the module whose definition, proof or policy is being evaluated. So no count depends on the
order in which modules are evaluated. Bytes are those of all values ever made: what is still alive would depend on the
collector.
"""

from __future__ import annotations

from collections import Counter

from alpha.base.record import field, record

STEPS = 500_000
"""A thousand times what the shipped systems take, and seconds of work."""

BYTES = 256 * 1024 * 1024

NODE_STEPS = 3
"""Steps of the node that an operation makes, beside that of the operation: about what it is worth in time."""

WORD = 8
HEADER = 16


class Exhausted(Exception):
    """The account `account` has run out of `what` (`steps` or `bytes`)."""

    def __init__(self, account: Account, what: str) -> None:
        super().__init__(account.module, what)
        self.account = account
        self.what = what


@record(frozen=False)
class Account:
    """What one module has used, in steps also for each definition."""

    module: str
    limit: int = STEPS
    steps: int = 0
    bytes: int = 0
    by_definition: Counter[str] = field(default_factory=Counter)

    def step(self, definition: str, count: int = 1) -> None:
        self.steps += count
        self.by_definition[definition] += count
        if self.steps > self.limit:
            raise Exhausted(self, "steps")

    def allocate(self, size: int) -> None:
        self.bytes += size
        if self.bytes > BYTES:
            raise Exhausted(self, "bytes")

    def most(self) -> tuple[tuple[str, int], ...]:
        """The three definitions that used most, largest first, then by name."""
        ordered = sorted(self.by_definition.items(), key=lambda item: (-item[1], item[0]))
        return tuple(ordered[:3])


def compound(parts: int) -> int:
    """Bytes of a value that holds `parts` others."""
    return HEADER + WORD * parts


def integer(value: int) -> int:
    """Bytes of an `Int`: one word up to 64 bits, then as many as it needs."""
    return HEADER + max(WORD, value.bit_length() // 8)


def text(value: str) -> int:
    return HEADER + len(value.encode("utf-8", "surrogatepass"))


CLOSURE = 64
NODE = 128
SCALAR = HEADER + WORD
