"""The command `alpha`, also as `python -m alpha`."""

import signal
import sys


def main() -> int:
    """As `alpha.cli.main.main`; an interruption while that is imported ends the process without a word."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from alpha.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
