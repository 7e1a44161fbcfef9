"""The rules of the language, one small program each: what is accepted, and the exact codes of what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from alpha.check.later import LATER
from alpha.check.program import check
from alpha.core.verify import verify
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from checking import closure, loaded
from packages import evaluator_of, open_package, write_package


def found(text: str, *others: str, warnings: bool = False) -> list[str]:
    """The codes that checking and evaluating a module gives; `others` are modules that it imports."""
    modules = [loaded(other, other.split()[1]) for other in others]
    whole = text if text.startswith("module ") else f"module Main\n\n{text}"
    diagnostics = Diagnostics()
    try:
        modules.append(loaded(whole + "\n"))
        everything = closure(modules)
        program = check(everything, diagnostics)
        verify(program)
        evaluator = evaluator_of(program, everything, diagnostics)
        for module in modules:
            evaluator.check_module(module.name)
    except Refused as refused:
        if not diagnostics.errors:
            return [item.code for item in refused.diagnostics]
    return [item.code for item in diagnostics.items if warnings or item.code[0] != "W"]


LIB = "module Lib\n\ntype T = First Int | Second\n\nf : Int\nf = 1\n"
OTHER = "module Other\n\ntype U = First | Third\n\nf : Int\nf = 2\n"


class TestNames:
    """A name means one thing within a module, wherever it comes from."""

    @pytest.mark.parametrize(
        ("text", "codes"),
        [
            ("import Lib (f, f)\n\nx : Int\nx = f", ["E0104"]),
            ("import Lib (f)\nimport Lib (f)\n\nx : Int\nx = f", ["E0104"]),
            ("import Lib (f)\nimport Other (f)\n\nx : Int\nx = f", ["E0104"]),
            ("import Lib (f)\n\nf : Int\nf = 1", ["E0104"]),
            ("import Lib as L\nimport Other as L\n\nx : Int\nx = L.f", ["E0104"]),
            ("import Lib as L\nimport Other as M\n\nx : Int\nx = L.f + M.f", []),
            ("import Lib (T)\nimport Other (U)\n\nx : T\nx = Second", ["E0104"]),
            ("import Lib (T)\n\ntype U = First\n\nx : T\nx = Second", ["E0104"]),
            ("import Lib (T)\n\ntype T = Q\n\nx : T\nx = Q", ["E0104"]),
            ("import Lib (T, First)\n\nx : T\nx = First 1", []),
            ("import Lib (First, T)\n\nx : T\nx = First 1", []),
            ("x : Int\nx = 1\n\nx : Int\nx = 2", ["E0104"]),
            ("x : Int\nx : Int\nx = 1", ["E0104"]),
            ("x : Int\nx = 1\n\nx = 2\n\nx = 3", ["E0104"]),
            ('x : Source\n\nsource x = manual "a" "b"', ["E0104"]),
            ("module Main exposing (x, z)\n\nx : Int\nx = 1", ["E0101"]),
            ("module Main exposing (x, x)\n\nx : Int\nx = 1", ["E0104"]),
            ("module Main exposing (First)\n\ntype T = First", []),
            (
                "model A [n] =\n  param w : Tensor f32 [n] = zeros\n\n  w : Int\n  w = 3",
                ["E0104"],
            ),
        ],
    )
    def test_each_is_one_fault(self, text: str, codes: list[str]) -> None:
        assert found(text, LIB, OTHER) == codes


SYSTEM = """
import Alpha.Optim (sgd)

type Batch [batch] = { x : Tensor f32 [batch, 2], y : Tensor f32 [batch] }

model Line [inputs] =
  param w : Tensor f32 [inputs] = normal 0.5
  param b : f32                 = filled 0.25

  forward : Tensor f32 [batch, inputs] -> Tensor f32 [batch]
  forward x = x @ w + b

line : Model (Line [2])
line = Line { inputs = 2 }

learner fit =
  model     = line
  optimizer = sgd

  loss net (b : Batch [batch]) =
    let e = net.forward b.x - b.y
    mean[batch] (e * e)
"""


def learner(more: str, old: str = "", new: str = "") -> str:
    """The learner `fit` with one passage replaced and more definitions in it."""
    assert old in SYSTEM
    text = SYSTEM.replace(old, new) if old else SYSTEM
    return f"{text}\n{more}"


class TestModels:
    @pytest.mark.parametrize(
        ("type_", "codes"),
        [
            ("Tensor f32 [n]", []),
            ("Tensor bf16 [n]", []),
            ("Tensor i32 [n]", ["E0613"]),
            ("Tensor bool [n]", ["E0613"]),
            ("Tensor (index 4) [n]", ["E0613"]),
            ("Int", ["E0301"]),
            ("List f32", ["E0301"]),
        ],
    )
    def test_a_parameter_is_a_float_tensor(self, type_: str, codes: list[str]) -> None:
        assert found(f"model A [n] =\n  param w : {type_} = zeros") == codes

    def test_a_model_is_a_value_like_any_other(self) -> None:
        text = """
