"""What a command line names: the package that a path belongs to, and the modules that it chooses there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from alpha.check.source_roots import (
    INNER_ROOTS,
    PACKAGE_FILE,
    SUFFIX,
    SourceRoots,
    find_systems,
    is_module_name,
    modules_below,
    own_folders,
)
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.driver.errors import UsageError, unknown_system
from alpha.evaluate.files import LOCK

__all__ = [
    "LOCK",
    "SUFFIX",
    "current_folder",
    "is_dotted_name",
    "modules_named",
    "own_roots",
    "package_of",
    "paths_and_names",
    "unknown",
]


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
    return [folder for _, folder in own_folders(package) if folder.is_dir()]


def names_below(folder: Path, root: Path) -> list[str]:
    """The names of the modules in and below `folder` of a source root, sorted."""
    return sorted(name for name, _ in modules_below(folder, root))


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
                chosen += names_below(own, own)
        else:
            chosen += names_below(real, root)
    if len(set(packages)) > 1:
        raise UsageError("the paths belong to different packages; check them one by one")
    if not chosen:
        raise UsageError(f"there are no modules in {_named(paths[0])}")
    return packages[0], tuple(dict.fromkeys(chosen))


def modules_named(roots: SourceRoots, name: str) -> list[str]:
    """The module of that name, and those of the system of that name. Refused with E0102 if there is neither."""
    known = roots.modules()
    found = [module for module in known if f"{module}.".startswith(f"{name}.")]
    if not found:
        raise Refused(unknown(roots, name, known))
    return found


def unknown(roots: SourceRoots, name: str, known: Iterable[str]) -> Diagnostic:
    """E0102: neither a system nor a module of the roots has that name."""
    folder = roots.package.resolve().name if roots.package is not None else ""
    return unknown_system(name, find_systems(roots), known, folder)


def _named(path: Path) -> str:
    return "this folder" if path == Path.cwd() else f"`{path}`"


def _root_of(real: Path) -> Path:
    """The source root of a file or folder: the nearest folder above whose name cannot be part of a module's name."""
    folder = real.parent if real.is_file() else real
    while is_module_name(folder.name) and not _marks_package(folder) and folder != folder.parent:
        folder = folder.parent
    return folder


def _marks_package(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (PACKAGE_FILE, LOCK))
