"""A bug in Alpha, told without a traceback: what happened, and where the reproducer is saved."""

from __future__ import annotations

import os
import platform
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from alpha import __version__
from alpha.base.digest import sha256_text


def report(failure: BaseException, arguments: Sequence[str]) -> None:
    """Says that `failure` is Alpha's fault and saves what is needed to repeat it."""
    text = reproducer(failure, arguments)
    kind = type(failure).__name__
    words = str(failure).split("\n", 1)[0][:200]
    click.echo(
        f"internal error: {kind}{': ' if words else ''}{words}\n"
        "This is a bug in Alpha, not in your program. Nothing was written to the output folder.",
        err=True,
    )
    place = _save(text)
    if place is None:
        click.echo(text, err=True)
    else:
        click.echo(f"A reproducer is saved in {place}; please attach it to a report.", err=True)


def reproducer(failure: BaseException, arguments: Sequence[str]) -> str:
    """The versions, the command line, the folder and the traceback; paths of saved code are in the message."""
    trace = "".join(traceback.format_exception(failure))
    lines = [
        f"alpha {__version__}, Python {platform.python_version()}, {platform.machine()}",
        "arguments: " + " ".join(arguments),
        f"folder: {_folder()}",
        "",
        trace,
    ]
    return "\n".join(lines)


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return "(removed)"


def _save(text: str) -> Path | None:
    from alpha.driver.cache import user_cache

    name = f"crash-{sha256_text(text)[:16]}.txt"
    for folder in (user_cache(os.environ) / "crashes", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / name
            path.write_text(text, "utf-8", "backslashreplace")
        except OSError:
            continue
        return path
    return None
