"""Packages and the modules in them: which folder a path belongs to, and which modules lie below it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from alpha.driver.errors import UsageError

SUFFIX = ".alpha"
LOCK = "alpha.lock"
INNER_ROOTS = ("systems", "platforms")
"""Folders of a package that are source roots of their own."""

_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")


def is_module_name(part: str) -> bool:
    """Whether a folder or a file's stem can be part of a module's name."""
    return _NAME.fullmatch(part) is not None


def is_dotted_name(name: str) -> bool:
    """Whether `name` can be that of a system or a module, such as `Digits` or `Digits.Model`."""
    return all(is_module_name(part) for part in name.split("."))


def paths_and_names(targets: Sequence[str]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """What a command was given, apart: files and folders, and names of systems and modules.

    What exists is a path, whatever it is called.
    """
    names = {name for name in targets if is_dotted_name(name) and not Path(name).exists()}
    paths = tuple(Path(target) for target in targets if target not in names)
    return paths, tuple(name for name in targets if name in names)


def current_folder() -> Path:
    """The folder the command runs in."""
    try:
        return Path.cwd()
    except OSError as failure:
        raise UsageError("the current folder has been removed; change to one that is there") from (
            failure
        )


def own_roots(package: Path) -> list[Path]:
    """The package's own source roots that exist, in order."""
    return [root for root in (package, *(package / name for name in INNER_ROOTS)) if root.is_dir()]


def modules_below(folder: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Names and files of the modules in and below `folder` of a source root, sorted by name.

    Folders whose names are no module names are not searched.
    """
    prefix = folder.relative_to(root).parts
    found: list[tuple[str, Path]] = []
    pending = [(folder, prefix)]
    while pending:
        place, parts = pending.pop()
        for entry in sorted(place.iterdir()):
            if entry.is_dir():
                if is_module_name(entry.name):
                    pending.append((entry, (*parts, entry.name)))
            elif entry.suffix == SUFFIX and is_module_name(entry.stem):
                found.append((".".join((*parts, entry.stem)), entry))
    yield from sorted(found)


def package_of(paths: Sequence[Path]) -> tuple[Path, tuple[str, ...]]:
    """The package that all `paths` belong to, and the names of the modules they choose.

    A folder chooses every module in and below it. A path inside a package (its part below the source root consists
    of module names) chooses from that package; else the folder is a package itself.
    """
    packages: list[Path] = []
    chosen: list[str] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no file or folder `{path}`")
        real = path.resolve()
        root = _root_of(real)
        packages.append(root.parent if root.name in INNER_ROOTS else root)
        if real.is_file():
            if real.suffix != SUFFIX:
                raise UsageError(f"`{path}` is not a module: its name does not end in {SUFFIX}")
            chosen.append(".".join(real.relative_to(root).with_suffix("").parts))
        elif real == packages[-1]:
            for own in own_roots(real):
                chosen += [name for name, _ in modules_below(own, own)]
        else:
            chosen += [name for name, _ in modules_below(real, root)]
    if len(set(packages)) > 1:
        raise UsageError("the paths belong to different packages; check them one by one")
    if not chosen:
        raise UsageError(f"there are no modules in {_named(paths[0])}")
    return packages[0], tuple(dict.fromkeys(chosen))


def _named(path: Path) -> str:
    return "this folder" if path == Path.cwd() else f"`{path}`"


def _root_of(real: Path) -> Path:
    """The source root of a file or folder: the nearest folder above whose name cannot be part of a module's name."""
    folder = real.parent if real.is_file() else real
    while is_module_name(folder.name) and not _marks_package(folder) and folder != folder.parent:
        folder = folder.parent
    return folder


def _marks_package(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("alpha.toml", LOCK))