model A [n] =
  param w : Tensor f32 [n] = zeros

type Setup = { chosen : Model (A [5]), copies : Int }

setup : Setup
setup = { chosen = A { n = 5 }, copies = 2 }

proof fields = countParams setup.chosen * setup.copies == 10
proof items = total (map countParams [setup.chosen, setup.chosen]) == 10
"""
        assert found(text) == []


class TestLearners:
    @pytest.mark.parametrize(
        ("more", "codes"),
        [
            ("  loss : Line [2] -> Batch [batch] -> f32", []),
            ("  loss : Line [2] -> Batch [batch] -> Int", ["E0610"]),
            ("  loss : Line [3] -> Batch [batch] -> f32", ["E0412"]),
            ("  model : Model (Line [2])", []),
            ("  model : Model (Line [3])", ["E0412"]),
            ("  twice : f32 -> f32\n  twice : f32 -> f32\n  twice x = x", ["E0104"]),
            ("  twice : f32 -> f32", ["E0108"]),
            (
                "  twice : f32 -> f32\n  twice x = x * 2\n\n  metric m net b = twice (loss net b)",
                [],
            ),
            ("  twice : f32 -> Int\n  twice x = x", ["E0301"]),
            ("  m : Line [2] -> Batch [batch] -> f32\n  metric m net b = loss net b", []),
            ("  m : Line [2] -> Batch [batch] -> Int\n  metric m net b = loss net b", ["E0301"]),
            (
                "  predict : Line [2] -> Tensor f32 [batch, 2] -> Tensor f32 [batch]\n"
                "  predict net (x : Tensor f32 [batch, 2]) = net.forward x",
                [],
            ),
        ],
    )
    def test_a_signature_gives_the_type_that_the_entry_has(
        self, more: str, codes: list[str]
    ) -> None:
        assert found(learner(more)) == codes

    def test_a_helper_without_parameters_is_a_value(self) -> None:
        more = "  weight = 2.0\n\n  count = batch\n\n  metric m net b = weight * loss net b * toFloat count"
        assert found(learner(more)) == []

    def test_a_local_name_like_that_of_another_entry_makes_no_circle(self) -> None:
        more = """
  weight net (b : Batch [batch]) =
    let m x = x * 2
    m (sum b.y)

  metric m net b = weight net b + loss net b
"""
        assert found(learner(more)) == []
        assert found(learner(more.replace("let m x", "let other x"))) == ["E0501"]

    def test_the_free_dimension_is_one_and_the_same(self) -> None:
        more = """
  half net (b : Batch [batch]) = loss net { x = b.x[: 1, :], y = b.y[: 1] }
