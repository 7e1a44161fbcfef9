"""SARIF output has the form of the standard: OASIS SARIF 2.1.0, sections 3.13 to 3.57.

`FORM` says of each object that Alpha writes which properties the standard requires, and which others it knows.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity
from alpha.diagnostics.pages import codes_with_pages, load_page
from alpha.diagnostics.sarif import sarif
from spec.pages import explained

FORM: dict[str, tuple[set[str], set[str]]] = {
    "log": ({"version", "runs"}, {"$schema"}),
    "run": ({"tool"}, {"results", "columnKind"}),
    "tool": ({"driver"}, set()),
    "driver": ({"name"}, {"semanticVersion", "version", "informationUri", "rules"}),
    "rule": ({"id"}, {"name", "shortDescription", "fullDescription", "help", "helpUri"}),
    "result": (
        {"message"},
        {
            "ruleId",
            "level",
            "locations",
            "relatedLocations",
            "fixes",
            "partialFingerprints",
            "kind",
        },
    ),
    "location": (set(), {"id", "physicalLocation", "message"}),
    "place": (set(), {"artifactLocation", "region"}),
    "artifact": (set(), {"uri", "uriBaseId"}),
    "region": (set(), {"startLine", "startColumn", "endLine", "endColumn"}),
    "fix": ({"artifactChanges"}, {"description"}),
    "change": ({"artifactLocation", "replacements"}, set()),
    "replacement": ({"deletedRegion"}, {"insertedContent"}),
    "content": ({"text"}, set()),
    "message": (set(), {"text", "markdown", "id"}),
}
INSIDE = {
    ("log", "runs"): "run",
    ("run", "tool"): "tool",
    ("tool", "driver"): "driver",
    ("driver", "rules"): "rule",
    ("rule", "shortDescription"): "message",
    ("rule", "help"): "message",
    ("run", "results"): "result",
    ("result", "message"): "message",
    ("result", "locations"): "location",
    ("result", "relatedLocations"): "location",
    ("result", "fixes"): "fix",
    ("location", "physicalLocation"): "place",
    ("location", "message"): "message",
    ("place", "artifactLocation"): "artifact",
    ("place", "region"): "region",
    ("fix", "description"): "message",
    ("fix", "artifactChanges"): "change",
    ("change", "artifactLocation"): "artifact",
    ("change", "replacements"): "replacement",
    ("replacement", "deletedRegion"): "region",
    ("replacement", "insertedContent"): "content",
}


def require_form(kind: str, value: Any) -> None:
    """`value` and all in it has what the standard requires and nothing that it does not know."""
    required, known = FORM[kind]
    assert required <= value.keys() <= required | known, (kind, value.keys())
    for key, part in value.items():
        inner = INSIDE.get((kind, key))
        for each in part if isinstance(part, list) else [part]:
            if inner is not None:
                require_form(inner, each)
    if kind == "region":
        start, end = ((value[f"{side}Line"], value[f"{side}Column"]) for side in ("start", "end"))
        assert min(*start, *end) >= 1 and start <= end
    elif kind == "message":
        assert value.get("text")
    elif kind == "artifact":
        assert " " not in value["uri"] and "\\" not in value["uri"]


def require_log(text: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(text)
    require_form("log", log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert {result["ruleId"] for result in run["results"]} == set(rules)
    assert {result["level"] for result in run["results"]} <= {"error", "warning"}
    return log


@pytest.mark.parametrize(
    "code", [code for code in codes_with_pages() if (page := load_page(code)) and page.refused]
)
def test_every_message_is_a_valid_log(code: str) -> None:
    log = require_log(sarif(explained(code)))
    assert code in {result["ruleId"] for result in log["runs"][0]["results"]}


def test_no_message_and_one_without_a_place_are_valid_logs() -> None:
    assert require_log(sarif([]))["runs"][0]["results"] == []
    log = require_log(sarif([Diagnostic("R0507", "cannot write `x`")]))
    assert "locations" not in log["runs"][0]["results"][0]


def test_edits_and_second_places_are_kept() -> None:
    source = Source("Main.alpha", "module Main\n\none = tow\n")
    place = Span(source, 19, 22)
    item = Diagnostic(
        "E0101", "m", place, (Label(place, "l"),), "c", ("h",), (Fix("t", place, "two"),),
        Severity.WARNING,
    )  # fmt: skip
    (result,) = require_log(sarif([item]))["runs"][0]["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "two"}
    assert result["relatedLocations"][0]["message"] == {"text": "l"}
    assert result["message"]["text"] == "m\nc\nh"
