"""`alpha view`: a stage of a build as text, or the arena as a drawing."""

from __future__ import annotations

import click

from alpha.cli.choice import OneOf
from alpha.cli.output import Output, format_option
from alpha.driver.request import STAGES, Request


@click.command()
@click.argument("name", metavar="SYSTEM-or-PAIRING")
@click.option("--stage", type=OneOf(STAGES), required=True, help="What to print.")
@click.option("--program", metavar="NAME", help="One program alone, such as step or evaluate.")
@click.option("--target", metavar="NAME", help="Target, as for build [default: x86_64-linux].")
@click.option("--direct", is_flag=True, help="The direct lane.")
@click.option("--policy", metavar="NAME", help="The policy of SYSTEM.Run, where there are several.")
@format_option
def view(
    name: str,
    stage: str,
    program: str | None,
    target: str | None,
    direct: bool,
    policy: str | None,
    form: str,
) -> int:
    """Print a stage of the build of a system or a pairing: its own text form, on stdout.

    The stage ptx is of a pairing with a card. The stage memory is an SVG drawing of the arena over the launches of each
    program, and with --format json its facts:
    alpha view Digits --stage memory > memory.svg
    """
    from alpha.driver.packages import current_folder
    from alpha.driver.session import Session
    from alpha.driver.stages import stage_text

    output = Output(form)
    with Session.open(current_folder()) as session:

        def work() -> int:
            request = Request(name, target, direct, policy)
            output.data(stage_text(session, request, stage, program, form))
            return 0

        return output.attempt(session.diagnostics, work)
