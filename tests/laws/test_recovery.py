"""A file with several mistakes is told all of them, and nothing that only follows from them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from spec.pages import check_modules

VALID = """\
module Main

import Alpha.Schedule (constant)

type Point = { across : Int, up : Int }

type Grade = Low | Middle | High

origin : Point
origin = { across = 0, up = 0 }

next : Int -> Int
next n = n + 1

rank : Grade -> Int
rank grade =
  match grade with
    Low -> 0
    Middle -> next 0
    High -> origin.up + 2

scaled : Tensor f32 [n, 3] -> Tensor f32 [n, 3]
scaled x =
  let factor = 2.0
  x * factor

rate : u32 -> f32
rate = constant 0.1

ranks : List Int
ranks = map rank [Low, High]

proof ordered = rank Low < rank High
"""

FAULTS = {
    "{0} = (1": "E0005",
    "{0} = 1)": "E0005",
    "{0} = if True then 1": "E0009",
    "{0} : Int -> -> Int": "E0009",
    "{0} = 5sec": "E0007",
    "{0} = 007": "E0008",
    '{0} = "a': "E0006",
    "{0} = 3 & 4": "E0002",
    "{0} = fn type -> 1": "E0003",
    "{0} = nowhere": "E0101",
    "{0} = fn (x : Nowhere) -> 1": "E0101",
    "{0} n = next n + nowhere": "E0101",
    "{0} : Int -> Int": "E0108",
    '{0} = next "a"': "E0301",
    "{0} = next 1 2": "E0302",
    "{0} = origin.down": "E0305",
    "{0} = (fill [2] 1.0) + (fill [3] 1.0)": "E0412",
    "{0} = rank (Low 1)": "E0301",
    "import Nowhere.{1} (w{0})": "E0102",
    "import Alpha.Nn (w{0})": "E0109",
}
"""One-line declarations that are at fault, and the code of each. `{0}` and `{1}` are names of its own."""


def in_package(text: str, folder: Path) -> list[str]:
    (folder / "Main.alpha").write_text(text, "utf-8")
    return [item.code for item in check_modules(folder).items if item.code[0] != "W"]


def with_faults(places: list[tuple[int, str]]) -> str:
    """The valid module with a fault behind some of its declarations, the first place being the lowest."""
    parts = VALID.rstrip("\n").split("\n\n")
    for number, (place, fault) in enumerate(places):
        if fault.startswith("import"):
            place = 1
        at = 1 + place % (len(parts) - 1)
        parts.insert(at, fault.format(f"mistake{number}", f"N{number}"))
    return "\n\n".join(parts) + "\n"


def test_the_module_is_valid(tmp_path: Path) -> None:
    assert in_package(VALID, tmp_path) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_one_fault_gives_its_code_alone(fault: str, tmp_path: Path) -> None:
    assert in_package(with_faults([(4, fault)]), tmp_path) == [FAULTS[fault]]


def test_a_missing_module_does_not_silence_a_type_of_its_name(tmp_path: Path) -> None:
    text = (
        "module Main\n\nimport Nowhere (w)\nimport Nowhere.Far as Away\n\n"
        "first = w + Away.w\n\nsecond = fn (x : Nowhere) -> 1\n"
    )
    assert in_package(text, tmp_path) == ["E0102", "E0102", "E0101"]


@pytest.mark.slow
@settings(max_examples=25, deadline=None, phases=(Phase.generate,))
@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from(list(FAULTS))), min_size=2, max_size=6)
)
def test_independent_faults_are_all_told_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[int, str]]
) -> None:
    found = in_package(with_faults(places), tmp_path_factory.mktemp("faults"))
    assert sorted(found) == sorted(FAULTS[fault] for _, fault in places)


def test_a_name_that_could_not_be_read_silences_its_uses(tmp_path: Path) -> None:
    text = VALID.replace("next n = n + 1", "next n = (n + 1").replace("up : Int }", "up : }")
    assert in_package(text, tmp_path) == ["E0009", "E0005"]


def test_a_module_that_could_not_be_read_silences_what_it_would_bring(tmp_path: Path) -> None:
    (tmp_path / "Other.alpha").write_text("module Other\n\nhelp : Int\nhelp = (1\n", "utf-8")
    text = "module Main\n\nimport Other (help)\n\none : Int\none = help + nowhere\n"
    assert in_package(text, tmp_path) == ["E0005", "E0101"]


def test_a_rejection_of_something_at_fault_is_silent(tmp_path: Path) -> None:
    text = "module Main\n\none : Int\none = (1\n\nrejects E0412 never = one + 1\n"
    assert in_package(text, tmp_path) == ["E0005"]
