"""The memory of the card: named allocations at addresses of chance, with gaps between them that nobody may touch.

Beside each byte lies a shadow byte that says whether it was ever written. A launch sees memory through windows.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy

Array = Any
KNOWN = 0xFF
"""The shadow of a byte that was written; a byte that was not has shadow 0."""
UNIT = 256
"""Allocations begin at multiples of this, as they do on a card."""


@dataclass(frozen=True)
class Window:
    """What a launch may touch through one parameter: `bytes` from `address` on.

    A window that is not `written` is only read. A written one is only written, and every byte of it must be; if it is
    `partial` it may also be read, and need not be written wholly.
    """

    name: str
    address: int
    bytes: int
    written: bool = False
    partial: bool = False


@dataclass(frozen=True)
class Allocation:
    name: str
    address: int
    bytes: int


class Memory:
    """A flat space of bytes. The seed chooses the addresses, the gaps and what lies in bytes that nobody wrote."""

    def __init__(self, seed: int = 0) -> None:
        self._chance = random.Random(seed)
        self.origin = 0x7F0000000000 + UNIT * self._chance.randrange(1 << 20)
        self._poison = self._chance.randrange(1, 256)
        self._end = 0
        self.data: Array = numpy.empty(0, numpy.uint8)
        self.shadow: Array = numpy.empty(0, numpy.uint8)
        self.allocations: list[Allocation] = []

    def allocate(self, name: str, bytes: int) -> int:
        """The address of `bytes` new bytes, which are not initialised."""
        start = self._end + UNIT * self._chance.randrange(1, 17)
        self._end = start + -(-bytes // UNIT) * UNIT
        self._grow(self._end + 16 * UNIT)
        address = self.origin + start
        self.allocations.append(Allocation(name, address, bytes))
        return address

    def write(self, address: int, data: bytes) -> None:
        """Gives bytes a value, from the host."""
        at = self._inside(address, len(data))
        self.data[at : at + len(data)] = numpy.frombuffer(data, numpy.uint8)
        self.shadow[at : at + len(data)] = KNOWN

    def read(self, address: int, bytes: int) -> bytes:
        """The value of bytes, on the host. Raises ValueError if one was never written."""
        at = self._inside(address, bytes)
        unknown = numpy.flatnonzero(self.shadow[at : at + bytes] != KNOWN)
        if unknown.size:
            raise ValueError(f"the byte at {address + int(unknown[0]):#x} was never written")
        return bytes_of(self.data[at : at + bytes])

    def forget(self, address: int, bytes: int) -> None:
        """Makes bytes uninitialised again."""
        at = self._inside(address, bytes)
        self.shadow[at : at + bytes] = 0
        self.data[at : at + bytes] = self._poison

    def inside(self, address: int, bytes: int) -> bool:
        """Whether bytes lie in one allocation."""
        return any(
            item.address <= address and address + bytes <= item.address + item.bytes
            for item in self.allocations
        )

    def _inside(self, address: int, bytes: int) -> int:
        if not self.inside(address, bytes):
            raise ValueError(f"{bytes} bytes at {address:#x} do not lie in one allocation")
        return address - self.origin

    def _grow(self, size: int) -> None:
        if size <= self.data.size:
            return
        data = numpy.full(max(size, 2 * self.data.size), self._poison, numpy.uint8)
        shadow = numpy.zeros(data.size, numpy.uint8)
        data[: self.data.size] = self.data
        shadow[: self.shadow.size] = self.shadow
        self.data, self.shadow = data, shadow


def bytes_of(array: Array) -> bytes:
    return array.tobytes()  # type: ignore[no-any-return]
