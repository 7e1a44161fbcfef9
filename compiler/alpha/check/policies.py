"""Policies and pairings: entries against their types."""

from __future__ import annotations

from alpha.check import errors_declarations, errors_names, errors_types
from alpha.check.builtin import PAIRING_ENTRIES, POLICY_ENTRIES
from alpha.check.definitions import new_context
from alpha.check.entries import Blame
from alpha.check.expressions import abstraction
from alpha.check.facts import is_profile
from alpha.check.finish import finish
from alpha.check.module_scope import Work
from alpha.check.references import nodes
from alpha.check.solver import BOOL, TEXT
from alpha.core import term
from alpha.core.types import Function, Named, Type
from alpha.syntax import tree


def check_policy(work: Work, item: tree.PolicyDecl) -> None:
    entries = entries_of(work, item.entries, "policy", tuple(POLICY_ENTRIES))
    good = entries is not None
    made: list[tuple[str, term.Term]] = []
    for name, define in (entries or {}).items():
        found = entry_of(work, define, POLICY_ENTRIES[name][0], "policy")
        if found is None:
            good = False
        else:
            made.append((name, found))
    for name, (_, required) in POLICY_ENTRIES.items():
        if required and name not in {d.name.text for d in item.entries}:
            diagnostic = errors_declarations.missing_entry(
                item.name.span, "policy", item.name.text, name
            )
            work.report(diagnostic)
            good = False
    if good and _metrics(work, dict(made)):
        work.policies.append(term.Policy(work.symbol(item.name.text), tuple(made), item.span))


def entries_of(
    work: Work, defines: tuple[tree.Define, ...], what: str, known: tuple[str, ...]
) -> dict[str, tree.Define] | None:
    """The entries of a declaration by their names; None where something is wrong with each of them."""
    found: dict[str, tree.Define] = {}
    good = True
    for define in defines:
        name = define.name.text
        if name in found:
            first = found[name].name.span
            work.report(errors_names.defined_twice(define.name.span, name, first))
            good = False
        elif name not in known:
            work.report(errors_declarations.unknown_entry(define.name.span, what, name, known))
            good = False
        else:
            found[name] = define
    return found if good or found else None


def entry_of(work: Work, define: tree.Define, type_: Type, what: str) -> term.Term | None:
    """An entry against its type; None if it is at fault."""
    cx = new_context(work)
    name = define.name.text
    blame = Blame(define.name.span, f"the entry `{name}` of a {what} is `{cx.show(type_)}`")
    if not define.parameters:
        found = cx.check(define.body, type_, blame)
        return finish(cx, found)
    types: list[Type] = []
    result = type_
    for _ in define.parameters:
        if not isinstance(result, Function):
            form = f"{name} = ..."
            work.report(errors_declarations.entry_parameters(define.name.span, what, name, form))
            return None
        types.append(result.parameter)
        result = result.result
    return finish(
        cx, abstraction(cx, define.parameters, define.body, define.span, types, result, blame)
    )


def _metrics(work: Work, entries: dict[str, term.Term]) -> bool:
    """Reports and stop rules name `loss` or a metric of the learner, where both are written out."""
    learner = entries["learner"]
    if not isinstance(learner, term.Global) or learner.symbol not in work.registry.metrics:
        return True
    known = {"loss", *work.registry.metrics[learner.symbol]}
    named: list[term.Term] = []
    report = entries.get("report")
    if isinstance(report, term.RecordTerm):
        scalars = dict(report.fields).get("scalars")
        if isinstance(scalars, term.ListTerm):
            named.extend(scalars.items)
    stop = entries.get("stop")
    for rule in stop.items if isinstance(stop, term.ListTerm) else ():
        if isinstance(rule, term.Apply) and isinstance(rule.arguments[0], term.RecordTerm):
            metric = dict(rule.arguments[0].fields).get("metric")
            if metric is not None:
                named.append(metric)
    good = True
    for item in named:
        if isinstance(item, term.Literal) and item.value not in known:
            work.report(
                errors_declarations.unknown_metric(item.span, str(item.value), sorted(known))
            )
            good = False
    return good


# ---- pairings --------------------------------------------------------------------------------------------------------


