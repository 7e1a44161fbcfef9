"""New packages from the templates in `templates/`: a system each, under the name `Starter`, with its data.

A package is made beside its place under a temporary name and then renamed, so it is there whole or not at all.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from pathlib import Path

from alpha.check.source_roots import SUFFIX, SourceRoots, find_systems, is_module_name
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver import errors
from alpha.driver.errors import UsageError, reason
from alpha.driver.formatting import format_text
from alpha.driver.lock import write_locks

TEMPLATES = {
    "mlp": "a perceptron that tells the arms of a spiral apart",
    "cnn": "convolutions that tell shapes in noisy pictures apart",
    "gpt": "a tiny GPT over bytes that writes sums in words",
}
"""What can be chosen, the first one by default."""

STARTER = "Starter"
"""The name of the system in every template; in lower case that of its executable."""

RESERVED = ("Alpha", "Platform", "Reference")
"""First parts of module names that are not for systems of users."""

LONGEST = 64
"""A name longer than this makes paths that some file systems do not have."""

_TEXTS = frozenset({SUFFIX, ".md", ".toml", ".py"})
"""Files in which the name stands; the others are data and copied as they are."""


def make_package(folder: Path, name: str, template: str) -> Path:
    """Makes the package `name` in `folder` and returns its place.

    Raises UsageError for a name that no system may have and for a place that holds something; refused with R0507 where
    it cannot be written. Nothing is left behind then.
    """
    _require_name(name)
    place = folder / name
    _require_room(place)
    temporary = folder / f".{name}.alpha-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        _copy(_template(template), temporary, name)
        diagnostics = Diagnostics()
        write_locks(temporary, diagnostics, write=True)
        assert not diagnostics.errors, diagnostics.items
        temporary.replace(place)
    except OSError as failure:
        raise Refused(errors.write_failed(place, failure)) from failure
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(temporary)
    return place


def _template(name: str) -> Path:
    return Path(__file__).parent / "templates" / name


def _require_name(name: str) -> None:
    if not is_module_name(name):
        words = [word for word in re.split(r"[^A-Za-z0-9]+", name) if word]
        meant = "".join(word[0].upper() + word[1:] for word in words).lstrip("0123456789")
        hint = f"; such as `{meant}`" if is_module_name(meant) else ""
        raise UsageError(
            f"`{name}` cannot name a system: a name is a capital letter and then letters, digits "
            f"and `_`{hint}"
        )
    if len(name) > LONGEST:
        raise UsageError(f"the name of a system has at most {LONGEST} letters")
    shipped = {system.partition(".")[0] for system in find_systems(SourceRoots.open(None))}
    if name in RESERVED:
        raise UsageError(f"`{name}` is where modules of Alpha lie; choose another name")
    if name in shipped:
        raise UsageError(f"`{name}` is a system that comes with Alpha; choose another name")


def _require_room(place: Path) -> None:
    try:
        if place.is_dir() and not place.is_symlink():
            taken = any(place.iterdir())
        else:
            taken = place.exists() or place.is_symlink()
    except OSError as failure:
        raise UsageError(f"cannot look into `{place.name}`: {reason(failure)}") from failure
    if taken:
        what = "a folder with something in it" if place.is_dir() else "a file"
        raise UsageError(f"`{place.name}` is already {what}; choose another name, or move it away")


def _copy(source: Path, target: Path, name: str) -> None:
    """Every file of the template with the system's name in place of `Starter`, in paths as in texts."""
    for path in sorted(source.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        place = target / _named(path.relative_to(source).as_posix(), name)
        place.parent.mkdir(parents=True, exist_ok=True)
        data = path.read_bytes()
        if path.suffix in _TEXTS:
            text = _named(data.decode(), name)
            # a longer name may break lines that it does not break in the template
            data = (
                format_text(str(place), text.encode()) if path.suffix == SUFFIX else text
            ).encode()
        place.write_bytes(data)


def _named(text: str, name: str) -> str:
    return text.replace(STARTER, name).replace(STARTER.lower(), name.lower())
