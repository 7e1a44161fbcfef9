"""What the driver refuses: names that select nothing, places that cannot be written, files that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from alpha.base.span import Span
from alpha.diagnostics.closest import did_you_mean, file_beside
from alpha.diagnostics.diagnostic import Diagnostic


class UsageError(Exception):
    """A command that cannot be carried out as it was given: exit 2. The text is one sentence for the user."""


class OutputPlace(UsageError):
    """The output path names something that must not be replaced."""


def unknown_system(
    name: str, systems: Sequence[str], modules: Iterable[str], package: str = ""
) -> Diagnostic:
    """`package` is the name of the folder that was searched."""
    guess = did_you_mean(name, systems) or did_you_mean(name, modules)
    if package == name.split(".")[0]:
        guess = f"this is the folder `{package}` itself: go to the folder above it"
    names = ", ".join(f"`{system}`" for system in systems) or "none"
    return Diagnostic(
        code="E0102",
        message=f"there is no system and no module `{name}`",
        cause=(
            "a system is a folder of modules with a module `Run`, below the package's folder, its "
            "`systems/`, or among Alpha's own"
        ),
        hints=tuple(hint for hint in (guess, f"systems in reach: {names}") if hint),
    )


def unknown_policy(system: str, name: str, known: Sequence[str]) -> str:
    guess = did_you_mean(name, known)
    listed = ", ".join(f"`{policy}`" for policy in known) or "none"
    return f"`{system}.Run` has no policy `{name}`; it has {listed}" + (f"; {guess}" * bool(guess))


def no_policy(system: str) -> Diagnostic:
    return Diagnostic(
        code="E0710",
        message=f"`{system}.Run` declares no policy, so there is nothing to build",
        cause="a system is built from the policy of its module `Run`",
        hints=("add a `policy` to it, or name a pairing's module",),
    )


def write_failed(path: Path, failure: OSError) -> Diagnostic:
    return Diagnostic(
        code="R0507",
        message=f"cannot write `{path}`: {reason(failure)}",
        cause="the files of a build are written all or not at all; the old ones are untouched",
        hints=("name another place with `-o`",),
    )


def cited_file(path: str, beside: str | None, span: Span, failure: OSError) -> Diagnostic:
    """`beside` is the path of a file that `path` names from the module's own folder."""
    return Diagnostic(
        code="E0901",
        message=f"cannot read the cited file `{path}`: {reason(failure)}",
        span=span,
        cause="the lock holds the digest of every file that the modules cite",
        hints=("paths are relative to the folder of the lock, not to the module's own",),
        fixes=file_beside(path, beside, span),
    )


def not_a_pairing(module: str) -> Diagnostic:
    system = module.removesuffix(".Run")
    return Diagnostic(
        code="E0204",
        message=f"`{module}` declares no pairing, so it cannot be built",
        cause="only a system or a module that declares a pairing builds",
        hints=(f"the system is called `{system}`",) if system != module else (),
    )


def tests_stopped(said: str) -> Diagnostic:
    """`said` is what the program of the tests wrote before it stopped: `error[R0501]: ...`."""
    found = re.search(r"error\[(R\d{4})\]: (.*)", said)
    code, words = found.groups() if found else ("R0501", said or "it says nothing")
    return Diagnostic(
        code=code,
        message=f"the program of the tests cannot run here: {words}",
        cause="tests that need compiled code run on the machine that the command is given on",
    )


def reason(failure: OSError) -> str:
    """The system's words for a failure, without paths and numbers."""
    return (failure.strerror or str(failure)).lower()