def check_pairings(work: Work) -> None:
    pairings = [i for i in work.loaded.tree.items if isinstance(i, tree.PairingDecl)]
    if not pairings:
        return
    first = pairings[0]
    path = work.loaded.tree.path
    if len(path) < 2 or path[-2].text != "Build":
        message = "a pairing stands in a module of the system's `Build` folder"
        cause = f"`{work.loaded.name}` is not `<System>.Build.<Name>`"
        work.report(errors_declarations.pairing_place(first.name.span, message, cause))
    for other in pairings[1:]:
        message = "a module holds one pairing"
        cause = "the module's name is what `alpha build` takes"
        work.report(errors_declarations.pairing_place(other.name.span, message, cause))
    _literals(work, first)
    for item in pairings:
        _pairing(work, item)


def _pairing(work: Work, item: tree.PairingDecl) -> None:
    entries = entries_of(work, item.entries, "pairing", PAIRING_ENTRIES)
    good = entries is not None
    made: list[tuple[str, term.Term]] = []
    for name, define in (entries or {}).items():
        if name in ("system", "device"):
            found = _system_or_device(work, define)
        else:
            found = entry_of(work, define, BOOL if name == "admit" else TEXT, "pairing")
        if found is None:
            good = False
        else:
            made.append((name, found))
        if name == "output" and isinstance(found, term.Literal) and "/" in str(found.value):
            message = "`output` is the name of a file, not a path"
            cause = "everything a build writes goes into the folder `build`"
            work.report(errors_declarations.pairing_place(found.span, message, cause))
            good = False
    for name in PAIRING_ENTRIES:
        if name not in {d.name.text for d in item.entries}:
            diagnostic = errors_declarations.missing_entry(
                item.name.span, "pairing", item.name.text, name
            )
            work.report(diagnostic)
            good = False
    if good:
        work.pairings.append(term.Pairing(work.symbol(item.name.text), tuple(made), item.span))


def is_host(work: Work, type_: Type) -> bool:
    """A record called `PlanHost` with a policy and an architecture: each platform of devices declares its own."""
    record = work.registry.records.get(type_.name) if isinstance(type_, Named) else None
    if record is None or record.symbol.rpartition(".")[2] != "PlanHost":
        return False
    architecture = record.fields.get("architecture")
    of_variants = isinstance(architecture, Named) and architecture.name in work.registry.variants
    return of_variants and record.fields.get("policy") == Named("Policy")


def _system_or_device(work: Work, define: tree.Define) -> term.Term | None:
    name = define.name.text
    if define.parameters:
        form = f"{name} = ..."
        work.report(errors_declarations.entry_parameters(define.name.span, "pairing", name, form))
        return None
    cx = new_context(work)
    found = finish(cx, cx.infer(define.body))
    if found is None:
        return None
    if name == "device":
        if is_profile(work, found.type):
            return found
        work.report(errors_declarations.profile_type(define.body.value.span, cx.show(found.type)))
        return None
    if is_host(work, found.type) or found.type == Named("Policy"):
        return found
    wanted = "Policy` or a host's `PlanHost"
    work.report(errors_types.differ(define.body.value.span, cx.show(found.type), wanted, ()))
    return None


def _literals(work: Work, pairing: tree.PairingDecl) -> None:
    """E0203: no number, no quantity, and no text but `""` outside `output` and `artifact`."""
    allowed = {
        id(define)
        for item in work.loaded.tree.items
        if isinstance(item, tree.PairingDecl)
        for define in item.entries
        if define.name.text in ("output", "artifact")
    }
    pending: list[tree.Node] = []
    for item in work.loaded.tree.items:
        if isinstance(item, tree.PairingDecl):
            pending.extend(d for d in item.entries if id(d) not in allowed)
        elif not isinstance(item, tree.Import):
            pending.append(item)
    found: list[tuple[tree.Node, str]] = []
    for root in pending:
        for node in nodes(root):
            if isinstance(node, tree.Int | tree.Float):
                found.append((node, "number"))
            elif isinstance(node, tree.Quantity):
                found.append((node, "quantity"))
            elif isinstance(node, tree.Text) and node.value:
                found.append((node, 'text but `""`'))
    for node, what in sorted(found, key=lambda pair: pair[0].span.start):
        work.report(errors_declarations.literal_in_pairing(node.span, what, pairing.name.span))
