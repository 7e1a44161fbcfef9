"""What a refusal case is, and the sound objects that the cases change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from targets.elf.hand_made import ARM, X86, Name, Part, build, code


@dataclass(frozen=True)
class Refusal:
    title: str
    fault: str
    objects: tuple[bytes, ...]
    options: dict[str, Any] = field(default_factory=dict)


START = Name("_start", ".text")
GOOD = build([code()], [START])
GOOD_ARM = build([code(ARM)], [START], ARM)
RELOCATED = build([code(data=bytes(8), relocations=((0, 2, "_start", 0),))], [START])


def with_parts(*parts: Part, names: tuple[Name, ...] = (), machine: int = X86) -> bytes:
    return build([code(machine), *parts], [START, *names], machine)


def patched(data: bytes, offset: int, value: bytes) -> bytes:
    return data[:offset] + value + data[offset + len(value) :]
