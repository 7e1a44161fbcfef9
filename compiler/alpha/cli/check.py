"""`alpha check`: everything a build would refuse before the target is known, and no code."""

from __future__ import annotations

from pathlib import Path

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.argument("paths", metavar="[PATH ...]", nargs=-1, type=click.Path(path_type=Path))
@format_option
def check(paths: tuple[Path, ...], form: str) -> int:
    """Parse, infer types and shapes, evaluate, prove; write nothing.

    PATH is a folder or a module's file; the current folder if there is none.
    """
    from alpha.driver.packages import current_folder, package_of

    output = Output(form)
    package, chosen = package_of(paths or (current_folder(),))

    from alpha.driver.checking import check as check_modules
    from alpha.driver.session import Session

    with Session.open(package) as session:

        def work() -> int:
            count = check_modules(session, chosen)
            if not session.diagnostics.errors:
                output.say(f"checked {count} module{'' if count == 1 else 's'}")
            return 0

        return output.attempt(session.diagnostics, work)
