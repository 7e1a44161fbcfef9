"""The generated pages of docs/ are those of today's tables, they leave nothing out, and the site builds from them."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from alpha.check.operations import FORMS, ORDINARY, SPECIAL
from generated_docs import DOCS, pages
from generated_reference import OPERATIONS, library_page

ROOT = Path(__file__).resolve().parents[2]
OF_PLATFORMS = {
    "x8664Demands",
    "aarch64Demands",
    "nvidiaPlanDemands",
    "nvidiaHostDemands",
    "requests",
}
NOT_YET = {"conv2d", "maxPool", "meanPool"}
KEYWORD = {"model"}
"""`model NAME` is a citation whose name no signature can have."""


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_generated_page_is_current(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == pages()[name], "make docs"


def test_every_operation_on_tensors_is_in_the_reference() -> None:
    shown = {
        written.split()[0].partition("[")[0] for rows in OPERATIONS.values() for written, *_ in rows
    }
    listed = library_page()
    for name in (set(SPECIAL) | set(FORMS) | set(ORDINARY)) - OF_PLATFORMS - NOT_YET - KEYWORD:
        assert name in shown or f"{name} :" in listed, name


@pytest.mark.slow
def test_the_site_builds_without_a_broken_link(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    config = load_config(str(ROOT / "mkdocs.yml"), site_dir=str(tmp_path))
    with caplog.at_level(logging.WARNING, logger="mkdocs"):
        build(config)
    assert not [record.getMessage() for record in caplog.records]
    assert (tmp_path / "operations.html").is_file()
