"""The commands of `alpha`, each imported only when it is used: a short command must not pay for a long one."""

from __future__ import annotations

from alpha.cli.arguments import Command

SUMMARIES = {
    "build": "Build a system or a pairing into an executable.",
    "check": "Parse, check and prove; write nothing.",
    "run": "Build if needed, then run the executable.",
    "fmt": "Rewrite modules in the one style.",
    "view": "Print a stage of a build as text.",
    "explain": "Explain a diagnostic code or a demand.",
    "lock": "Write alpha.lock, the digests of cited files.",
}


def load(name: str) -> Command:
    """The command of that name, which is one of `SUMMARIES`."""
    match name:
        case "build":
            from alpha.cli import build

            return build.COMMAND
        case "check":
            from alpha.cli import check

            return check.COMMAND
        case "run":
            from alpha.cli import run

            return run.COMMAND
        case "fmt":
            from alpha.cli import fmt

            return fmt.COMMAND
        case "view":
            from alpha.cli import view

            return view.COMMAND
        case "explain":
            from alpha.cli import explain

            return explain.COMMAND
        case "lock":
            from alpha.cli import lock

            return lock.COMMAND
        case _:
            raise KeyError(name)
