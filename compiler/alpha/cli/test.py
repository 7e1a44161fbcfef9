"""`alpha test`: the tests of modules, compiled and run on this machine where they need it."""

from __future__ import annotations

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.argument("targets", metavar="[PATH-or-NAME ...]", nargs=-1)
@click.option(
    "--filter", "pattern", metavar="TEXT", help="Only those whose name holds TEXT, or matches it."
)
@click.option("--verbose", "-v", is_flag=True, help="List each test with how it came out.")
@format_option
def test(targets: tuple[str, ...], pattern: str | None, verbose: bool, form: str) -> int:
    """Run every `test NAME = e`; show the parts of a failing one with their values.

    A test may hold tensors, keys and gradients: what is not known at compile time is compiled as in a build and run on
    this machine. PATH is a folder or a module's file, NAME a system or a module.
    """
    from alpha.cli.chosen import Chosen
    from alpha.driver.session import Session
    from alpha.driver.testing import run_tests

    output = Output(form)
    chosen = Chosen.of(targets)
    with Session.open(chosen.package) as session:

        def work() -> int:
            found = run_tests(session, chosen.all(session.roots), pattern)
            for item in found:
                if item.fault is not None:
                    session.diagnostics.report(item.fault)
                if form == "json":
                    output.data(item.json_line() + "\n")
                elif verbose and form == "text":
                    output.data(item.line() + "\n")
            passed = sum(item.passed for item in found)
            noun = "test passes" if len(found) == 1 else "tests pass"
            output.say(f"{passed} of {len(found)} {noun}" if found else "there are no tests here")
            return 0

        return output.attempt(session.diagnostics, work)
