"""The commands of `alpha`, each imported only when it is used: a short command must not pay for a long one."""

from __future__ import annotations

import click

from alpha.diagnostics.closest import did_you_mean

GROUPS: dict[str, dict[str, str]] = {
    "Write a system": {
        "new": "Make a package that checks, tests and trains.",
        "check": "Parse, check and prove; write nothing.",
        "prove": "Evaluate proofs, and say how many hold.",
        "test": "Run the tests of modules on this machine.",
        "fmt": "Rewrite modules in the one style.",
        "fix": "Apply the fixes the compiler is sure of.",
        "lock": "Write alpha.lock, the digests of cited files.",
    },
    "Build and run it": {
        "build": "Build a system or a pairing into an executable.",
        "run": "Build if needed, then run the executable.",
    },
    "Look inside": {
        "view": "Print a stage of a build, or draw its memory.",
        "explain": "Explain a diagnostic code or a demand.",
    },
}
"""Commands with what they do, by what they are for."""

SUMMARIES = {name: words for group in GROUPS.values() for name, words in group.items()}


def load(name: str) -> click.Command:
    """The command of that name, which is one of `SUMMARIES`."""
    match name:
        case "build":
            from alpha.cli.build import build as command
        case "new":
            from alpha.cli.new import new as command
        case "check":
            from alpha.cli.check import check as command
        case "prove":
            from alpha.cli.prove import prove as command
        case "test":
            from alpha.cli.test import test as command
        case "run":
            from alpha.cli.run import run as command
        case "fmt":
            from alpha.cli.fmt import fmt as command
        case "fix":
            from alpha.cli.fix import fix as command
        case "view":
            from alpha.cli.view import view as command
        case "explain":
            from alpha.cli.explain import explain as command
        case "lock":
            from alpha.cli.lock import lock as command
        case _:
            raise KeyError(name)
    return command


class Commands(click.Group):
    """A group that knows its commands by name and imports one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(SUMMARIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in SUMMARIES else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in SUMMARIES and not name.startswith("-"):
            guess = did_you_mean(name, SUMMARIES)
            raise click.UsageError(
                f"there is no command `{name}`" + (f"; {guess}" * bool(guess)), ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, SUMMARIES))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), words) for name, words in group.items()])
