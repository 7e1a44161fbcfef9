"""The report of an admission: one row for every demand, met or not, as text and as JSON (`alpha.admission/1`).

Equal inputs give equal bytes: no clock, no path of the build machine, keys and rows in a fixed order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from alpha import __version__
from alpha.admission import amounts
from alpha.admission.admitted import Admission
from alpha.admission.compare import Row, Verdict
from alpha.admission.errors import shortfall, spelled
from alpha.admission.evidence import citation, weakest
from alpha.admission.nearest import Change
from alpha.admission.peak import Moment
from alpha.base.record import record
from alpha.core.term import Amount
from alpha.evaluate.system import Evidence, Fact
from alpha.plan.plan import Derivation

SCHEMA = "alpha.admission/1"

Object = dict[str, object]


@record
class Subject:
    """What was to be built. `pairing` is "" for the default pairing; `digests` maps inputs to SHA-256.

    `mapped` are the bytes that the process of a run on one thread maps, `thread` those that each further thread adds;
    both are 0 where no program is known that would run it.
    """

    system: str
    pairing: str
    target: str
    lane: str
    digests: tuple[tuple[str, str], ...] = ()
    mapped: int = 0
    thread: int = 0


def as_object(
    admission: Admission,
    subject: Subject,
    moment: Moment | None,
    changes: Sequence[Change] = (),
) -> Object:
    """The report as JSON-able data."""
    relied = [
        row.supply.evidence.grade
        for row in admission.rows
        if row.supply and row.verdict is Verdict.MET
    ]
    return {
        "schema": SCHEMA,
        "alpha": __version__,
        "system": subject.system,
        "pairing": subject.pairing or None,
        "profile": admission.profile.name,
        "target": subject.target,
        "lane": subject.lane,
        "verdict": "admitted" if admission.admitted else "refused",
        "refusal": admission.refusal,
        "condition": admission.condition,
        "demands": len(admission.rows),
        "met": len(admission.rows) - len(admission.unmet),
        "weakest": weakest(relied),
        "peak": None if moment is None else _moment(moment),
        "process": {"mapped": subject.mapped, "thread": subject.thread} if subject.mapped else None,
        "rows": [_row(row) for row in admission.rows],
        "identity": [_identity(fact) for fact in admission.profile.identity],
        "nearest": [_change(change) for change in changes],
        "digests": dict(subject.digests),
    }


def to_json(report: Object, indent: int | None = 2) -> str:
    """The bytes of `NAME.report.json`, or one line without `indent`."""
    return json.dumps(report, indent=indent) + "\n"


def to_text(
    admission: Admission,
    subject: Subject,
    moment: Moment | None,
    changes: Sequence[Change] = (),
) -> str:
    """The report for people: the unmet rows with their derivations, then the met ones on a line."""
    unmet, total = admission.unmet, len(admission.rows)
    name = subject.pairing or subject.system
    if admission.admitted:
        lines = [f"admitted  {name}   {_met(total, total)}"]
    else:
        status = _met(total - len(unmet), total) if not unmet else _unmet(len(unmet), total)
        lines = [f"refused  {name}   {status}   exit 3"]
        if not unmet:
            lines.append("  the pairing's own `admit` is False")
    for row in unmet:
        lines += _row_text(row, admission.profile.name)
        if moment is not None and row.demand.name.endswith("memory-bytes"):
            lines.append(f"     peak: {_moment_text(moment)}")
        if row.supply is not None:
            lines.append(f"     evidence: {_evidence_text(row.supply.evidence)}")
    met = [_met_text(row) for row in admission.rows if row.verdict is Verdict.MET]
    if met:
        lines.append("  met: " + ", ".join(met))
    if subject.mapped:
        lines.append(
            f"  note: its process maps {amounts.byte_text(subject.mapped)}, and "
            f"{amounts.byte_text(subject.thread)} for each thread beyond the first"
        )
    if changes:
        lines.append("nearest changes that would be admitted")
        lines += [_change_text(change) for change in changes]
    if not admission.admitted:
        lines.append(
            "No bytes were written. Alpha does not fall back to another device or to the CPU."
        )
    return "\n".join(lines) + "\n"


def why(row: Row) -> str:
    """The derivation tree of one demand."""
    amount = amounts.text(row.demand.amount)
    return "\n".join([f"{row.demand.name} {amount}", *_tree(row.demand.derivation, row, "")]) + "\n"


def _row(row: Row) -> Object:
    demand, supply = row.demand, row.supply
    margin = row.margin
    return {
        "name": demand.name,
        "kind": demand.kind,
        "bound": demand.bound,
        "unit": amounts.unit_name(demand.amount),
        "needed": amounts.json_value(demand.amount),
        "derivation": _derivation(demand.derivation),
        "supplied": _supplied(supply),
        "evidence": None if supply is None else _evidence(supply.evidence),
        "stated": None if supply is None else str(supply.span),
        "margin": None if margin is None else amounts.json_value(Amount(margin)),
        "verdict": row.verdict.value,
    }


def _supplied(supply: Fact | None) -> int | str | None:
    if supply is None or not isinstance(supply.amount, Amount):
        return None
    return amounts.json_value(supply.amount)


def _derivation(node: Derivation) -> Object:
    result: Object = {
        "text": node.text,
        "amount": node.amount,
        "place": None if node.span is None else str(node.span),
    }
    if node.parts:
        result["parts"] = [_derivation(part) for part in node.parts]
    return result


def _evidence(evidence: Evidence) -> Object:
    return {"grade": evidence.grade, "kind": evidence.kind, "source": citation(evidence)}


def _identity(fact: Fact) -> Object:
    return {"name": fact.name, "value": fact.amount, "evidence": _evidence(fact.evidence)}


def _moment(moment: Moment) -> Object:
    return {
        "program": moment.program,
        "region": moment.region,
        "kernel": moment.symbol,
        "live": moment.live,
        "place": None if moment.span is None else str(moment.span),
    }


def _change(change: Change) -> Object:
    return {
        "entry": change.entry,
        "before": change.before,
        "after": change.after,
        "demand": change.demand,
        "needed": amounts.json_value(change.needed),
        "place": None if change.span is None else str(change.span),
    }


def _change_text(change: Change) -> str:
    where = "" if change.span is None else f"   {change.span}"
    needed = amounts.text(change.needed)
    return f"  policy {change.entry} {change.before} -> {change.after}   needs {needed}{where}"


def _met(count: int, total: int) -> str:
    return f"{count} of {total} demands {'is' if count == 1 else 'are'} met"


def _unmet(count: int, total: int) -> str:
    return f"{count} of {total} demands {'is' if count == 1 else 'are'} not met"


def _row_text(row: Row, profile: str) -> Iterable[str]:
    bound = "at least" if row.demand.bound == "AtLeast" else "exactly"
    needed, have = spelled(row)
    short = profile.rpartition(".")[2]
    if row.supply is None:
        found, verdict = f"{short} does not state it", "absent"
    else:
        found, verdict = f"{short} supplies {have}", row.verdict.value
        if row.verdict is Verdict.SHORT:
            verdict = f"short by {amounts.text(shortfall(row))}"
    yield f"  {row.demand.name}   {bound} {needed}   {found}   {verdict}"
    yield from _tree(row.demand.derivation, row, "  ")


def _tree(node: Derivation, row: Row, indent: str) -> Iterable[str]:
    """The parts of a node below each other; a node without parts is its own single line."""
    parts = node.parts or (node,)
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        amount = _amount_text(part.amount, row)
        where = "" if part.span is None else f"   {part.span}"
        yield f"{indent}{'`-' if last else '|-'} {part.text}   {amount}{where}"
        if part.parts:
            yield from _tree(part, row, indent + ("   " if last else "|  "))


def _amount_text(value: int, row: Row) -> str:
    if amounts.unit_name(row.demand.amount) == "bytes":
        return amounts.byte_text(value)
    return f"{value:,}"


def _moment_text(moment: Moment) -> str:
    where = "" if moment.span is None else f"   {moment.span}"
    return f"{moment.program}, launch {moment.region + 1} ({moment.symbol}){where}"


def _evidence_text(evidence: Evidence) -> str:
    return f"{evidence.grade} ({citation(evidence)})"


def _met_text(row: Row) -> str:
    needed, have = spelled(row)
    if row.demand.bound == "Exactly":
        return f"{row.demand.name} = {needed}"
    return f"{row.demand.name} {needed} of {have}"
