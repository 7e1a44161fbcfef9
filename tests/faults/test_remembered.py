"""A remembered check is used only while everything it depends on is as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

import alpha
from alpha.cli.main import run
from alpha.driver import checking, identity, remembered

SYSTEMS = Path(__file__).parents[2] / "systems"
MAIN = "module Main\n\nimport Part (one)\n\ntwo : f32\ntwo = one + one\n"
PART = "module Part\n\none : f32\none = 1\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two modules, a cache of its own, and a compiler that does not change."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(remembered, "fingerprint", lambda: "this compiler")
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "Main.alpha").write_text(MAIN)
    (folder / "Part.alpha").write_text(PART)
    return folder


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], bool]:
    """Checks a folder, which must be right; whether that took work."""
    done = []
    loaded = checking.load_readable
    monkeypatch.setattr(checking, "load_readable", lambda *given: done.append(1) or loaded(*given))

    def check(folder: Path) -> bool:
        done.clear()
        assert run(["check", str(folder)]) == 0
        return bool(done)

    return check


def system_of(package: Path) -> Path:
    """A system with data, cited and locked, in a package. Returns the data file."""
    pairings = shutil.ignore_patterns("Build")
    shutil.copytree(SYSTEMS / "Digits", package / "Numbers", ignore=pairings)
    for module in (package / "Numbers").glob("*.alpha"):
        module.write_text(module.read_text().replace("Digits", "Numbers"))
    data = package / "Numbers" / "data" / "digits.csv"
    (package / "alpha.lock").write_text(
        f"{sha256(data.read_bytes()).hexdigest()}  Numbers/data/digits.csv\n"
    )
    return data


def entries(package: Path) -> list[Path]:
    return [path for path in (package.parent / "cache" / "alpha").iterdir() if path.is_file()]


Works = Callable[[Path], bool]


def test_the_same_check_takes_no_work_again(package: Path, works: Works) -> None:
    assert [works(package) for _ in range(3)] == [True, False, False]


def test_the_answer_reads_the_same(
    package: Path, works: Works, capsys: pytest.CaptureFixture[str]
) -> None:
    works(package)
    first = capsys.readouterr()
    works(package)
    assert capsys.readouterr() == first
    assert first.err == "checked 2 modules\n"


@pytest.mark.parametrize("module", ["Main", "Part"])
def test_a_changed_module_is_checked_again(package: Path, works: Works, module: str) -> None:
    works(package)
    path = package / f"{module}.alpha"
    path.write_text(path.read_text() + "\nthree : f32\nthree = 3\n")
    assert works(package)
    assert not works(package)


def test_a_module_that_is_imported_from_outside_the_folder_counts(
    package: Path, works: Works
) -> None:
    works(package / "Main.alpha")
    assert not works(package / "Main.alpha")
    (package / "Part.alpha").write_text(PART.replace("one", "many"))
    assert run(["check", str(package / "Main.alpha")]) != 0


def test_a_new_module_is_checked(package: Path, works: Works) -> None:
    works(package)
    (package / "More.alpha").write_text("module More\n\nmore : f32\nmore = 1 + true\n")
    assert run(["check", str(package)]) != 0


def test_a_module_nobody_imports_does_not_count(package: Path, works: Works) -> None:
    works(package / "Main.alpha")
    (package / "More.alpha").write_text("module More\n\nmore : f32\nmore = 1 + true\n")
    assert not works(package / "Main.alpha")


def test_a_module_of_the_same_name_in_another_root_is_noticed(package: Path, works: Works) -> None:
    works(package)
    (package / "systems").mkdir()
    (package / "systems" / "Part.alpha").write_text(PART)
    assert run(["check", str(package)]) != 0


def test_a_module_that_is_gone_is_noticed(package: Path, works: Works) -> None:
    works(package / "Main.alpha")
    (package / "Part.alpha").unlink()
    assert run(["check", str(package / "Main.alpha")]) != 0


def test_a_module_that_moves_to_another_root_is_checked_again(package: Path, works: Works) -> None:
    works(package / "Main.alpha")
    (package / "systems").mkdir()
    (package / "Part.alpha").rename(package / "systems" / "Part.alpha")
    assert works(package / "Main.alpha")


def test_what_a_check_finds_is_told_each_time(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (package / "Main.alpha").write_text(MAIN.replace("one + one", "one + true"))
    assert run(["check", str(package)]) != 0
    first = capsys.readouterr()
    assert run(["check", str(package)]) != 0
    assert capsys.readouterr() == first


def test_a_warning_is_told_each_time(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (package / "Main.alpha").write_text(MAIN.replace("one + one", "2"))
    run(["check", str(package)])
    first = capsys.readouterr()
    run(["check", str(package)])
    assert capsys.readouterr() == first
    assert "warning" in first.err


def test_an_import_may_be_what_a_faulty_name_was_meant_for(
    package: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unused import is told of modules without errors, as other warnings are."""
    (package / "Main.alpha").write_text(MAIN.replace("one + one", "onne + 2"))
    assert run(["check", str(package)]) == 1
    said = capsys.readouterr().err
    assert "E0101" in said and "W0001" not in said
    (package / "Main.alpha").write_text(MAIN.replace("one + one", "2"))
    assert run(["check", str(package)]) == 0
    assert "W0001" in capsys.readouterr().err


