"""What a command that works on modules was given: paths, names, or nothing for the current folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from alpha.base.record import record
from alpha.check.source_roots import SourceRoots


@record
class Chosen:
    """The package whose modules come first, what its paths choose, and names that are looked for in its roots."""

    package: Path
    modules: tuple[str, ...]
    names: tuple[str, ...]

    @staticmethod
    def of(targets: Sequence[str]) -> Chosen:
        from alpha.driver.packages import current_folder, package_of, paths_and_names

        paths, names = paths_and_names(targets)
        folder = current_folder()
        package, modules = package_of(paths or (folder,)) if paths or not names else (folder, ())
        return Chosen(package, modules, names)

    def all(self, roots: SourceRoots) -> tuple[str, ...]:
        """The names of all chosen modules, each once. Refused with E0102 for a name that is none."""
        from alpha.driver.packages import modules_named

        named = [module for name in self.names for module in modules_named(roots, name)]
        return tuple(dict.fromkeys([*self.modules, *named]))
