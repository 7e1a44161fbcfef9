"""`alpha fmt`: the one style."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.argument("paths", metavar="[PATH ...]", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--check", "only_check", is_flag=True, help="Tell what would change; status 1 if any."
)
@format_option
def fmt(paths: tuple[Path, ...], only_check: bool, form: str) -> int:
    """Rewrite modules in the one style; the current folder's if no PATH is given, stdin for -.

    A module that does not parse is reported and left as it is.
    """
    from alpha.diagnostics.diagnostic import Diagnostics
    from alpha.driver.formatting import format_files, format_text
    from alpha.driver.packages import current_folder

    output = Output(form)
    diagnostics = Diagnostics()

    def work() -> int:
        if paths == (Path("-"),):
            text = sys.stdin.buffer.read()
            formatted = format_text("<stdin>", text)
            if only_check:
                return int(formatted.encode() != text)
            output.data(formatted)
            return 0
        changed = format_files(paths or (current_folder(),), diagnostics, write=not only_check)
        for path in changed:
            output.say(f"{'would change' if only_check else 'changed'} {path}")
        return int(only_check and bool(changed))

    return output.attempt(diagnostics, work)
