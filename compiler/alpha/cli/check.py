"""`alpha check`: everything a build would refuse before the target is known, and no code."""

from __future__ import annotations

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.argument("targets", metavar="[PATH-or-NAME ...]", nargs=-1)
@format_option
def check(targets: tuple[str, ...], form: str) -> int:
    """Parse, infer types and shapes, evaluate, prove; write nothing.

    PATH is a folder or a module's file, NAME a system or a module; the current folder if there is none of them.
    """
    from alpha.cli.chosen import Chosen
    from alpha.driver.remembered import is_known
    from alpha.driver.session import Session

    output = Output(form)
    chosen = Chosen.of(targets)
    with Session.open(chosen.package) as session:

        def work() -> int:
            modules = chosen.all(session.roots)
            if not is_known(session.cache, session.roots, modules):
                from alpha.driver.checking import check as check_modules

                check_modules(session, modules)
            if not session.diagnostics.errors:
                count = len(modules)
                output.say(f"checked {count} module{'' if count == 1 else 's'}")
            return 0

        return output.attempt(session.diagnostics, work)
