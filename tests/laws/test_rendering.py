"""Diagnostics are drawn without a fault for every source and every span, and in the shape that is documented."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha.base.span import Source, Span
from alpha.diagnostics.closest import closest, did_you_mean
from alpha.diagnostics.codes import exit_status
from alpha.diagnostics.columns import show, width
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label, Severity
from alpha.diagnostics.json import json_lines
from alpha.diagnostics.render import LIMIT, render, render_all, wants_colour
from alpha.diagnostics.sarif import sarif

TEXT = """module Main

f : Tensor f32 [batch, 64] -> Tensor f32 [batch, 10]
f x =
  let h = (x @ w1) + b1
  relu (h @ w2)
"""


def place(text: str, word: str) -> Span:
    start = text.index(word)
    return Span(Source("Main.alpha", text), start, start + len(word))


@st.composite
def diagnostics(draw: st.DrawFn) -> Diagnostic:
    alphabet = st.sampled_from(list("ab \n\t漢e\u0301\x1b\u202e=|-"))
    sources = [
        Source(f"M{number}.alpha", draw(st.text(alphabet, max_size=60))) for number in range(2)
    ]

    def span() -> Span:
        source = draw(st.sampled_from(sources))
        first, last = sorted(draw(st.integers(0, len(source.text))) for _ in range(2))
        return Span(source, first, last)

    return Diagnostic(
        draw(st.sampled_from(["E0412", "W0001", "A0301"])),
        draw(st.text(max_size=20)),
        span() if draw(st.booleans()) else None,
        tuple(Label(span(), draw(st.text(max_size=10))) for _ in range(draw(st.integers(0, 4)))),
        draw(st.text(max_size=20)),
        tuple(draw(st.lists(st.text(max_size=10), max_size=4))),
        tuple(
            Fix("mend", span(), draw(st.text(max_size=5))) for _ in range(draw(st.integers(0, 2)))
        ),
        draw(st.sampled_from(list(Severity))),
    )


@pytest.mark.slow
@given(st.lists(diagnostics(), max_size=3))
def test_every_diagnostic_is_drawn_in_every_format(items: list[Diagnostic]) -> None:
    for text in (render_all(items), render_all(items, colour=True).replace("\x1b[", "")):
        assert all(character.isprintable() or character == "\n" for character in text)
    assert len(json_lines(items).splitlines()) == len(items)
    log = json.loads(sarif(items))
    assert len(log["runs"][0]["results"]) == len(items)


@given(st.text(st.characters(), max_size=400), st.integers(0, 400))
def test_a_column_is_the_width_of_what_stands_before_it(line: str, offset: int) -> None:
    line = line.replace("\n", "")
    shown = show(line, offset, offset)
    column = shown.column(offset)
    assert column <= sum(map(width, shown.text))
    if len(line) < 100:
        assert column == sum(map(width, show(line[:offset]).text))


def test_places_labels_and_words_stand_where_rustc_readers_expect_them() -> None:
    item = Diagnostic(
        "E0412",
        "the sizes differ: 64 on the left, 32 on the right",
        place(TEXT, "x @ w1"),
        (Label(Span(place(TEXT, "x @ w1").source, *span_of("64")), "inputs = 64"),),
        "the contracted axes of `@` must be equal",
        ("transpose one side",),
    )
    assert render(item) == (
        "error[E0412]: the sizes differ: 64 on the left, 32 on the right\n"
        " --> Main.alpha:5:12\n"
        "  |\n"
        "3 | f : Tensor f32 [batch, 64] -> Tensor f32 [batch, 10]\n"
        "  |                        -- inputs = 64\n"
        "4 | f x =\n"
        "5 |   let h = (x @ w1) + b1\n"
        "  |            ^^^^^^\n"
        "  = cause: the contracted axes of `@` must be equal\n"
        "  = hint: transpose one side\n"
        "  = more: alpha explain E0412\n"
    )


def span_of(word: str) -> tuple[int, int]:
    start = TEXT.index(word)
    return start, start + len(word)


def test_wide_characters_and_tabs_keep_the_marks_below_the_code() -> None:
    text = 'module Main\n\nname = "漢字" ++\tnope\n'
    lines = render(Diagnostic("E0101", "unknown", place(text, "nope"))).splitlines()
    assert lines[3].endswith('name = "漢字" ++    nope')
    assert lines[4].index("^") - lines[3].index("nope") == 2  # two characters, two columns each


def test_a_long_span_shows_its_first_two_lines_and_its_last() -> None:
    text = "module Main\n\n" + "".join(f"a{n} = {n}\n" for n in range(9))
    start = text.index("a0")
    shown = render(Diagnostic("E0009", "all", Span(Source("M.alpha", text), start, len(text))))
    assert "a0 = 0" in shown
    assert "a1 = 1" in shown
    assert "a8 = 8" in shown
    assert "a4 = 4" not in shown


def test_errors_come_first_and_at_most_twenty_are_shown() -> None:
    warning = Diagnostic("W0001", "unused", severity=Severity.WARNING)
    errors = [Diagnostic("E0101", f"unknown `n{number}`") for number in range(LIMIT + 5)]
    text = render_all([warning, *errors])
    assert text.startswith("error[E0101]: unknown `n0`")
    assert text.count("error[") == LIMIT
    assert text.endswith("25 errors, 1 warning (6 more not shown: mend these first)\n")
    assert exit_status([warning]) == 0
    assert exit_status([warning, Diagnostic("T0401", ""), *errors]) == 4


def test_colour_is_for_terminals_unless_the_environment_decides() -> None:
    class Stream:
        def __init__(self, terminal: bool) -> None:
            self.terminal = terminal

        def isatty(self) -> bool:
            return self.terminal

    def wanted(terminal: bool, **environment: str) -> bool:
        return wants_colour(Stream(terminal), environment)  # type: ignore[arg-type]

    assert wanted(True) and not wanted(False)
    assert not wanted(True, NO_COLOR="1") and wanted(True, NO_COLOR="")
    assert wanted(False, FORCE_COLOR="1") and not wanted(False, FORCE_COLOR="1", NO_COLOR="1")
    assert not wanted(True, TERM="dumb")


def test_the_closest_names_are_offered() -> None:
    assert closest("Biuld", ["build", "check"]) == ["build"]
    assert did_you_mean("x86_64-linus", ["x86_64-linux", "aarch64-linux"]).startswith(
        "did you mean `x86_64-linux`"
    )
    assert did_you_mean("zzz", ["build"]) == ""
