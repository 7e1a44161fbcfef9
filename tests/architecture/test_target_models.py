"""The models of devices know nothing of the compiler, so that neither can repeat the other's mistake."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT / "reference" / "target-models"
LONGEST = 400


def sources() -> list[Path]:
    return sorted(MODELS.rglob("*.py"))


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            found.add(node.module or "")
        elif isinstance(node, ast.Name):
            assert node.id not in {"__import__", "import_module"}, path.name
    return {name.partition(".")[0] for name in found}


def test_there_are_models() -> None:
    assert MODELS / "checked" / "sm86" / "machine.py" in sources()


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(MODELS).as_posix())
def test_a_model_imports_numpy_the_standard_library_and_itself(path: Path) -> None:
    assert imports(path) <= {"checked", "numpy", *sys.stdlib_module_names}
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST
