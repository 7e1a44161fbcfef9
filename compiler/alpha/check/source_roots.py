"""Where modules are found: the source roots of a package and of the compiler (specification, section 2)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import alpha
from alpha.base.record import record
from alpha.check import module_errors as errors
from alpha.diagnostics.diagnostic import Refused

SUFFIX = ".alpha"
PACKAGE_FILE = "alpha.toml"
INNER_ROOTS = ("systems", "platforms")
"""Folders of a package that are source roots of their own."""

_PART = re.compile(r"[A-Z][A-Za-z0-9_]*")


@record
class Root:
    """A folder of modules. `label` stands before its files where they are shown; a root may be both own and shipped."""

    folder: Path
    label: str
    own: bool
    shipped: bool

    def file(self, name: str) -> Path:
        """The file that would hold the module `name`."""
        return self.folder.joinpath(*name.split(".")).with_suffix(SUFFIX)

    def shown(self, file: Path) -> str:
        return self.label + file.relative_to(self.folder).as_posix()


@record
class Found:
    """A file that holds a module, and its root."""

    root: Root
    file: Path

    @property
    def shown(self) -> str:
        return self.root.shown(self.file)


@record
class SourceRoots:
    """The source roots in the order in which they are searched, each folder once."""

    package: Path | None
    roots: tuple[Root, ...]

    @classmethod
    def open(
        cls, package: Path | None, shipped: tuple[tuple[str, Path], ...] | None = None
    ) -> SourceRoots:
        """The roots of a package's folder (None: only what is shipped). `shipped` stands in for the compiler's own.

        Refused with E0202 if the package is a folder of reference models.
        """
        if package is not None and package.resolve().name == "reference":
            raise Refused(errors.reference_root(package.name))
        own = own_folders(package) if package is not None else []
        shipped = shipped_folders() if shipped is None else shipped
        shipped_places = {folder.resolve() for _, folder in shipped}
        roots: dict[Path, Root] = {}
        for label, folder in own:
            place = folder.resolve()
            if folder.is_dir() and place not in roots:
                roots[place] = Root(folder, label, own=True, shipped=place in shipped_places)
        for label, folder in shipped:
            place = folder.resolve()
            if folder.is_dir() and place not in roots:
                roots[place] = Root(folder, label, own=False, shipped=True)
        return cls(package, tuple(roots.values()))

    def candidates(self, name: str) -> list[Found]:
        """Every file of the roots that could hold the module `name`, each real file once, in order."""
        below = name.replace(".", os.sep) + SUFFIX
        found = [
            Found(root, root.file(name))
            for root in self.roots
            if os.path.lexists(os.path.join(root.folder, below))  # noqa: PTH118 -- thousands of times
        ]
        if len(found) < 2:
            return found
        real: dict[Path, Found] = {}
        for each in found:
            real.setdefault(_real(each.file), each)
        return list(real.values())

    def only(self, name: str) -> Found | None:
        """The file that holds the module `name`; None unless there is exactly one."""
        found = self.candidates(name)
        return found[0] if len(found) == 1 else None

    def modules(self) -> dict[str, Found]:
        """All modules by name, sorted; of a name that several roots have, the first root's."""
        found: dict[str, Found] = {}
        for root in self.roots:
            for name, file in modules_below(root.folder, root.folder):
                found.setdefault(name, Found(root, file))
        return dict(sorted(found.items()))


def shipped_folders() -> tuple[tuple[str, Path], ...]:
    """The compiler's own systems, platforms and library. In a checkout the first two lie beside `compiler/`."""
    home = Path(alpha.__file__).parent
    base = home / "shipped"
    if not base.is_dir():
        base = home.parent.parent
    return (
        ("systems/", base / "systems"),
        ("platforms/", base / "platforms"),
        ("library/", home / "library"),
    )


def package_folder(start: Path) -> Path:
    """The package that `start` is in: the nearest folder upwards with an `alpha.toml`, else `start` itself."""
    for folder in (start, *start.absolute().parents):
        if (folder / PACKAGE_FILE).is_file():
            return folder
    return start


def find_systems(roots: SourceRoots) -> tuple[str, ...]:
    """The names of all systems, sorted: a system is a folder of modules that has a module `Run`."""
    runs = (name.rpartition(".") for name in roots.modules())
    return tuple(sorted(system for system, _, last in runs if system and last == "Run"))


def is_module_name(part: str) -> bool:
    """Whether a folder or a file's stem can be part of a module's name."""
    return _PART.fullmatch(part) is not None


def own_folders(package: Path) -> list[tuple[str, Path]]:
    """The folders of a package that may be its source roots, in order, with their labels; they need not exist."""
    return [("", package), *((f"{name}/", package / name) for name in INNER_ROOTS)]


def modules_below(folder: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Names and files of the modules in and below `folder` of a source root.

    Folders whose names are no module names are not searched, and none is searched twice.
    """
    pending: list[tuple[tuple[str, ...], Path]] = [(folder.relative_to(root).parts, folder)]
    seen: set[Path] = set()
    while pending:
        parts, place = pending.pop()
        real = _real(place)
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = sorted(place.iterdir())
        except OSError:
            continue  # a module in it that is asked for by name is reported then
        for entry in entries:
            if entry.suffix == SUFFIX and is_module_name(entry.stem):
                yield ".".join((*parts, entry.stem)), entry
            elif is_module_name(entry.name) and entry.is_dir():
                pending.append(((*parts, entry.name), entry))


def _real(place: Path) -> Path:
    try:
        return place.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return place
