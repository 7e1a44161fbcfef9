"""The compiler on one screen: one line a phase, a noun in, a noun out."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.admission import admit
from alpha.check.modules import load
from alpha.check.program import check as check_program
from alpha.diagnostics.diagnostic import Refused
from alpha.driver.closure import contents_of, inputs_of
from alpha.driver.emission import emit, is_up_to_date, place_of, report_of, write
from alpha.driver.evaluation import evaluator_for, prove
from alpha.driver.outcome import Build, Outcome, built, refused
from alpha.driver.planning import Planner
from alpha.driver.request import Request
from alpha.driver.select import choose, paired, policy_of, select
from alpha.driver.session import Session
from alpha.targets.names import require_kind, resolve


def check(session: Session, names: Sequence[str]) -> int:
    """Loads, checks, evaluates and proves modules and what they import; the number of `names`."""
    modules = load(session.roots, names, session.diagnostics)
    program = check_program(modules, session.diagnostics)
    evaluator, _ = evaluator_for(session, program, modules, Planner())
    for name in names:
        evaluator.check_module(name)
    if session.diagnostics.errors:
        raise Refused(*session.diagnostics.errors)
    return len(names)


def planned(session: Session, request: Request) -> Build:
    """Everything of a build but its bytes."""
    selection = select(session.roots, request)
    modules = load(session.roots, selection.modules, session.diagnostics)
    program = check_program(modules, session.diagnostics)
    planner = Planner()
    evaluator, files = evaluator_for(session, program, modules, planner)
    prove(evaluator, program, session.diagnostics)
    target, pairing = choose(program, evaluator, selection, request)
    if pairing is None:
        evaluator.system(policy_of(program, selection, request))
    host = resolve(target, request.direct)
    require_kind(request.emit, host)
    choice = paired(program, evaluator, selection, request, pairing)
    system = evaluator.system(choice.policy)
    profile = evaluator.profile(choice.profile)
    plan, kernels = planner.plan(system, host)
    inputs = inputs_of(modules, files)
    return Build(request, choice, program, system, profile, host, plan, kernels, inputs)


def build(session: Session, request: Request, keep: bool = False) -> Outcome:
    """Builds, or refuses and writes nothing. `keep` leaves an output that is up to date."""
    work = planned(session, request)
    place = place_of(session, work)
    admission = admit(work.plan.demands, work.profile, work.choice.condition, work.span)
    if admission.admitted is None:
        return refused(session, work, admission)
    report = report_of(work, admission)
    contents = contents_of(work, report)
    if keep and is_up_to_date(contents, place):
        return built(work, admission, place, None)
    image = emit(session, work, admission.admitted, contents)
    write(work, contents, report, place, image)
    return built(work, admission, place, image)
