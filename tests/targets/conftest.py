"""The assembler of PTX, found once for all tests that ask it."""

from __future__ import annotations

import pytest

from alpha.targets.nvidia.assemble import Assembler
from requirements import require_ptxas


@pytest.fixture(scope="session")
def assembler() -> Assembler:
    return require_ptxas()
