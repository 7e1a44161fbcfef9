"""`alpha lock`: records the digest of every file the package cites."""

from __future__ import annotations

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.option(
    "--check", "only_check", is_flag=True, help="Tell what would change; status 1 if any."
)
@format_option
def lock(only_check: bool, form: str) -> int:
    """Write alpha.lock in the current folder (and in its systems/ and platforms/, where they have one).

    It holds the SHA-256 of every data file, run record and checked model that the modules cite, in the form that
    sha256sum reads. A build refuses a file that differs from its line.
    """
    from alpha.diagnostics.diagnostic import Diagnostics
    from alpha.driver.lock import write_locks
    from alpha.driver.packages import current_folder

    output = Output(form)
    diagnostics = Diagnostics()

    def work() -> int:
        changed = write_locks(current_folder(), diagnostics, write=not only_check)
        for path in changed:
            output.say(f"{'would change' if only_check else 'wrote'} {path}")
        if not changed and not diagnostics.errors:
            output.say("nothing has changed")
        return int(only_check and bool(changed))

    return output.attempt(diagnostics, work)
