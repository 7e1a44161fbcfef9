"""`alpha new`: a package that checks, tests and trains."""

from __future__ import annotations

import click

from alpha.cli.choice import OneOf
from alpha.cli.output import Output
from alpha.driver.new import TEMPLATES


@click.command()
@click.argument("name", metavar="NAME")
@click.option(
    "--template",
    type=OneOf(list(TEMPLATES)),
    default=next(iter(TEMPLATES)),
    show_default=True,
    help="; ".join(f"{name}: {words}" for name, words in TEMPLATES.items()) + ".",
)
def new(name: str, template: str) -> int:
    """Make the folder NAME: a package with the system NAME, its data, tests and a pairing.

    It checks and tests as it is, and trains in seconds on the processor.
    """
    from alpha.diagnostics.diagnostic import Diagnostics
    from alpha.driver.new import make_package
    from alpha.driver.packages import current_folder

    output = Output()

    def work() -> int:
        make_package(current_folder(), name, template)
        output.say(f"made {name}/, a package with the system {name} ({template})")
        output.say(f"next: cd {name}, then: alpha check, alpha test, alpha run {name}")
        return 0

    return output.attempt(Diagnostics(), work)
