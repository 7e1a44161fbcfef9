"""Write `corpus.txt` from the words of this project itself.

    python make.py

The parts, each in the order of its paths: the documentation; the explanation of every diagnostic; the pages of the
tests; the modules of the library, the platforms and the systems; and the docstrings of the compiler and the reference.
Nothing in it was written elsewhere. The text changes with the project, so it was written once and its digest stands in
`systems/alpha.lock`: nothing runs this file again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]

WHOLE = (
    "README.md",
    "docs/**/*.md",
    "compiler/alpha/diagnostics/pages/*.md",
    "tests/spec/**/*.md",
    "compiler/alpha/library/**/*.alpha",
    "platforms/**/*.alpha",
    "systems/**/*.alpha",
)
"""Files that are taken as they are."""

DOCUMENTED = ("compiler/alpha/**/*.py", "reference/**/*.py")
"""Files whose docstrings are taken."""


def paths(*patterns: str) -> Iterator[Path]:
    """The files of each pattern in turn, those of one pattern in the order of their paths."""
    for pattern in patterns:
        yield from sorted(ROOT.glob(pattern), key=lambda path: path.relative_to(ROOT).as_posix())


def docstrings(text: str) -> Iterator[str]:
    """The docstrings of a module and of what it defines, in the order of their lines."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, documented)]
    for node in sorted(found, key=lambda node: getattr(node, "lineno", 0)):
        words = ast.get_docstring(node)
        if words:
            yield words


def main() -> None:
    parts = [path.read_text("utf-8").strip() for path in paths(*WHOLE)]
    for path in paths(*DOCUMENTED):
        parts.extend(docstrings(path.read_text("utf-8")))
    target = Path(__file__).with_name("corpus.txt")
    target.write_text("\n\n".join(parts) + "\n", encoding="utf-8", newline="\n")
    print(f"{target.name}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
