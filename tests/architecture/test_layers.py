"""The code keeps to the architecture: who may import what, how long a module is, and what a file may say."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from compiler_source import PACKAGE, modules, nodes

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 400


@cache
def imported(path: Path) -> tuple[str, ...]:
    """Every module that a file imports, wherever in the file."""
    found: list[str] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
    return tuple(found)


def shown(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.slow
def test_only_the_worker_process_imports_llvmlite() -> None:
    users = {
        shown(path)
        for path in modules()
        if any(name.partition(".")[0] == "llvmlite" for name in imported(path))
    }
    assert users <= {"codegen/worker_main.py"}


def test_base_imports_nothing_of_alpha_but_itself() -> None:
    for path in sorted((PACKAGE / "base").glob("*.py")):
        for name in imported(path):
            assert not name.startswith("alpha.") or name.startswith("alpha.base"), shown(path)


def test_imports_are_static() -> None:
    """A dynamic import would pass the layer contracts by. The worker is started as a process of its own."""
    for path in modules():
        for node in nodes(path):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                assert name not in {"__import__", "import_module"}, shown(path)


def test_the_compiler_knows_no_oracle_and_no_oracle_knows_the_compiler() -> None:
    for path in modules():
        assert not any(
            name.partition(".")[0] in {"reference", "semantics"} for name in imported(path)
        )
    for path in (ROOT / "reference").rglob("*.py"):
        assert not any(name.partition(".")[0] == "alpha" for name in imported(path)), path


def test_platforms_and_systems_hold_no_python_but_scripts_beside_data() -> None:
    for folder in ("platforms", "systems"):
        for path in (ROOT / folder).rglob("*.py"):
            assert path.name == "make.py" and path.parent.name == "data", path


@pytest.mark.parametrize("path", modules(), ids=shown)
def test_module_is_short(path: Path) -> None:
    length = len(path.read_text("utf-8").splitlines())
    assert length <= LONGEST or shown(path) in {"syntax/tree.py", "core/term.py"}, (
        f"{length} lines: a long file is a design question"
    )


def test_no_module_is_named_for_nothing() -> None:
    for path in modules():
        assert path.stem not in {"utils", "util", "helpers", "helper", "common", "misc", "manager"}


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def test_files_name_no_folder_of_a_developer() -> None:
    """Texts that are shown or shipped must make sense on every machine."""
    machine = re.compile(r"(?<![\w.])/(?:home|root|Users|work)/|/tmp/[a-z]")
    for path in tracked():
        if path.suffix in {".py", ".md", ".toml", ".alpha", ".rt", ".lark"} and path != Path(
            __file__
        ):
            found = machine.search(path.read_text("utf-8"))
            assert found is None, f"{path.relative_to(ROOT)}: {found}"


def test_nothing_is_left_for_later_in_a_comment() -> None:
    """What is missing is a diagnostic or an entry of the status section, where users see it."""
    notes = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
    for path in tracked():
        if path.suffix in {".py", ".md", ".toml", ".alpha", ".rt"} and path != Path(__file__):
            assert notes.search(path.read_text("utf-8")) is None, path.relative_to(ROOT)


def test_a_short_command_imports_no_heavy_module() -> None:
    """The import budget: `alpha --help` and `alpha explain` must not pay for numbers, checking or code."""
    program = (
        "import sys; from alpha.cli.main import run; run(['explain', 'E0412']);"
        "heavy = {'numpy', 'pydantic', 'llvmlite', 'lark', 'alpha.check', 'alpha.evaluate'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
