"""The compiler on one screen: one line a phase, a noun in, a noun out."""

from __future__ import annotations

from alpha.admission import admit
from alpha.driver.changes import nearest_changes
from alpha.driver.checking import checked, prove
from alpha.driver.closure import contents_of, inputs_of, reached
from alpha.driver.emission import emit, is_up_to_date, place_of, report_of, write
from alpha.driver.outcome import Build, Outcome, built, refused
from alpha.driver.request import Request
from alpha.driver.select import choose, paired, policy_of, select
from alpha.driver.session import Session
from alpha.targets.names import require_kind, require_lowering, resolve


def planned(session: Session, request: Request) -> Build:
    """Everything of a build but its bytes: load, check, prove, choose, evaluate, plan."""
    selection = select(session.roots, request)
    front = checked(session, selection.modules)
    prove(session, front)
    name, pairing = choose(front.program, front.evaluator, selection, request)
    if pairing is None:
        front.evaluator.system(policy_of(front.program, selection, request))
    target = resolve(name, request.direct)
    require_kind(request.emit, target)
    choice = paired(front.program, front.evaluator, selection, request, pairing, target)
    system = front.evaluator.system(choice.policy)
    profile = front.evaluator.profile(choice.profile)
    plan, kernels = front.planner.plan(system, target)
    inputs = inputs_of(reached(front.modules, choice), front.files)
    return Build(request, choice, system, profile, target, plan, kernels, inputs, front)


def build(session: Session, request: Request, keep: bool = False) -> Outcome:
    """Plan, admit, emit, link, write; or refuse and write nothing. `keep` leaves an output that is up to date."""
    work = planned(session, request)
    place = place_of(session, work)
    spans = work.span, work.device_span
    admission = admit(work.plan.demands, work.profile, work.choice.condition, *spans)
    if admission.admitted is None:
        return refused(session, work, admission, nearest_changes(work, admission))
    require_lowering(request.emit, work.target, work.device_span)
    report = report_of(work, admission)
    contents = contents_of(work, report)
    if keep and is_up_to_date(contents, place):
        return built(work, admission, place, None)
    image = emit(session, work, admission.admitted, contents)
    write(work, contents, report, place, image)
    return built(work, admission, place, image)
