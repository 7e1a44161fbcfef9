"""What the linker makes of objects written by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from targets.elf.checks import CHECKS
from targets.elf.linker_under_test import REAL, Linker


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test(check: Callable[[Linker], None]) -> None:
    check(REAL)