@pytest.mark.slow
def test_data_and_its_lock_count(package: Path, works: Works) -> None:
    data = system_of(package)
    works(package)
    assert not works(package)
    lock = package / "alpha.lock"
    locked, content = lock.read_text(), data.read_bytes()
    lock.write_text(locked + "0" * 64 + "  other.csv\n")
    assert works(package)
    lock.unlink()
    assert run(["check", str(package)]) != 0
    lock.write_text(locked)
    works(package)
    data.write_bytes(content + content[: content.index(b"\n") + 1])
    assert run(["check", str(package)]) != 0
    data.unlink()
    assert run(["check", str(package)]) != 0
    data.write_bytes(content)
    assert not works(package)


@pytest.mark.parametrize("damage", [b"", b"0" * 65, b"\xff" * 500])
def test_a_damaged_entry_is_no_answer(package: Path, works: Works, damage: bytes) -> None:
    works(package)
    for entry in entries(package):
        entry.write_bytes(damage)
    assert works(package)
    assert not works(package)


def test_an_entry_that_was_cut_off_is_no_answer(package: Path, works: Works) -> None:
    works(package)
    (entry,) = entries(package)
    entry.write_bytes(entry.read_bytes()[:-1])
    assert works(package)


def test_a_cache_that_cannot_be_written_is_only_slow(package: Path, works: Works) -> None:
    (package.parent / "cache").write_text("not a folder")
    assert [works(package) for _ in range(2)] == [True, True]


def test_another_compiler_checks_again(
    package: Path, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    works(package)
    monkeypatch.setattr(remembered, "fingerprint", lambda: "another compiler")
    assert works(package)


def test_a_compiler_that_is_being_changed_remembers_nothing(
    package: Path, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "fingerprint", lambda: "")
    assert [works(package) for _ in range(2)] == [True, True]


@pytest.mark.slow
def test_checks_at_the_same_time_do_not_disturb_each_other(package: Path) -> None:
    command = [sys.executable, "-m", "alpha", "check", str(package)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[1] for process in both] == ["checked 2 modules\n"] * 3
    assert not [path for path in entries(package) if path.suffix == ".tmp"]


class TestFingerprint:
    @pytest.fixture(autouse=True)
    def compiler(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A compiler of two files that are an hour old, as far as their times can be set."""
        folder = tmp_path / "alpha"
        (folder / "base").mkdir(parents=True)
        for name in ("__init__.py", "base/one.py"):
            (folder / name).write_text("one = 1\n")
        monkeypatch.setattr(alpha, "__file__", str(folder / "__init__.py"))
        monkeypatch.setattr(identity, "_SETTLED_SECONDS", 0.0)
        return folder

    @staticmethod
    def now() -> str:
        identity.fingerprint.cache_clear()
        try:
            return identity.fingerprint()
        finally:
            identity.fingerprint.cache_clear()

    def test_it_stays_and_changes_with_names_and_sizes(self, compiler: Path) -> None:
        first = self.now()
        assert first and self.now() == first
        (compiler / "base" / "two.py").write_text("")
        second = self.now()
        (compiler / "base" / "two.py").write_text("two = 2\n")
        assert len({first, second, self.now()}) == 3

    def test_a_set_time_does_not_hide_a_change(self, compiler: Path) -> None:
        path = compiler / "base" / "one.py"
        before, first = path.stat(), self.now()
        path.write_text("one = 2\n")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_size == before.st_size and self.now() != first

    def test_a_file_that_just_changed_has_none(
        self, compiler: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(identity, "_SETTLED_SECONDS", 60.0)
        assert self.now() == ""

    def test_bytecode_and_the_library_do_not_count(self, compiler: Path) -> None:
        first = self.now()
        for folder in ("__pycache__", "library"):
            (compiler / folder).mkdir()
            (compiler / folder / "one.py").write_text("")
        assert self.now() == first


def test_the_version_of_the_binding_is_the_installed_one() -> None:
    from importlib.metadata import version

    assert identity.llvmlite_version() == version("llvmlite")


def test_a_folder_whose_name_is_no_text_is_checked_and_remembered(
    package: Path, works: Callable[[Path], bool]
) -> None:
    odd = package.with_name(os.fsdecode(b"na\xffme"))
    package.rename(odd)
    assert works(odd)
    assert not works(odd)
    (odd / "Part.alpha").write_text(PART.replace("1", "2"))
    assert works(odd)
