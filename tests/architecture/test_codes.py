"""Every diagnostic code is listed, explained, and specified, and every page belongs to a code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import alpha
from alpha.diagnostics.codes import STATUS, TITLES, status_of
from alpha.diagnostics.pages import codes_with_pages, load_page

PACKAGE = Path(alpha.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
_CODE = re.compile(r"[\"']([EWPATR]\d{4})[\"']")


def raised() -> dict[str, str]:
    """Each code that stands as a text in the compiler's source, with the first file that holds it."""
    found: dict[str, str] = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.rt")]):
        if path.name != "codes.py":
            for code in _CODE.findall(path.read_text("utf-8")):
                found.setdefault(code, path.relative_to(PACKAGE).as_posix())
    return found


@pytest.mark.parametrize("code", sorted(raised()))
def test_raised_code_is_listed_and_has_a_page(code: str) -> None:
    assert code in TITLES, f"{raised()[code]} raises a code that is not in the list"
    assert load_page(code) is not None, f"{raised()[code]} raises {code}, which has no page"


@pytest.mark.parametrize("code", codes_with_pages())
def test_page_is_for_a_listed_code(code: str) -> None:
    assert code in TITLES
    page = load_page(code)
    assert page is not None
    assert page.title, "a page has a title"
    assert not re.search(r"\n## (?!Refused$|Accepted$)", page.text, re.MULTILINE)


def test_the_first_letter_decides_the_exit_status() -> None:
    assert {code[0] for code in TITLES} == set(STATUS)
    assert [status_of(code) for code in ("E0412", "P0001", "A0301", "T0402", "R0507", "W0001")] == [
        1, 1, 3, 4, 5, 0,
    ]  # fmt: skip


def test_the_documented_list_of_codes_is_current() -> None:
    from generated_docs import diagnostics_page

    written = (ROOT / "docs" / "diagnostics.md").read_text("utf-8")
    assert written == diagnostics_page(), "run `make docs`"


WITHOUT_A_TRIGGER = {
    "E0416": "an equation of two sizes with one unknown name never contains it",
    **dict.fromkeys(
        ("E0801", "E0802", "E0803", "E0804", "E0805", "E0806", "E0807"), "hosts are not built"
    ),
    "A0303": "evidence from a checked model is not built",
    "A0306": "every host that is built yields a program",
    "R0508": "no device is built for",
}
"""Codes of the specification that nothing can be written for today."""


def shown() -> set[str]:
    """The codes whose message stands on a spec page, in a diagnostic as text."""
    found: set[str] = set()
    for page in (ROOT / "tests/spec").rglob("*.md"):
        text = page.read_text("utf-8")
        found |= set(re.findall(r"^(?:error|warning)\[([A-Z]\d{4})\]", text, re.MULTILINE))
    return found


def test_every_code_has_a_message_on_a_spec_page() -> None:
    missing = set(TITLES) - shown() - set(WITHOUT_A_TRIGGER)
    assert {code for code in missing if code[0] != "R"} == set()
    for code in missing:  # those of runs are provoked where programs run
        tests = (path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py"))
        assert any(code in text for text in tests), f"nothing provokes {code}"


def test_no_code_without_a_trigger_is_shown() -> None:
    assert not set(WITHOUT_A_TRIGGER) & shown()


def test_links_of_the_documentation_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for link in re.findall(r"\]\(([\w./-]+/|[\w./-]+\.\w+)\)", page.read_text("utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_required_tool_is_installed_by_ci() -> None:
    wanted = set()
    for path in (ROOT / "tests").rglob("*.py"):
        wanted |= set(re.findall(r"require_tool\(\"([^\"]+)\"\)", path.read_text("utf-8")))
    installed = set(
        re.findall(r"^  \[([^\]]+)\]=", (ROOT / ".ci/run").read_text("utf-8"), re.MULTILINE)
    )
    assert wanted <= installed
