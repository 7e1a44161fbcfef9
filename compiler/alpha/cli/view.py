"""`alpha view`: a stage of a build as text."""

from __future__ import annotations

from alpha.cli.arguments import FORMAT, Command, Given, Option
from alpha.cli.output import Output
from alpha.driver.request import STAGES, Request


def view(given: Given) -> int:
    """Print a stage of the build of a system or a pairing: its own text form, on stdout."""
    from alpha.driver.packages import current_folder
    from alpha.driver.session import Session
    from alpha.driver.stages import stage_text

    target, policy = given.values.get("--target"), given.values.get("--policy")
    request = Request(given.places[0], target, "--direct" in given.flags, policy)
    output = Output(given.text("--format"))
    with Session.open(current_folder()) as session:

        def work() -> int:
            output.data(stage_text(session, request, given.text("--stage")))
            return 0

        return output.attempt(session.diagnostics, work)


COMMAND = Command(
    "view",
    view,
    (
        Option("--stage", "What to print.", choices=STAGES, required=True),
        Option("--target", "Target, as for build [default: x86_64-linux].", "NAME"),
        Option("--direct", "The direct lane."),
        Option("--policy", "The policy of SYSTEM.Run, where there are several.", "NAME"),
        FORMAT,
    ),
    "SYSTEM-or-PAIRING",
    least=1,
    most=1,
)
