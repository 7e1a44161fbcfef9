"""A check after edits says what a check from nothing says, and does only what the edits call for."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.dtype import Dtype
from alpha.check import interfaces, program
from alpha.cli.main import run
from alpha.driver import remembered, units
from bench.synthetic import imports_of, name_of, write, write_module

COUNT = 9


@contextlib.contextmanager
def small_packages() -> Iterator[None]:
    """A compiler that does not change, and for which few modules are many."""
    with (
        patch.object(remembered, "fingerprint", lambda: "this compiler"),
        patch.object(units, "fingerprint", lambda: "this compiler"),
        patch.object(units, "WORTH_IT", 2),
    ):
        yield


def answer(folder: Path, cache: Path) -> tuple[int, str]:
    said = io.StringIO()
    with (
        patch.dict(os.environ, {"XDG_CACHE_HOME": str(cache)}),
        contextlib.redirect_stderr(said),
        contextlib.redirect_stdout(said),
    ):
        status = run(["check", str(folder)])
    return status, said.getvalue()


@contextlib.contextmanager
def checked_modules() -> Iterator[list[str]]:
    """The names of the modules whose types are checked, but for those of the library."""
    seen: list[str] = []
    real = program.check_module

    def recording(loaded, registry, diagnostics):  # type: ignore[no-untyped-def]
        if not loaded.name.startswith("Alpha."):
            seen.append(loaded.name)
        return real(loaded, registry, diagnostics)

    with patch.object(program, "check_module", recording):
        yield seen


def edit(folder: Path, kind: str, number: int) -> None:
    """One edit; most leave the package right, some do not."""
    if kind in ("body", "type", ""):
        write_module(folder, number, change=kind)
        return
    if kind == "new":
        (folder / "More.alpha").write_text(
            f"module More\n\nmore{number} : Int\nmore{number} = {number}\n"
        )
        return
    if kind == "gone":
        (folder / "More.alpha").unlink(missing_ok=True)
        return
    place = write_module(folder, number)
    text = place.read_text("utf-8")
    match kind:
        case "false":
            text = text.replace(">= ", "< ")
        case "fault":
            text = text.replace("shape.width * shape.height", 'shape.width * "high"')
        case "unread":
            text = text.replace(f"area{number} : ", f"area{number} : (")
        case "shifted":
            text = text.replace("\n\n", "\n\n-- a comment\n\n", 1)
        case "unused":
            text = text.replace("\n\n", "\n\nimport Alpha.Optim (momentum)\n\n", 1)
        case "field":
            text = text.replace("height", "depth")
        case "value":
            text = text.replace("-> size\n", "-> size + 1\n")
        case "unsigned":
            text += f"\nunsigned{number} x = total{number} x\n"
        case "unsigned fault":
            text += f"\nunsigned{number} x = total{number} x + unknown\n"
        case "hidden":
            text = text.replace(
                "\n\n", f"\n\nimport {name_of(max(0, number - 1))} (nothing)\n\n", 1
            )
        case "missing":
            text = text.replace("\n\n", "\n\nimport Large.Nowhere (nothing)\n\n", 1)
        case "misused":  # the diagnostic shows the signature, in the module that is imported
            for before in imports_of(number):
                text += f"\nwrong{before} : Int\nwrong{before} = area{before} True\n"
        case "renamed":  # what others import is gone
            text = text.replace(f"area{number}", f"surface{number}")
        case "bare":
            text = text.replace(f"total{number} : Int -> Int\n", "")
        case "deep":  # fails where it is evaluated, from here and from what imports it
            text = text.replace(f"{number}, count] % 97", f"{number}, count] % 0")
    place.write_text(text, "utf-8")


KINDS = [
    "body",
    "type",
    "",
    "new",
    "gone",
    "false",
    "fault",
    "unread",
    "shifted",
    "unused",
    "field",
    "value",
    "unsigned",
    "unsigned fault",
    "hidden",
    "missing",
    "misused",
    "renamed",
    "bare",
    "deep",
]
EDITS = st.lists(
    st.tuples(st.sampled_from(KINDS), st.integers(0, COUNT - 1)), min_size=1, max_size=4
)


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(EDITS)
def test_a_check_after_edits_says_what_one_from_nothing_says(edits: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name, small_packages():
        folder = Path(name) / "package"
        folder.mkdir()
        write(folder, COUNT)
        assert answer(folder, Path(name) / "kept")[0] == 0
        for turn, (kind, number) in enumerate(edits):
            edit(folder, kind, number)
            warm = answer(folder, Path(name) / "kept")
            assert warm == answer(folder, Path(name) / f"empty{turn}")


def test_only_what_an_edit_can_change_is_checked_again(tmp_path: Path) -> None:
    folder, cache = tmp_path / "package", tmp_path / "cache"
    folder.mkdir()
    write(folder, COUNT)
    with small_packages(), checked_modules() as seen:
        assert answer(folder, cache)[0] == 0
        assert sorted(seen) == sorted(name_of(number) for number in range(COUNT))
        for kind in ("body", "shifted", "value"):
            seen.clear()
            edit(folder, kind, 4)
            assert answer(folder, cache)[0] == 0
            assert seen == [name_of(4)]
        seen.clear()
        edit(
            folder, "unsigned", 4
        )  # the interface is another; the types that go on to others are the same
        assert answer(folder, cache)[0] == 0
        assert name_of(4) in seen
        assert set(seen) <= {name_of(k) for k in range(COUNT) if k == 4 or 4 in imports_of(k)}
        seen.clear()
        write_module(folder, 4, change="")
        edit(folder, "field", 4)  # the type that others import has another field now
        answer(folder, cache)
        importing = {name_of(k) for k in range(COUNT) if 4 in imports_of(k)}
        assert importing <= set(seen)
        assert not {name_of(k) for k in range(4)} & set(seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["false", "fault", "unused", "unsigned", "hidden", "misused", "deep"]
)
def test_what_is_wrong_is_said_without_checking_the_rest(kind: str, tmp_path: Path) -> None:
    folder, cache = tmp_path / "package", tmp_path / "cache"
    folder.mkdir()
    write(folder, COUNT)
    with small_packages(), checked_modules() as seen:
        assert answer(folder, cache)[0] == 0
        edit(folder, kind, COUNT - 2)
        seen.clear()
        warm = answer(folder, cache)
        assert set(seen) <= {name_of(COUNT - 2), name_of(COUNT - 1)}
        assert warm == answer(folder, tmp_path / "other")
        edit(folder, "shifted", 1)  # while the fault stands, and so that places move
        seen.clear()
        warm = answer(folder, cache)
        assert set(seen) <= {name_of(COUNT - 2), name_of(COUNT - 1), name_of(1)}
        assert warm == answer(folder, tmp_path / "another")


@pytest.mark.parametrize("kind", ["fault", "unused", "false"])
def test_what_is_sound_is_known_even_where_the_first_check_finds_a_fault(
    kind: str, tmp_path: Path
) -> None:
    folder, cache = tmp_path / "package", tmp_path / "cache"
    folder.mkdir()
    write(folder, COUNT)
    edit(folder, kind, 2)
    with small_packages(), checked_modules() as seen:
        answer(folder, cache)
        seen.clear()
        write_module(folder, 2)
        assert answer(folder, cache) == (0, f"checked {COUNT} modules\n")
        assert seen == [name_of(2)]


def test_a_proof_that_reaches_an_edit_is_evaluated_again(tmp_path: Path) -> None:
    folder, cache = tmp_path / "package", tmp_path / "cache"
    folder.mkdir()
    (folder / "alpha.toml").touch()
    (folder / "First.alpha").write_text("module First\n\none : Int -> Int\none n = n + 1\n")
    (folder / "Second.alpha").write_text(
        "module Second\n\nimport First (one)\n\ntwo : Int -> Int\ntwo n = one (one n)\n"
    )
    (folder / "Third.alpha").write_text(
        "module Third\n\nimport Second (two)\n\nproof isTwo = two 0 == 2\n"
    )
    with small_packages():
        assert answer(folder, cache)[0] == 0
        (folder / "First.alpha").write_text("module First\n\none : Int -> Int\none n = n + 2\n")
        status, said = answer(folder, cache)
        assert status == 1 and "P0001" in said
        assert (status, said) == answer(folder, tmp_path / "other")


@pytest.mark.slow
def test_damaged_entries_are_made_again(tmp_path: Path) -> None:
    folder, cache = tmp_path / "package", tmp_path / "cache"
    folder.mkdir()
    write(folder, COUNT)
    draw = random.Random(5)
    with small_packages():
        for turn in range(6):
            assert answer(folder, cache) == (0, f"checked {COUNT} modules\n")
            for entry in (cache / "alpha").iterdir():
                data = bytearray(entry.read_bytes())
                if turn % 2:
                    data = data[: draw.randrange(len(data))]
                else:
                    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
                entry.write_bytes(data)
            edit(folder, "value" if turn % 2 else "", 2)


CHECK = """
import sys, alpha.driver.remembered as r, alpha.driver.units as u
r.fingerprint = u.fingerprint = lambda: "this compiler"
u.WORTH_IT = 2
from alpha.cli.main import run
sys.exit(run(["check", sys.argv[1]]))
"""


@pytest.mark.slow
def test_checks_side_by_side_and_killed_ones_leave_a_sound_cache(tmp_path: Path) -> None:
    folder, cache = tmp_path / "package", tmp_path / "cache"
    folder.mkdir()
    write(folder, COUNT)
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    draw = random.Random(3)
    for turn in range(4):
        edit(folder, ("value", "", "shifted", "body")[turn], turn)
        running = [
            subprocess.Popen(
                [sys.executable, "-c", CHECK, folder], env=environment, stderr=subprocess.PIPE
            )
            for _ in range(3)
        ]
        time.sleep(draw.uniform(0.3, 1.2))
        running[0].send_signal(signal.SIGKILL)
        for process in running:
            process.communicate()
        assert [process.returncode for process in running[1:]] == [0, 0]
    with small_packages():
        assert answer(folder, cache) == (0, f"checked {COUNT} modules\n")
        assert answer(folder, cache) == answer(folder, tmp_path / "other")


def test_members_of_enumerations_are_read_as_any_python_writes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Dtype, "__reduce_ex__", lambda self, protocol: (getattr, (Dtype, self.name)), raising=False
    )
    data, _ = interfaces._dump([Dtype.F32, Dtype.U8])
    assert interfaces._load(data) == [Dtype.F32, Dtype.U8]
    monkeypatch.setattr(
        Dtype,
        "__reduce_ex__",
        lambda self, protocol: (getattr, (frozenset, "union")),
        raising=False,
    )
    data, _ = interfaces._dump(Dtype.F32)
    with pytest.raises(pickle.UnpicklingError):
        interfaces._load(data)
