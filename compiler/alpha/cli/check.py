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
    from alpha.driver.packages import current_folder, modules_named, package_of, paths_and_names
    from alpha.driver.remembered import is_known
    from alpha.driver.session import Session

    output = Output(form)
    paths, names = paths_and_names(targets)
    folder = current_folder()
    package, chosen = package_of(paths or (folder,)) if paths or not names else (folder, ())

    with Session.open(package) as session:

        def work() -> int:
            named = [module for name in names for module in modules_named(session.roots, name)]
            modules = tuple(dict.fromkeys([*chosen, *named]))
            if not is_known(session.cache, session.roots, modules):
                from alpha.driver.checking import check as check_modules

                check_modules(session, modules)
            if not session.diagnostics.errors:
                count = len(modules)
                output.say(f"checked {count} module{'' if count == 1 else 's'}")
            return 0

        return output.attempt(session.diagnostics, work)
