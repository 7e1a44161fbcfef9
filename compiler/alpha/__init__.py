"""Alpha: a typed language and compiler toolchain for learning systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike

    from alpha.libraries import Run

__version__ = "0.1.0"


def load(path: str | PathLike[str]) -> Run:
    """A fresh run of the library at `path`, which `alpha build SYSTEM --emit shared` wrote, on NumPy arrays.

    Raises ImportError without NumPy, OSError for a file that cannot be loaded, ValueError for one that is no library of
    Alpha's.
    """
    from alpha.libraries import open_run

    return open_run(path)
