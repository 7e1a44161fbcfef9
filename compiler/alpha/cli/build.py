"""`alpha build`: an executable, its manifest, its report and its artifact module, or nothing."""

from __future__ import annotations

from pathlib import Path

from alpha.cli.arguments import FORMAT, Command, Given, Option
from alpha.cli.output import Output
from alpha.driver.request import KINDS, Request


def build(given: Given) -> int:
    """Build a system, or the pairing of a module such as Digits.Build.X8664Linux.

    Writes build/NAME, its manifest, its report and its artifact module, all at once, or nothing.
    """
    from alpha.driver.packages import current_folder
    from alpha.driver.session import Session

    form, emit, target = given.text("--format"), given.text("--emit"), given.values.get("--target")
    place = Path(given.values["--output"]) if "--output" in given.values else None
    direct, policy = "--direct" in given.flags, given.values.get("--policy")
    request = Request(given.places[0], target, direct, policy, place, emit)
    output = Output(form)
    with Session.open(current_folder()) as session:
        if emit == "exe":
            session.runtime.foresee(target)
        if emit != "llvm":
            session.worker.start()
        from alpha.driver.pipeline import build as build_system

        def work() -> int:
            outcome = build_system(session, request)
            if outcome.refusal is not None:
                output.data(outcome.refusal.text(form))
                return 0
            for line in outcome.summary:
                output.say(line)
            if form == "json":
                output.data(outcome.json_line())
            return 0

        return output.attempt(session.diagnostics, work)


COMMAND = Command(
    "build",
    build,
    (
        Option("--target", "Target of the executable [default: x86_64-linux].", "NAME"),
        Option("--direct", "Use the direct lane: one template an operation."),
        Option("--policy", "The policy of SYSTEM.Run, where there are several.", "NAME"),
        Option("--output", "The result.", "FILE", short="-o"),
        Option("--emit", "Kind.", choices=KINDS, default="exe"),
        FORMAT,
    ),
    "SYSTEM-or-PAIRING",
    least=1,
    most=1,
)