"""
        assert found(learner(more)) == ["E0415", "E0415"]


class TestOptimizers:
    @pytest.mark.parametrize(
        ("items", "codes"),
        [
            ("  double x = x + x", []),
            ("  double : Tensor f32 s -> Tensor f32 s\n  double x = x + x", []),
            ("  double : Tensor f32 r -> Tensor f32 r\n  double x = o * (x + x)", []),
            ("  double : Tensor f32 s -> Tensor f32 s\n  double p = p + v", []),
            ("  double : Tensor f32 s -> Tensor f32 s\n  double x = x > x", ["E0401"]),
            ("  double : Tensor f32 s -> Tensor f32 s\n  double x = double x", ["E0501"]),
            ("  other double = double + 1\n\n  double x = other (x + x) - 1", []),
            ("  other x = double x\n\n  double x = other (x + x)", ["E0501"]),
            ("  double x = maximum 0.0 x\n\n  slot v = ones", ["E0104"]),
            ("  double x = maximum 0.0 x\n\n  other : f32", ["E0108"]),
            ("  double x = maximum 0.0 x\n\n  update : Int", ["E0710"]),
            ("  double x = maximum 0.0 x\n\n  slot m = normal 0.1", ["E0710", "E0305"]),
        ],
    )
    def test_functions_beside_the_update(self, items: str, codes: list[str]) -> None:
        text = f"optimizer half (o : f32) =\n  slot v = zeros\n\n{items}\n\n"
        assert found(text + "  update t p g = { v = double v, p = p - o * g }") == codes


class TestKeys:
    """W0003: a key that nothing is drawn or derived from."""

    @pytest.mark.parametrize(
        ("text", "codes"),
        [
            ("f : Key -> f32\nf key = 1.0", ["W0003"]),
            ("f : Key -> f32\nf _ = 1.0", []),
            ("f : Key -> Key\nf key =\n  let (a, b) = split key\n  a", ["W0003"]),
            ("f : Key -> Key\nf key =\n  let (a, _) = split key\n  a", []),
            ("f : Key -> Tensor f32 [2] -> Tensor f32 [2]\nf key x = normalLike key x", []),
            ("f : List Int -> List Int\nf xs = map (fn x -> 1) xs", []),
        ],
    )
    def test_an_unused_key_is_a_warning(self, text: str, codes: list[str]) -> None:
        assert found(text, warnings=True) == codes

    def test_of_a_loss_too(self) -> None:
        unused = learner("", "loss net (b", "loss net key (b")
        assert found(unused, warnings=True) == ["W0003"]


class TestLaterNames:
    @pytest.mark.parametrize("name", sorted(LATER))
    def test_a_name_of_a_later_version_says_so(self, name: str) -> None:
        assert found(f"f : Tensor f32 [n] -> Tensor f32 [n]\nf x = {name} x") == ["E0011"]
        assert found(f"f : Tensor f32 [n] -> Tensor f32 [n]\nf x = {name}[0] x") == ["E0011"]

    def test_a_definition_may_have_it(self) -> None:
        assert found("scan : Int -> Int\nscan n = n + 1\n\nproof next = scan 1 == 2") == []


HIDING = "module Lib exposing (T, f)\n\ntype T = First Int | Second\n\ntype U = Third\n\nf : Int\nf = 1\n"


class TestPatterns:
    @pytest.mark.parametrize(
        ("arms", "codes"),
        [
            ("  L.First n -> n\n  L.Second -> 2", []),
            ("  L.First (-1) -> 0\n  L.First n -> n\n  L.Second -> 2", []),
            ("  L.First n -> n", ["E0303"]),
            ("  L.Third -> 1\n  _ -> 2", ["E0101"]),
            ("  M.First n -> n\n  _ -> 2", ["E0101"]),
        ],
    )
    def test_constructors_of_a_module_behind_its_name(self, arms: str, codes: list[str]) -> None:
        text = "import Lib as L\n\nf : L.T -> Int\nf t =\n  match t with\n"
        assert found(text + arms.replace("  ", "    "), HIDING) == codes

    def test_a_constructor_of_a_hidden_type_is_no_value(self) -> None:
        assert found("import Lib as L\n\nx : Int\nx = match L.Third with\n  _ -> 1", HIDING) == [
            "E0101"
        ]

    def test_a_negative_number_is_one_literal(self) -> None:
        text = 'f : Int -> Text\nf n =\n  match n with\n    -1 -> "down"\n    _ -> "other"\n\n'
        assert found(text + 'proof down = f (-1) == "down" and f 1 == "other"') == []


BUILD = """\
module Own.Build.Here

import Alpha.Admission (HostProfile, compatibilityRefusal)
import Digits.Run (baseline)
import Platform.Linux.X8664 (generic, x8664Demands)

pick : List Policy -> HostProfile
pick _ = generic

copied : HostProfile
copied = { generic | estimates = [] }

pairing here =
  system   = baseline
  device   = DEVICE
  admit    = compatibilityRefusal (x8664Demands baseline) generic.supplies == ""
  output   = "own"
  artifact = "OwnArtifact.alpha"
"""


class TestPairings:
    @pytest.mark.parametrize(
        ("device", "codes"),
        [
            ("generic", []),
            ("pick [baseline]", []),
            ("if baseline.bundle then generic else generic", []),
            ("copied", ["E0710"]),
            ("{ generic | supplies = [] }", ["E0710"]),
            ("baseline", ["E0301"]),
        ],
    )
    def test_a_device_is_a_declared_profile(
        self, tmp_path: Path, device: str, codes: list[str]
    ) -> None:
        write_package(tmp_path, {"Own.Build.Here": BUILD.replace("DEVICE", device)})
        try:
            evaluator, diagnostics = open_package(tmp_path, "Own.Build.Here")
            evaluator.check_module("Own.Build.Here")
            assert [item.code for item in diagnostics.errors] == codes
        except Refused as refused:
            assert [item.code for item in refused.diagnostics] == codes


class TestPolicies:
    def test_entries_are_fields(self) -> None:
        text = """
import Digits.Run (baseline)

proof sizes = baseline.batch == 32 and baseline.steps == 1_500 and baseline.seed == 1
proof heldOut = baseline.holdOut == 288 and baseline.heldOutBatches == 9
proof defaults = baseline.evaluateEvery == 250 and length baseline.mayMove == 0
proof nested = baseline.report.every == 50 and baseline.checkpoint.folder == "runs/digits"
proof functions = baseline.rate 1 < baseline.rate 50
"""
        assert found(text) == []

    def test_what_a_host_needs_of_it_is_not_there_yet(self) -> None:
        text = "import Digits.Run (baseline)\n\nparams : Layout\nparams = baseline.params"
        assert found(text) == ["E0011"]


class TestDtypes:
    @pytest.mark.parametrize("target", ["index", "(index 10)", "i32"])
    def test_no_cast_makes_an_index(self, target: str) -> None:
        text = f"f : Tensor i32 [n] -> Tensor (index 10) [n]\nf x = cast {target} x"
        assert found(text) == ["E0403"]
