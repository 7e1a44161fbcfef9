"""The front half of the compiler: load, check, evaluate. `alpha check` is this alone; a build goes on from here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from alpha.base.record import record
from alpha.check.modules import NO_TEXTS, LoadedModule, load_readable
from alpha.check.program import check as check_program
from alpha.check.scope import Registry
from alpha.core.term import Program
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver.planning import Planner
from alpha.driver.session import Session
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess


@record
class Checked:
    """Checked modules with what evaluates them. `files` are those that evaluation reads; `planner` makes the plans."""

    modules: tuple[LoadedModule, ...]
    program: Program
    evaluator: Evaluator
    files: FileAccess
    planner: Planner

    def with_batch(self, policy: str, batch: int) -> Evaluator:
        """Evaluates the same modules as if the policy had another batch. Its plans are kept with the others."""
        return Evaluator(
            self.program,
            files=self.files,
            diagnostics=Diagnostics(),
            demands=self.planner.demands,
            batches={policy: batch},
        )

    def data_files(self) -> set[Path]:
        """The files that evaluation has read so far."""
        return {root / read.path for root, read in self.files.all_reads()}


def checked(
    session: Session,
    names: Sequence[str],
    texts: Mapping[Path, bytes] = NO_TEXTS,
) -> Checked:
    """Loads and checks modules and all that they import. Their files may not be replaced by an output from here on.

    What can be read of a module is checked even where a declaration of it cannot, so that one look shows the faults
    of both kinds. `texts` stand for the contents of files.
    """
    return typed(session, readable(session, names, texts))


def readable(
    session: Session, names: Sequence[str], texts: Mapping[Path, bytes] = NO_TEXTS
) -> tuple[LoadedModule, ...]:
    """What can be read of modules and of all that they import; what is at fault is reported."""
    modules = load_readable(session.roots, names, session.diagnostics, texts)
    session.inputs.update(module.path for module in modules)
    return modules


def typed(
    session: Session, modules: tuple[LoadedModule, ...], registry: Registry | None = None
) -> Checked:
    """Modules with their types, ready to be evaluated. `registry` is filled with what the modules declare."""
    program = check_readable(session, modules, registry)
    planner = Planner()
    files = FileAccess.of_modules({module.name: module.path for module in modules})
    evaluator = Evaluator(
        program, files=files, diagnostics=session.diagnostics, demands=planner.demands
    )
    return Checked(modules, program, evaluator, files, planner)


def check_readable(
    session: Session, modules: tuple[LoadedModule, ...], registry: Registry | None = None
) -> Program:
    """The typed program. Refused with every fault that was found, those of loading first.

    With `ALPHA_VERIFY=1` in the environment, as in continuous integration, the law of the core is checked as well; a
    broken one is a bug in Alpha and ends in exit status 70.
    """
    try:
        program = check_program(modules, session.diagnostics, registry) if modules else None
    except Refused:
        program = None
    require_no_errors(session)
    assert program is not None
    if os.environ.get("ALPHA_VERIFY") == "1":
        from alpha.core.verify import verify  # only those who look for bugs in Alpha wait for it

        verify(program)
    return program


def check(session: Session, names: Sequence[str], texts: Mapping[Path, bytes] = NO_TEXTS) -> None:
    """Everything a build would refuse before its target is known; remembered if there is nothing to say."""
    from alpha.driver.edited import check_edited  # a build waits for none of these
    from alpha.driver.remembered import remember
    from alpha.driver.units import keep

    if not texts and check_edited(session, names):
        require_no_errors(session)
        return
    registry = Registry()
    modules = readable(session, names, texts)
    try:
        work = typed(session, modules, registry)
    except Refused:
        if modules and not texts:
            files = FileAccess.of_modules({module.name: module.path for module in modules})
            keep(session, names, modules, registry, files, set())
        raise
    settled = {name for name in names if work.evaluator.check_module(name)}
    if not texts:
        if not session.diagnostics.items:
            found = {module.name: (module.path, module.digest) for module in modules}
            remember(session.cache, session.roots, names, found, work.files)
        keep(session, names, modules, registry, work.files, settled)
    require_no_errors(session)


def prove(session: Session, work: Checked) -> None:
    """Evaluates every proof of the modules. Refused with P0001 or P0002 if one does not hold."""
    for module in work.program.modules:
        if module.proofs:
            work.evaluator.prove(module.name)
    require_no_errors(session)


def require_no_errors(session: Session) -> None:
    if session.diagnostics.errors:
        raise Refused(*session.diagnostics.errors)
