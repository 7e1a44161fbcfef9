"""Hooks of the documentation's site: files outside `docs/` that its pages link to become pages of the site."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
SOURCES = "source"
"""The folder of the site that holds the files from outside."""

_LINK = re.compile(r"\]\((?P<path>\.\./[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for every file outside that a page, or a page so added, links to."""
    pending = [
        (PurePosixPath("docs") / file.src_uri, file.content_string)
        for file in files.documentation_pages()
    ]
    known: set[PurePosixPath] = set()
    while pending:
        page, text = pending.pop()
        for match in _LINK.finditer(text):
            target = _target(page, match["path"])
            if target.parts[0] == "docs" or target in known or not (ROOT / target).is_file():
                continue
            known.add(target)
            content = (ROOT / target).read_text("utf-8")
            if target.suffix != ".md":
                content = f"# {target}\n\n```text\n{content}```\n"
            files.append(File.generated(config, _uri(target), content=content))
            pending.append((target, content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links to files outside into links to their pages; a folder's link keeps its text alone."""
    uri = page.file.src_uri
    inside = uri.startswith(f"{SOURCES}/")
    here = PurePosixPath(uri.removeprefix(f"{SOURCES}/") if inside else f"docs/{uri}")
    here = here.with_suffix("") if inside and here.stem.endswith(".alpha") else here

    def moved(match: re.Match[str]) -> str:
        target = _target(here, match["path"])
        anchor = match["anchor"] or ""
        if target.parts[0] == "docs":
            place = PurePosixPath(*target.parts[1:])
        elif files.get_file_from_path(_uri(target)) is not None:
            place = PurePosixPath(_uri(target))
        else:
            return "](#)"
        return f"]({os.path.relpath(place, PurePosixPath(uri).parent)}{anchor})"

    return _LINK.sub(moved, markdown)


def _target(page: PurePosixPath, path: str) -> PurePosixPath:
    """Where a link of a page leads, from the root of the checkout."""
    return PurePosixPath(os.path.normpath(page.parent / path))


def _uri(target: PurePosixPath) -> str:
    """The page of a file from outside."""
    return f"{SOURCES}/{target}" if target.suffix == ".md" else f"{SOURCES}/{target}.md"
