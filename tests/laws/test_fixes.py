# ruff: noqa: E501 -- a program a line reads better than one broken to fit
"""Fixes: which go together, what is safe, and that nothing is written that has something left to fix."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Diagnostic, Fix
from alpha.diagnostics.edits import applied, compatible, safe_fixes
from alpha.driver.fixing import Fixing, fix, write
from alpha.driver.session import Session
from packages import write_package

TEXT = Source("Main.alpha", "0123456789")


@st.composite
def edits(draw: st.DrawFn) -> Fix:
    start, end = sorted((draw(st.integers(0, 10)), draw(st.integers(0, 10))))
    return Fix("mend", Span(TEXT, start, end), draw(st.sampled_from(["", "a", "bc"])), safe=True)


@given(st.lists(edits(), max_size=6))
def test_compatible_edits_share_no_character_and_keep_all_others(fixes: list[Fix]) -> None:
    chosen = compatible(fixes)
    touched = [place for one in chosen for place in range(one.span.start, one.span.end)]
    assert len(touched) == len(set(touched))
    kept = [c for place, c in enumerate(TEXT.text) if place not in touched]
    result = applied(TEXT.text, chosen)
    assert [c for c in result if c.isdigit()] == kept
    assert len(result) == len(kept) + sum(len(one.replacement) for one in chosen)
    assert all(one in chosen for one in fixes[:1])


def test_only_the_first_safe_fix_of_a_diagnostic_counts() -> None:
    def at(start: int, replacement: str, safe: bool) -> Fix:
        return Fix("mend", Span(TEXT, start, start + 1), replacement, safe)

    one = Diagnostic("W0001", "", fixes=(at(0, "a", False), at(1, "b", True), at(2, "c", True)))
    assert [fix.replacement for fix in safe_fixes([one, one])] == ["b"]


def fixed(folder: Path, **modules: str) -> Fixing:
    write_package(folder, {name.replace("_", "."): text for name, text in modules.items()})
    with Session.open(folder) as session:
        return fix(session, [name.replace("_", ".") for name in modules])


def text_of(fixing: Fixing, name: str = "Main.alpha") -> str:
    return next(file.after.decode() for file in fixing.files if file.shown == name)


def test_writing_the_fixes_leaves_nothing_to_fix(tmp_path: Path) -> None:
    text = "module Main exposing (two)\n\nimport Alpha.Nn (gelu, mse)\n\ntwo x = mse x x\n"
    fixing = fixed(tmp_path, Main=text)
    write(fixing.files)
    with Session.open(tmp_path) as session:
        again = fix(session, ["Main"])
    assert again.files == () and again.left == ()


@pytest.mark.parametrize(
    "before, after",
    [
        ("import Alpha.Nn (gelu, mse, silu)", "import Alpha.Nn (mse)"),
        ("import Alpha.Nn (mse, gelu)", "import Alpha.Nn (mse)"),
        ("import Alpha.Nn\n  ( gelu\n  , mse\n  )", "import Alpha.Nn\n  ( mse\n  )"),
        ("import Alpha.Nn as N (mse)", "import Alpha.Nn (mse)"),
        ("import Alpha.Nn (mse)\nimport Alpha.Optim (sgd)", "import Alpha.Nn (mse)"),
        ("import Alpha.Nn (mse)\nimport Alpha.Optim as O", "import Alpha.Nn (mse)"),
    ],
)
def test_unused_imports_are_taken_out(tmp_path: Path, before: str, after: str) -> None:
    body = "\n\none : Tensor f32 [n] -> f32\none x = mse x x\n"
    assert text_of(fixed(tmp_path, Main=f"module Main\n\n{before}{body}")) == (
        f"module Main\n\n{after}{body}"
    )


def test_a_comment_is_not_taken_out_with_an_import(tmp_path: Path) -> None:
    text = "module Main\n\nimport Alpha.Nn\n  ( mse\n  , gelu -- later\n  , silu\n  )\n\none : Tensor f32 [n] -> f32\none x = mse x x\n"
    fixing = fixed(tmp_path, Main=text)
    assert "-- later" in text_of(fixing)


def test_a_signature_whose_types_are_not_in_scope_is_unsure(tmp_path: Path) -> None:
    other = "module Other\n\ntype Point = { x : Int }\n\norigin : Point\norigin = { x = 0 }\n"
    fixing = fixed(
        tmp_path, Other=other, Main="module Main\n\nimport Other (origin)\n\nhere = origin\n"
    )
    assert fixing.files == ()
    assert [item.code for item in fixing.left] == ["W0004"]


def test_warnings_wait_until_there_are_no_errors(tmp_path: Path) -> None:
    fixing = fixed(
        tmp_path, Main="module Main\n\nimport Alpha.Nn (gelu)\n\none : Int\none = gleu\n"
    )
    assert fixing.files == () and fixing.errors == 1


@pytest.mark.parametrize(
    "text, mended",
    [
        (b"module Main\r\n\r\none : Int\r\none = 1\r\n", b"module Main\n\none : Int\none = 1\n"),
        (
            b"module Main\n\none : Int\none =\n\tlet\tx = 1\n\tx\n",
            b"module Main\n\none : Int\none =\n  let x = 1\n  x\n",
        ),
        (
            b"\xef\xbb\xbfmodule Main\n\none : Int\none = 1\n",
            b"module Main\n\none : Int\none = 1\n",
        ),
    ],
)
def test_spaces_and_line_ends_are_mended(tmp_path: Path, text: bytes, mended: bytes) -> None:
    (tmp_path / "Main.alpha").write_bytes(text)
    with Session.open(tmp_path) as session:
        fixing = fix(session, ["Main"])
    assert [file.after for file in fixing.files] == [mended] and fixing.left == ()


def test_a_tab_within_a_text_is_a_decision(tmp_path: Path) -> None:
    (tmp_path / "Main.alpha").write_text('module Main\n\none : Text\none = "a\tb"\n')
    with Session.open(tmp_path) as session:
        assert fix(session, ["Main"]).files == ()


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    from alpha.driver.errors import UsageError

    fixing = fixed(tmp_path, Main="module Main\n\none = 1\n")
    (tmp_path / "Main.alpha").write_text("module Main\n\ntwo = 2\n")
    with pytest.raises(UsageError, match="changed meanwhile"):
        write(fixing.files)
    assert "two" in (tmp_path / "Main.alpha").read_text()


IMPORTS = ["Alpha.Nn (gelu, mse)", "Alpha.Nn (silu)", "Alpha.Optim as O", "Alpha.Optim (sgd)"]
BODIES = ["one x = mse x x", "two = silu 1.0", "three n = n + 1\n", "--| Doc.\nfour = [O.sgd]"]


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.sets(st.sampled_from(IMPORTS)), st.sets(st.sampled_from(BODIES), min_size=1))
def test_fixes_never_bring_an_error_and_never_come_back(
    tmp_path_factory: pytest.TempPathFactory, imports: set[str], bodies: set[str]
) -> None:
    folder = tmp_path_factory.mktemp("fix")
    lines = ["module Main", *sorted(f"import {each}" for each in imports), *sorted(bodies)]
    fixing = fixed(folder, Main="\n\n".join(lines) + "\n")
    write(fixing.files)
    with Session.open(folder) as session:
        again = fix(session, ["Main"])
    assert again.files == ()
    assert {item.code for item in again.left} == {item.code for item in fixing.left}
