"""An admission as SARIF results: met rows pass, unmet ones fail, the derivation as a code flow."""

from __future__ import annotations

from alpha.admission.admitted import Admission
from alpha.admission.compare import CODES, Row, Verdict
from alpha.admission.errors import leaves, unmet
from alpha.diagnostics.codes import TITLES
from alpha.diagnostics.sarif import Object, fingerprint, location, rule, sarif_log

_MET = "demand"
"""Rule prefix of rows that are met, which have no code of their own."""


def admission_sarif(admission: Admission, subject: str) -> str:
    """A whole SARIF log; rule ids such as `A0301/video-memory-bytes` and fingerprints do not move with the source."""
    results = [_result(row, admission, subject) for row in admission.rows]
    rules = [
        rule(_rule_id(row), f"{TITLES.get(_code(row), 'demand met')}: {row.demand.name}")
        for row in admission.rows
    ]
    return sarif_log(results, rules)


def _code(row: Row) -> str:
    return CODES.get(row.verdict, _MET)


def _rule_id(row: Row) -> str:
    return f"{_code(row)}/{row.demand.name}"


def _result(row: Row, admission: Admission, subject: str) -> Object:
    met = row.verdict is Verdict.MET
    text = f"{row.demand.name} is met" if met else unmet(row, admission.profile, 0).message
    placed = [leaf for leaf in leaves(row.demand.derivation) if leaf.span is not None]
    result: Object = {
        "ruleId": _rule_id(row),
        "kind": "pass" if met else "fail",
        "level": "none" if met else "error",
        "message": {"text": text},
        "partialFingerprints": fingerprint(row.demand.name, subject, admission.profile.name),
    }
    flow = [{"location": location(leaf.span, leaf.text)} for leaf in placed if leaf.span]
    if flow:
        result["locations"] = [flow[0]["location"]]
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    return result
