"""`alpha prove`: the proofs and rejections of modules, and how many hold."""

from __future__ import annotations

import click

from alpha.cli.output import Output, format_option


@click.command()
@click.argument("targets", metavar="[PATH-or-NAME ...]", nargs=-1)
@click.option(
    "--filter", "pattern", metavar="TEXT", help="Only those whose name holds TEXT, or matches it."
)
@click.option(
    "--verbose", "-v", is_flag=True, help="List each with its value, its steps and its place."
)
@format_option
def prove(targets: tuple[str, ...], pattern: str | None, verbose: bool, form: str) -> int:
    """Evaluate every `proof` and `rejects`; show the parts of a false one with their values.

    `alpha check` and `alpha build` do the same on their way; this looks at nothing else. A step is one application of a
    function, constructor or operator, or one arm chosen.
    """
    from alpha.cli.chosen import Chosen
    from alpha.driver.proving import prove_all
    from alpha.driver.session import Session

    output = Output(form)
    chosen = Chosen.of(targets)
    with Session.open(chosen.package) as session:

        def work() -> int:
            found = prove_all(session, chosen.all(session.roots), pattern)
            held = sum(item.held for item in found)
            for item in found:
                if form == "json":
                    output.data(item.json_line() + "\n")
                elif verbose and form == "text":
                    output.data(item.line() + "\n")
            noun = "proof holds" if len(found) == 1 else "proofs hold"
            output.say(f"{held} of {len(found)} {noun}" if found else "there are no proofs here")
            return 0

        return output.attempt(session.diagnostics, work)
