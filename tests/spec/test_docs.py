"""What README.md and docs/ show works as it is printed there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from alpha.syntax.format import format_module
from alpha.syntax.parse import parse_module
from alpha.syntax.source import read_source
from spec.pages import fits, run_section, sections

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/own-system.md", "docs/tutorial.md", "docs/language.md"]
SHELL = ["README.md", "docs/first-steps.md", "docs/tutorial.md"]
SETUP = ("make ", "source ")
"""How commands of a checkout begin; what they set up, a test has."""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_system_of_a_page_is_built_as_shown(page: str, tmp_path: Path) -> None:
    for number, section in enumerate(sections((ROOT / page).read_text("utf-8"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        for block, found in run_section(section, folder):
            assert fits(block.text, found), found


@pytest.mark.parametrize("page", PAGES)
def test_modules_of_a_page_are_in_the_one_style(page: str) -> None:
    for section in sections((ROOT / page).read_text("utf-8")):
        for name, text in section.modules:
            assert format_module(parse_module(read_source(text.encode(), name))) == text


@pytest.mark.slow
def test_commands_of_the_first_pages_work_one_after_the_other(tmp_path: Path) -> None:
    """In a folder with the systems of a checkout, in the order in which a reader meets them."""
    checkout = tmp_path / "alpha"
    checkout.mkdir()
    for name in ("systems", "platforms"):
        (checkout / name).symlink_to(ROOT / name)
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for page in SHELL:
        blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / page).read_text("utf-8"), re.M | re.S)
        script = "".join(
            line
            for block in blocks
            for line in block.splitlines(True)
            if not line.startswith(SETUP)
        )
        assert "alpha build" in script or "alpha run" in script
        ended = subprocess.run(
            ["bash", "-e", "-c", script],
            cwd=checkout, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert ended.returncode == 0, f"{page}: {ended.stderr}"
