"""Runs every page below tests/spec and every explanation page of a diagnostic."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from alpha.diagnostics.pages import codes_with_pages, load_page
from alpha.diagnostics.render import render_all
from spec.pages import Section, blessed, check_modules, fits, run_all_tests, run_section, sections

HERE = Path(__file__).parent
SLOW = {"admission", "build-refused", "check", "loops", "prove", "run", "nvidia", "test", "view"}
"""Pages that build, or run many commands."""
PAGES = [
    pytest.param(page, marks=[pytest.mark.slow] if page.stem in SLOW else [])
    for page in sorted(HERE.rglob("*.md"))
]


def named(page: Path) -> str:
    return page.relative_to(HERE).with_suffix("").as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_page_holds(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text("utf-8")
    changes = []
    for number, section in enumerate(sections(text)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for block, found in run_section(section, folder):
            if not fits(block.text, found):
                changes.append((block, found))
    if changes and request.config.getoption("--bless"):
        page.write_text(blessed(text, changes), "utf-8")
        return
    for block, found in changes:
        assert found.splitlines() == block.text.splitlines()


@pytest.mark.parametrize("code", codes_with_pages())
def test_explanation_page_holds(code: str, tmp_path: Path) -> None:
    page = load_page(code)
    assert page is not None
    for number, text in enumerate(page.refused):
        found = codes_of(text, tmp_path / f"refused{number}")
        assert code in found[0], f"the refused example is not refused\n{found[1]}"
        assert {c for c in found[0] if c[0] != "W" or code[0] == "W"} == {code}, found[1]
    for number, text in enumerate(page.accepted):
        found = codes_of(text, tmp_path / f"accepted{number}")
        assert code not in found[0], found[1]
        assert not {c for c in found[0] if c[0] != "W"}, found[1]


def codes_of(text: str, folder: Path) -> tuple[set[str], str]:
    folder.mkdir()
    from spec.pages import Block

    Section("", [Block("alpha", "", text, 0, 0)]).write_files(folder)
    diagnostics = check_modules(folder)
    if not diagnostics.errors and re.search(r"^test ", text, re.MULTILINE):
        diagnostics = run_all_tests(folder)
    return {item.code for item in diagnostics.items}, render_all(diagnostics.items)
