"""An option that takes one of a few words, and guesses which one was meant."""

from __future__ import annotations

from typing import Any

import click

from alpha.diagnostics.closest import did_you_mean


class OneOf(click.Choice[str]):
    """Words exactly as they are listed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices:
            listed = ", ".join(f"`{choice}`" for choice in self.choices)
            guess = did_you_mean(str(value), self.choices)
            self.fail(
                f"`{value}` is not one of {listed}" + (f"; {guess}" * bool(guess)), param, ctx
            )
        return super().convert(value, param, ctx)
