"""The evaluator of a session: what it may read, and how it learns the demands of a policy."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.check.modules import LoadedModule
from alpha.core.term import Program
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.driver.planning import Planner
from alpha.driver.session import Session
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess


def evaluator_for(
    session: Session, program: Program, modules: Sequence[LoadedModule], planner: Planner
) -> tuple[Evaluator, FileAccess]:
    """An evaluator for checked modules, and the files it reads.

    The files of the modules are inputs of the session from here on: no output may replace them.
    """
    session.inputs.update(module.path for module in modules)
    files = FileAccess.of_modules({module.name: module.path for module in modules})
    evaluator = Evaluator(
        program, files=files, diagnostics=session.diagnostics, demands=planner.demands
    )
    return evaluator, files


def prove(evaluator: Evaluator, program: Program, diagnostics: Diagnostics) -> None:
    """Evaluates every proof of the build's modules. Refused with P0001 or P0002 if one does not hold."""
    for module in program.modules:
        if module.proofs:
            evaluator.prove(module.name)
    if diagnostics.errors:
        raise Refused(*diagnostics.errors)
