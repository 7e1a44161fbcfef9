"""Diagnostics as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), for code hosts and editors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from alpha import __version__
from alpha.base.digest import sha256_text
from alpha.base.span import Span
from alpha.diagnostics.codes import TITLES
from alpha.diagnostics.diagnostic import Diagnostic, Fix
from alpha.diagnostics.render import ordered

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Object = dict[str, object]


def sarif_log(results: Sequence[Object], rules: Sequence[Object]) -> str:
    """A whole log with one run, as text with a final newline."""
    driver: Object = {"name": "alpha", "semanticVersion": __version__, "rules": list(rules)}
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": list(results),
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def sarif(diagnostics: Iterable[Diagnostic]) -> str:
    items = ordered(diagnostics)
    codes = sorted({item.code for item in items})
    return sarif_log([_result(item) for item in items], [rule(code) for code in codes])


def rule(code: str, title: str | None = None) -> Object:
    name = TITLES.get(code, code) if title is None else title
    return {
        "id": code,
        "shortDescription": {"text": name},
        "help": {"text": f"alpha explain {code.split('/', maxsplit=1)[0]}"},
    }


def location(span: Span, text: str | None = None) -> Object:
    source = span.source
    line, column = source.position(span.start)
    end_line, end_column = source.position(max(span.start, span.end))
    region = {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    }
    result: Object = {
        "physicalLocation": {"artifactLocation": {"uri": source.path}, "region": region}
    }
    if text is not None:
        result["message"] = {"text": text}
    return result


def fingerprint(*parts: str) -> Object:
    """Stable across line moves: it holds the code, the file and the words, never a line number."""
    return {"alpha/v1": sha256_text("\0".join(parts))}


def _result(item: Diagnostic) -> Object:
    words = [item.message, item.cause, *item.hints]
    result: Object = {
        "ruleId": item.code,
        "level": item.severity.value,
        "message": {"text": "\n".join(word for word in words if word)},
    }
    file, text = "", ""
    if item.span is not None:
        file, text = item.span.source.path, item.span.text
        result["locations"] = [location(item.span)]
    result["partialFingerprints"] = fingerprint(item.code, file, text, item.message)
    if item.labels:
        result["relatedLocations"] = [
            {"id": number, **location(label.span, label.text)}
            for number, label in enumerate(item.labels, start=1)
        ]
    if item.fixes:
        result["fixes"] = [_fix(fix) for fix in item.fixes]
    return result


def _fix(fix: Fix) -> Object:
    where = location(fix.span)["physicalLocation"]
    assert isinstance(where, dict)
    change = {
        "artifactLocation": where["artifactLocation"],
        "replacements": [
            {"deletedRegion": where["region"], "insertedContent": {"text": fix.replacement}}
        ],
    }
    return {"description": {"text": fix.title}, "artifactChanges": [change]}
