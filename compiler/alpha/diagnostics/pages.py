"""Explanation pages: what a code means, a program that is refused with it, and one that is accepted.

A page is `pages/<CODE>.md`: `# CODE: title`, the cause in prose, `## Refused`, `## Accepted`. An `alpha` block in
them is a whole module and is run by the tests.
"""

from __future__ import annotations

import re
from pathlib import Path

from alpha.base.record import record

_FENCE = re.compile(r"^```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@record
class Page:
    """`refused` and `accepted` are the `alpha` blocks of those sections, in order; empty where prose stands instead."""

    code: str
    title: str
    text: str
    refused: tuple[str, ...]
    accepted: tuple[str, ...]


class PageError(ValueError):
    """A page that departs from the form. Shown by the tests only."""


def codes_with_pages() -> list[str]:
    """The codes that have a page, sorted."""
    folder = Path(__file__).with_name("pages")
    if not folder.is_dir():
        return []
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".md") for name in names if name.endswith(".md"))


def load_page(code: str) -> Page | None:
    """The page of a code, or None if it has none."""
    entry = Path(__file__).with_name("pages") / f"{code}.md"
    if not entry.is_file():
        return None
    return parse_page(code, entry.read_text("utf-8"))


def parse_page(code: str, text: str) -> Page:
    head = re.match(r"# (?P<code>[A-Z]\d{4}): (?P<title>[^\n]+)\n", text)
    if head is None or head["code"] != code:
        raise PageError(f"{code}.md does not begin with `# {code}: title`")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)
    bodies = {section.split("\n", 1)[0].strip(): section for section in sections[1:]}
    for name in ("Refused", "Accepted"):
        if name not in bodies:
            raise PageError(f"{code}.md has no section `## {name}`")
    refused, accepted = (
        tuple(m["text"] for m in _FENCE.finditer(bodies[name]) if m["kind"] == "alpha")
        for name in ("Refused", "Accepted")
    )
    return Page(code, head["title"].strip(), text, refused, accepted)
