"""`alpha run`: builds if needed, then becomes the executable."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from alpha.cli.output import Output


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("name", metavar="SYSTEM-or-PAIRING")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[COMMAND ...]")
@click.option("--direct", is_flag=True, help="Use the direct lane: one template an operation.")
@click.option("--policy", metavar="NAME", help="The policy of SYSTEM.Run, where there are several.")
def run(name: str, command: tuple[str, ...], direct: bool, policy: str | None) -> int:
    """Build NAME unless its executable is up to date, then run it with COMMAND.

    Options of alpha stand before NAME, those of the executable behind it: alpha run Digits train --steps 100
    """
    from alpha.driver.errors import UsageError, reason
    from alpha.driver.packages import current_folder
    from alpha.driver.pipeline import build
    from alpha.driver.request import Request
    from alpha.driver.session import Session

    output = Output()
    built: list[Path] = []
    with Session.open(current_folder()) as session:

        def work() -> int:
            outcome = build(session, Request(name, None, direct, policy), keep=True)
            if outcome.refusal is not None:
                output.data(outcome.refusal.text("text"))
                return 0
            for line in outcome.summary:
                output.say(line)
            built.append(outcome.path)
            return 0

        status = output.attempt(session.diagnostics, work)
    if not built or status:
        return status
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(built[0], [str(built[0]), *command])
    except OSError as failure:
        raise UsageError(f"cannot run `{built[0]}` on this machine: {reason(failure)}") from failure
