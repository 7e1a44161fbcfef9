"""`alpha view`: a stage of a build as text."""

from __future__ import annotations

import click

from alpha.cli.output import Output, format_option
from alpha.driver.request import STAGES, Request


@click.command()
@click.argument("name", metavar="SYSTEM-or-PAIRING")
@click.option("--stage", type=click.Choice(STAGES), required=True, help="What to print.")
@click.option("--target", metavar="NAME", help="Target, as for build [default: x86_64-linux].")
@click.option("--direct", is_flag=True, help="The direct lane.")
@click.option("--policy", metavar="NAME", help="The policy of SYSTEM.Run, where there are several.")
@format_option
def view(
    name: str, stage: str, target: str | None, direct: bool, policy: str | None, form: str
) -> int:
    """Print a stage of the build of a system or a pairing: its own text form, on stdout."""
    from alpha.driver.packages import current_folder
    from alpha.driver.session import Session
    from alpha.driver.stages import stage_text

    output = Output(form)
    with Session.open(current_folder()) as session:

        def work() -> int:
            output.data(stage_text(session, Request(name, target, direct, policy), stage))
            return 0

        return output.attempt(session.diagnostics, work)
