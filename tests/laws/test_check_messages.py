# ruff: noqa: E501 -- a program a line reads better than one broken to fit
"""What a message says: both places, the sizes by name, the nearest names, and one root for each fault."""

from __future__ import annotations

import pytest

from alpha.diagnostics.diagnostic import Diagnostic
from alpha.diagnostics.edits import applied
from checking import check_text, codes


def only(*texts: str) -> Diagnostic:
    found = [item for item in check_text(*texts)[1] if item.code[0] != "W"]
    assert len(found) == 1, [item.message for item in found]
    return found[0]


def test_sizes_that_differ_are_shown_with_both_places() -> None:
    found = only("f : Tensor f32 [8, 3] -> Tensor f32 [4, 8] -> Tensor f32 [8, 8]\nf x y = x @ y")
    assert found.code == "E0412"
    assert found.span is not None and found.span.text == "x @ y"
    assert found.message == "the sizes differ: 3 and 4"
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("x", "this has shape `[8, 3]`"),
        ("y", "this has shape `[4, 8]`"),
        ("3", "`x` has `3` here"),
        ("4", "`y` has `4` here"),
    ]


def test_an_undecided_size_comes_with_the_equation_that_would_decide_it() -> None:
    found = only(
        "f : Tensor f32 [width] -> Tensor f32 [heads * size] -> Tensor f32 [width]\nf x y = x + y"
    )
    assert found.message == "cannot decide whether `width` equals `heads * size`"
    assert found.hints == ("add `where width = heads * size` to the signature",)


def test_a_size_is_followed_to_where_it_was_fixed() -> None:
    twice = "f : Tensor f32 [n] -> Tensor f32 [2 * n]\nf x = repeat[0] 2 x |> reshape [2 * n]\n\n"
    found = only(twice + "g : Tensor f32 [3] -> Tensor f32 [3]\ng x =\n  let h = f x\n  h + x")
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("h", "this has shape `[6]`"),
        ("x", "this has shape `[3]`"),
        ("f x", "`h` is made here"),
        ("x", "`n = 3`"),
        ("f", "`f : Tensor f32 [n] -> Tensor f32 [2 * n]`"),
        ("3", "`x` has `3` here"),
    ]


def test_an_argument_is_measured_against_the_one_that_fixed_the_name() -> None:
    found = only(
        "f : Tensor f32 [n] -> Tensor f32 [n] -> Int\nf x y = 1\n\ng : Tensor f32 [3] -> Tensor f32 [4] -> Int\ng x y = f x y"
    )
    assert found.span is not None and found.span.text == "y"
    assert ("x", "`n = 3`") in [(label.span.text, label.text) for label in found.labels]


def test_a_result_is_measured_against_its_part_of_the_signature() -> None:
    found = only("f : Tensor f32 [n] -> Tensor f32 [4]\nf x = fill [5] 0.0")
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("fill [5] 0.0", "found 5, in `Tensor f32 [5]`"),
        ("Tensor f32 [4]", "the signature says `Tensor f32 [4]`"),
    ]


def test_the_sizes_of_a_model_are_followed_to_its_parameters() -> None:
    found = only(
        "model M [n, k] =\n  param w : Tensor f32 [k, n] = zeros\n\n  f : Tensor f32 [b, n + 1] -> Tensor f32 [b, n + 1]\n  f x = x + w[0]"
    )
    assert found.code == "E0412"


