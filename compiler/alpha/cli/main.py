"""The entry point: every way a command can end, and the exit status of each."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence

import click

from alpha import __version__
from alpha.cli.commands import Commands
from alpha.diagnostics.codes import INTERNAL, INTERRUPTED, OK, STOPPED, USAGE


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="alpha %(version)s")
def cli() -> None:
    """Alpha: a typed language and compiler for learning systems.

    Results go to stdout, words to stderr. `alpha COMMAND --help` says more about a command.
    """


def main() -> int:
    """The command `alpha`. Returns the exit status."""
    # A command ends soon and makes few cycles: the collector would only walk what is alive, a tenth of a build.
    gc.set_threshold(50_000, 20, 50)
    _open_missing_streams()
    _interrupt_by(KeyboardInterrupt)
    status = run(sys.argv[1:])
    _interrupt_by(None)
    status = _flush(status)
    if status == INTERRUPTED:
        # Python ends itself by the signal where that came inside of `exec`, whoever has caught it since.
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(status)
    return status


def _interrupt_by(error: type[BaseException] | None) -> None:
    """What Ctrl-C, SIGTERM and a terminal that goes away do: `error`, or else they end the process at once.

    What whoever started the command has told the process to ignore, as `nohup` does, it ignores.
    """

    def interrupt(*_: object) -> None:
        if error is not None:
            raise error

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt if error else signal.SIG_DFL)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line in this process and returns its exit status; no exception leaves it."""
    from alpha.driver.errors import UsageError

    try:
        if not arguments:
            arguments = ["--help"]
        result = cli.main(args=list(arguments), prog_name="alpha", standalone_mode=False)
        return result if isinstance(result, int) else OK
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.UsageError as error:
        _usage(error)
        return USAGE
    except UsageError as error:
        _error(str(error))
        return USAGE
    except (KeyboardInterrupt, click.Abort) as interruption:
        begun = "" if isinstance(interruption, click.Abort) else "\n"  # click has ended the line
        with contextlib.suppress(OSError):  # the terminal may be what went away
            click.echo(f"{begun}interrupted; the old files are untouched", err=True)
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


def _error(text: str) -> None:
    """One line, whatever the names in it hold."""
    from alpha.diagnostics.columns import clean

    click.echo(f"error: {clean(text)}", err=True)


def _usage(error: click.UsageError) -> None:
    _error(_said(error))
    if error.ctx is not None:
        command = error.ctx.command_path
        click.echo(f"{error.ctx.get_usage()}\nmore: {command} --help", err=True)


def _said(error: click.UsageError) -> str:
    """The words of a usage error, in our own style where it is about an option's name."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error.format_message()
    from alpha.diagnostics.closest import did_you_mean

    known = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts]
    guess = did_you_mean(error.option_name, [name for name in known if name.startswith("-")])
    return f"there is no option `{error.option_name}`" + (f"; {guess}" * bool(guess))


def _is_output(failure: OSError) -> bool:
    import errno

    return failure.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EBADF, errno.EDQUOT)


def _output_failed(failure: OSError) -> int:
    """R0507 of the standard output: nothing is known to have arrived."""
    _discard_stdout()
    click.echo(f"error[R0507]: cannot write to standard output: {failure.strerror}", err=True)
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
