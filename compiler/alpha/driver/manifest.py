"""The manifest of an artifact: what it was made from, as CycloneDX 1.6 (ECMA-424) in JSON.

Every input is a component with its SHA-256; facts of the build are properties named `alpha:...`. The embedded manifest
is this text without the digest of the executable, which cannot hold its own. No clock, serial number, path of the
build machine or locale takes part, so equal inputs give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from alpha import __version__
from alpha.base.record import record

Object = dict[str, object]

DIRECT_BY_DEFAULT = (
    "the scheduled lane of this target does not exist yet, so the direct lane was used"
)


@record
class Input:
    """A file that takes part. `kind` is `module`, `data`, `lock`, `record`, `profile` or `library`."""

    kind: str
    path: str
    digest: str


@record
class Contents:
    """What the manifest states. `properties` are (name, text) pairs, `tools` (name, version) pairs."""

    name: str
    version: str
    inputs: tuple[Input, ...]
    properties: tuple[tuple[str, str], ...]
    tools: tuple[tuple[str, str], ...]


def embedded(contents: Contents) -> bytes:
    """The manifest that the executable carries: one line, UTF-8."""
    text = json.dumps(_document(contents, None), ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"


def beside(contents: Contents, executable: str) -> bytes:
    """The bytes of `NAME.manifest.json`; `executable` is the SHA-256 of the whole file."""
    return (
        json.dumps(_document(contents, executable), ensure_ascii=False, indent=2).encode() + b"\n"
    )


def stated_digests(document: object) -> tuple[str, dict[tuple[str, str], str]] | None:
    """The digest of the executable and of each input by (kind, path), read back from `NAME.manifest.json`.

    None for anything that is not such a manifest.
    """
    try:
        assert isinstance(document, dict)
        executable = _hash(document["metadata"]["component"])
        inputs = {
            (_kind(entry), str(entry["name"])): _hash(entry) for entry in document["components"]
        }
    except (AssertionError, KeyError, TypeError, IndexError):
        return None
    return executable, inputs


def _document(contents: Contents, executable: str | None) -> Object:
    component: Object = {"type": "application", "name": contents.name, "version": contents.version}
    if executable is not None:
        component["hashes"] = _hashes(executable)
    tools = [("alpha", __version__), *contents.tools]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {
                "components": [
                    {"type": "application", "name": name, "version": version}
                    for name, version in tools
                ]
            },
            "component": component,
            "properties": _properties(contents.properties),
        },
        "components": [_component(entry) for entry in contents.inputs],
    }


def _component(entry: Input) -> Object:
    return {
        "type": "data" if entry.kind == "data" else "file",
        "name": entry.path,
        "hashes": _hashes(entry.digest),
        "properties": _properties([("alpha:kind", entry.kind)]),
    }


def _hashes(digest: str) -> list[Object]:
    return [{"alg": "SHA-256", "content": digest}]


def _properties(pairs: Sequence[tuple[str, str]]) -> list[Object]:
    return [{"name": name, "value": value} for name, value in pairs]


def _hash(component: dict[str, list[dict[str, str]]]) -> str:
    return component["hashes"][0]["content"]


def _kind(component: dict[str, list[dict[str, str]]]) -> str:
    return component["properties"][0]["value"]
