"""`alpha fix`: the fixes of which the compiler is sure."""

from __future__ import annotations

from pathlib import Path

import click

from alpha.cli.output import Output


@click.command()
@click.argument("paths", metavar="[PATH ...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--apply", "apply_them", is_flag=True, help="Write the changes.")
def fix(paths: tuple[Path, ...], apply_them: bool) -> int:
    """Print the safe fixes of all errors and warnings as a diff; with --apply, write them.

    PATH is a folder or a module's file; the current folder if there is none. Fixes that need a decision are listed
    and never applied. Status 1 if errors are left.
    """
    from alpha.diagnostics.edits import unsure_fixes
    from alpha.diagnostics.render import fix_text
    from alpha.driver.fixing import diff, write
    from alpha.driver.fixing import fix as fix_modules
    from alpha.driver.packages import current_folder, package_of
    from alpha.driver.session import Session

    output = Output()
    package, names = package_of(paths or (current_folder(),))

    def counted(count: int, what: str) -> str:
        return f"{count} {what}{'' if count == 1 else 's' if what != 'fix' else 'es'}"

    with Session.open(package) as session:
        fixing = fix_modules(session, names)
        if apply_them:
            write(fixing.files)
            for file in fixing.files:
                output.say(f"changed {file.shown}")
        else:
            output.data(diff(fixing.files))
        unsure = unsure_fixes(fixing.left)
        for diagnostic, one in unsure:
            output.say(f"{one.span}: {diagnostic.code}: {diagnostic.message}; {fix_text(one)}")
        done = "applied" if apply_them else "to apply"
        words = [f"{counted(fixing.count, 'fix')} {done}"]
        if unsure:
            words.append(f"{counted(len(unsure), 'fix')} to decide on")
        if fixing.errors:
            words.append(f"{counted(fixing.errors, 'error')} left, see `alpha check`")
        output.say(", ".join(words))
        return int(fixing.errors > 0)
