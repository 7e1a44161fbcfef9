"""Where a command's words and data go: words to stderr, data to stdout, diagnostics in the format asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from alpha.base.record import record
from alpha.cli.choice import OneOf
from alpha.diagnostics.codes import exit_status
from alpha.diagnostics.diagnostic import Diagnostics, Refused

FORMATS = ("text", "json", "sarif")


@record
class Output:
    """`format` is one of `FORMATS`. `quiet` leaves out the words of success."""

    format: str = "text"

    def say(self, text: str) -> None:
        """A line of words for people; none when machines read."""
        if self.format == "text":
            click.echo(text, err=True)

    def data(self, text: str) -> None:
        """Data, exactly as given."""
        sys.stdout.write(text)

    def attempt(self, diagnostics: Diagnostics, work: Callable[[], int]) -> int:
        """Runs `work`; shows every diagnostic; the status is that of the first error, else what `work` returned."""
        status = 0
        try:
            status = work()
        except Refused as refused:
            for diagnostic in refused.diagnostics:
                diagnostics.report(diagnostic)
            assert diagnostics.errors, "a refusal without an error"
        self.show(diagnostics)
        return exit_status(diagnostics.items) or status

    def show(self, diagnostics: Diagnostics) -> None:
        if self.format == "text" and not diagnostics.items:
            return  # without the renderer
        match self.format:
            case "json":
                from alpha.diagnostics.json import json_lines

                self.data(json_lines(diagnostics.items))
            case "sarif":
                from alpha.diagnostics.sarif import sarif

                self.data(sarif(diagnostics.items))
            case _:
                from alpha.diagnostics.render import render_all, wants_colour

                text = render_all(diagnostics.items, wants_colour(sys.stderr, os.environ))
                if text:
                    sys.stderr.write(text)


format_option = click.option(
    "--format",
    "form",
    type=OneOf(FORMATS),
    default="text",
    show_default=True,
    help="How diagnostics and reports are written.",
)
