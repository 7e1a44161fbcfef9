"""`alpha build`: an executable, its manifest, its report and its artifact module, or nothing."""

from __future__ import annotations

from pathlib import Path

import click

from alpha.cli.choice import OneOf
from alpha.cli.output import Output, format_option
from alpha.driver.request import KINDS, Request


@click.command()
@click.argument("name", metavar="SYSTEM-or-PAIRING")
@click.option("--target", metavar="NAME", help="Target of the executable [default: x86_64-linux].")
@click.option("--direct", is_flag=True, help="Use the direct lane: one template an operation.")
@click.option("--policy", metavar="NAME", help="The policy of SYSTEM.Run, where there are several.")
@click.option(
    "-o", "--output", "place", metavar="FILE", type=click.Path(path_type=Path), help="The result."
)
@click.option("--emit", type=OneOf(KINDS), default="exe", show_default=True, help="Kind.")
@format_option
def build(
    name: str,
    target: str | None,
    direct: bool,
    policy: str | None,
    place: Path | None,
    emit: str,
    form: str,
) -> int:
    """Build a system, or the pairing of a module such as Digits.Build.X8664Linux.

    Writes build/NAME, its manifest, its report and its artifact module, all at once, or nothing. Of a pairing with a
    card, --emit ptx writes the code of the kernels and the plan by which a host launches them.
    """
    from alpha.driver.packages import current_folder
    from alpha.driver.session import Session

    output = Output(form)
    with Session.open(current_folder()) as session:
        if emit == "exe":
            session.runtime.foresee(target)
        if emit not in ("llvm", "ptx"):
            session.workers.start()
        from alpha.driver.pipeline import build as build_system

        def work() -> int:
            outcome = build_system(session, Request(name, target, direct, policy, place, emit))
            if outcome.refusal is not None:
                output.data(outcome.refusal.text(form))
                return 0
            for line in outcome.summary:
                output.say(line)
            if form == "json":
                output.data(outcome.json_line())
            return 0

        return output.attempt(session.diagnostics, work)
