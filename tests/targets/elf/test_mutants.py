"""A gate: bugs seeded into the linker are all caught by the tables, so the tables are worth their name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from targets.elf.broken_images import BROKEN, check_broken, check_sound
from targets.elf.checks import CHECKS, check_refusal, check_relocation
from targets.elf.linker_under_test import Linker
from targets.elf.refusals import REFUSALS
from targets.elf.relocation_table import CASES


def _all(elf: Linker) -> Iterator[tuple[str, Callable[[], None]]]:
    for check in CHECKS:
        yield check.__name__, lambda check=check: check(elf)  # type: ignore[misc]
    yield "check_sound", lambda: check_sound(elf)
    for case in CASES:
        yield f"relocation {case.title}", lambda case=case: check_relocation(elf, case)  # type: ignore[misc]
    for refusal in REFUSALS:
        yield f"refusal {refusal.title}", lambda refusal=refusal: check_refusal(elf, refusal)  # type: ignore[misc]
    for broken in BROKEN:
        yield f"broken {broken.title}", lambda broken=broken: check_broken(elf, broken)  # type: ignore[misc]


def killer(elf: Linker) -> str | None:
    """The first check that fails, or None."""
    for name, check in _all(elf):
        try:
            check()
        except Exception:
            return name
    return None
