"""The wheel holds everything: installed elsewhere, without the checkout, it builds and trains Digits."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from requirements import require_module

ROOT = Path(__file__).resolve().parents[2]
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as pip does it: by an interpreter that has the requirements by its environment alone."""
    require_module("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    ended = subprocess.run(
        [
            Path(sys.base_prefix, "bin", VERSION),
            "-m",
            "hatchling",
            "build",
            "-t",
            "wheel",
            "-d",
            folder,
        ],
        cwd=ROOT,
        env=dict(os.environ, PYTHONPATH=sysconfig.get_path("purelib")),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_library_the_systems_and_their_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for name in (
        "alpha/py.typed",
        "alpha/library/Alpha/Prelude.alpha",
        "alpha/diagnostics/pages/T0402.md",
        "alpha/driver/templates/mlp/systems/Starter/data/spirals.csv",
        "alpha/syntax/tables.json",
        "alpha/shipped/systems/alpha.lock",
        "alpha/shipped/systems/Digits/data/digits.csv",
        "alpha/shipped/systems/Olimpia/Model.alpha",
        "alpha/shipped/platforms/Platform/Linux/X8664.alpha",
    ):
        assert name in names
    assert not any(name.startswith(("reference/", "tests/", "semantics/")) for name in names)


@pytest.mark.slow
def test_the_wheel_asks_for_what_the_compiler_imports_and_nothing_else() -> None:
    """`numpy` is for those who ask a system for its rows, as the tests do; a build does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {re.split(r"[<>=]", line)[0] for line in project["dependencies"]}
    imported = set()
    for file in (ROOT / "compiler" / "alpha").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    assert imported - set(sys.stdlib_module_names) - {"alpha"} == asked | {"numpy"}


@pytest.mark.slow
def test_the_wheel_builds_and_trains_digits_elsewhere(wheel: Path, tmp_path: Path) -> None:
    place = tmp_path / "environment"
    venv.EnvBuilder(with_pip=False).create(place)
    python = place / "bin" / "python"
    packages = place / "lib" / VERSION / "site-packages"
    zipfile.ZipFile(wheel).extractall(packages)
    # The dependencies come from this environment; its own path files, the checkout's among them, are not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def alpha(*arguments: str) -> str:
        ended = subprocess.run(
            [python, "-m", "alpha", *arguments],
            cwd=tmp_path,
            env=dict(environment, PATH=str(place / "bin"), XDG_CACHE_HOME=str(tmp_path / "cache")),
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    alpha("build", "Digits")
    # the wheel brought the runtime's object: only the kernels and the tables were made
    assert len(list((tmp_path / "cache" / "alpha").iterdir())) == 3
    ended = subprocess.run(
        [tmp_path / "build" / "digits", "train", "--steps", "10", "--checkpoint", "run"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "run" / "step-00000010.safetensors").is_file()