@pytest.mark.parametrize(
    "text",
    [
        "f : Tensor f32 [n] -> Tensor i32 [n] -> Tensor f32 [n]\nf x y = x * y",
        "f : Tensor i32 [n] -> Tensor f32 [n] -> Tensor f32 [n]\nf x y = (x + x) * y",
        "g : Tensor f32 [n] -> Int\ng x = 1\n\nh : Tensor i32 [n] -> Int\nh y = g y",
        "f : Tensor f32 [8, 3] -> Tensor f32 [8, 1] -> Tensor f32 [8, 3]\nf x y = x * y",
        "f : Tensor f32 [1, n] -> Tensor f32 [n + 2, n] -> Tensor f32 [n + 2, n]\nf x y = x * 2.0 + y",
        "f : f32\nf = 16_777_217",
        "f : Tensor f32 [n] -> Tensor f32 [n]\nf x = sigmoud x",
    ],
)
def test_the_proposed_edit_mends_it(text: str) -> None:
    found = [item for item in check_text(text)[1] if item.fixes]
    assert found
    source = found[0].fixes[0].span.source.text
    for item in reversed(found):
        source = applied(source, item.fixes[:1])
    assert codes(source) == []


def test_an_unknown_name_comes_with_the_closest() -> None:
    found = only("f : Tensor f32 s -> Tensor f32 s\nf x = sigmoud x")
    assert found.hints == ("did you mean `sigmoid`?",)
    assert found.fixes[0].replacement == "sigmoid"
    assert found.fixes[0].span.text == "sigmoud"


def test_an_unknown_name_of_the_library_comes_with_its_import() -> None:
    found = only("rate : u32 -> f32\nrate = constant 0.1")
    assert found.hints == ("`Alpha.Schedule` has it: `import Alpha.Schedule (constant)`",)
    assert found.fixes == ()
    found = only("type Settings = { inner : AdamW }")
    assert found.hints == ("`Alpha.Optim` has it: `import Alpha.Optim (AdamW)`",)


def test_an_argument_blames_the_function_that_takes_it() -> None:
    found = only('f : Int -> Int\nf n = n\n\ng : Int\ng = f "a"')
    assert found.span is not None and found.span.text == '"a"'
    assert found.message == "this is `Text`, but `Int` is expected here"
    assert [(label.span.text, label.text) for label in found.labels] == [
        ("f", "`f` takes `Int` here")
    ]


def test_missing_patterns_are_printed() -> None:
    found = only(
        "type G = Low | High Int\n\nf : (G, Maybe Int) -> Int\nf g =\n  match g with\n    (Low, _) -> 0\n    (_, None) -> 1"
    )
    assert found.message == "this `match` does not say what to do for `(High _, Some _)`"


def test_dtypes_that_differ_are_shown_at_both_operands() -> None:
    found = only("f : Tensor f32 [n] -> Tensor i32 [n] -> Tensor f32 [n]\nf x y = x * y")
    assert found.code == "E0401"
    assert [label.text for label in found.labels] == [
        "this is `Tensor f32 [n]`",
        "this is `Tensor i32 [n]`",
    ]


def test_several_faults_of_a_file_are_all_told() -> None:
    text = 'a : Int\na = "x"\n\nb : Text\nb = 1\n\nc : Int\nc = missing'
    assert codes(text) == ["E0301", "E0301", "E0101"]


def test_what_follows_from_a_fault_is_silent() -> None:
    text = "a = missing + 1\n\nb : Int\nb = a + 1\n\nc = b + a\n\nd : Int\nd = length [a, a]"
    assert codes(text) == ["E0101"]
    unknown_type = "f : Missing -> Int\nf x = x.a + 1\n\ng : Int\ng = f 1"
    assert codes(unknown_type) == ["E0101"]


def test_a_circle_is_printed() -> None:
    found = only("f : Int -> Int\nf n = g n\n\ng : Int -> Int\ng n = f n")
    assert found.message == "these definitions use each other in a circle: f -> g -> f"


def test_the_fix_of_a_missing_signature_is_the_inferred_one() -> None:
    _, found = check_text("pick c x y = if c then [x] else y")
    assert [(item.code, item.fixes[0].replacement) for item in found] == [
        ("W0004", "pick : Bool -> a -> List a -> List a\n")
    ]


def test_a_private_definition_that_nothing_uses_is_warned_about() -> None:
    _, found = check_text("module Main exposing (a)\n\na : Int\na = 1\n\nb : Int\nb = a")
    assert [(item.code, item.span.text if item.span else "") for item in found] == [("W0002", "b")]
