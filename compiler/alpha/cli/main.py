"""The entry point: every way a command can end, and the exit status of each."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from alpha import __version__
from alpha.cli import commands
from alpha.cli.arguments import HELP, Option, WrongUsage, paragraphs, table
from alpha.diagnostics.closest import did_you_mean
from alpha.diagnostics.codes import INTERNAL, INTERRUPTED, OK, STOPPED, USAGE

_VERSION = Option("--version", "Show the version and exit.")
USAGE_LINE = "Usage: alpha [OPTIONS] COMMAND [ARGS]..."
ABOUT = """Alpha: a typed language and compiler for learning systems.

Results go to stdout, words to stderr. `alpha COMMAND --help` says more about a command.
"""


def main() -> int:
    """The command `alpha`. Returns the exit status."""
    # A command ends soon and makes few cycles: the collector would only walk what is alive, a tenth of a build.
    gc.set_threshold(50_000, 20, 50)
    _open_missing_streams()
    status = run(sys.argv[1:])
    return _flush(status)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line in this process and returns its exit status; no exception leaves it."""
    from alpha.driver.errors import UsageError

    try:
        return _run(arguments)
    except UsageError as error:
        _say(f"error: {error}")
        return USAGE
    except KeyboardInterrupt:
        _say("\ninterrupted; the old files are untouched")
        return INTERRUPTED
    except BrokenPipeError:
        _discard_stdout()
        return OK
    except Exception as failure:
        from alpha.cli.crash import report

        if isinstance(failure, OSError) and failure.filename is None and _is_output(failure):
            return _output_failed(failure)
        report(failure, arguments)
        return INTERNAL


def _run(arguments: Sequence[str]) -> int:
    first = arguments[0] if arguments else HELP.name
    if first == _VERSION.name:
        sys.stdout.write(f"alpha {__version__}\n")
        return OK
    if first in (HELP.name, HELP.short):
        options = table((option.shown, option.help) for option in (_VERSION, HELP))
        known = table(commands.SUMMARIES.items())
        sys.stdout.write(
            f"{USAGE_LINE}\n\n{paragraphs(ABOUT)}\n\nOptions:\n{options}\nCommands:\n{known}"
        )
        return OK
    if first not in commands.SUMMARIES:
        kind = "option" if first.startswith("-") else "command"
        guess = did_you_mean(first, [*commands.SUMMARIES, _VERSION.name, HELP.name])
        words = f"there is no {kind} `{first}`" + (f"; {guess}" if guess else "")
        return _wrong(words, USAGE_LINE, "alpha")
    command = commands.load(first)
    try:
        given = command.read(arguments[1:])
        if given is not None:
            return command.run(given)
    except WrongUsage as wrong:
        return _wrong(str(wrong), command.usage, f"alpha {command.name}")
    sys.stdout.write(command.help())
    return OK


def _wrong(words: str, usage: str, command: str) -> int:
    _say(f"error: {words}\n{usage}\nmore: {command} --help")
    return USAGE


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")


def _is_output(failure: OSError) -> bool:
    import errno

    return failure.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF, errno.EDQUOT)


def _output_failed(failure: OSError) -> int:
    """R0507 of the standard output: nothing is known to have arrived."""
    _discard_stdout()
    _say(f"error[R0507]: cannot write to standard output: {failure.strerror}")
    return STOPPED


def _flush(status: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()
    except OSError as failure:
        return _output_failed(failure)
    return status


def _discard_stdout() -> None:
    """What is left in the buffer goes nowhere, so the interpreter's last flush cannot fail again."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    finally:
        os.close(null)


def _open_missing_streams() -> None:
    """A stream that was closed before the start takes what is written and drops it; text is UTF-8 in every locale."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
