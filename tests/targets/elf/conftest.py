"""Objects from LLVM for the tests of the linker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from targets.elf.emitter import Emitter


@pytest.fixture(scope="session")
def emitter() -> Iterator[Emitter]:
    with Emitter() as started:
        yield started
