"""Proofs say why they are false; profiles and demands reach admission as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

from alpha.core.term import Amount
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate.evaluator import Pairing
from alpha.evaluate.system import System
from packages import ROWS, TINY, open_package, write_package


def checked(folder: Path, body: str) -> dict[str, list[str]]:
    """The label texts of each error of module `Main`, by code."""
    write_package(folder, {"Main": f"module Main\n\n{body}"})
    evaluator, diagnostics = open_package(folder, "Main")
    evaluator.check_module("Main")
    return {item.code: [label.text for label in item.labels] for item in diagnostics.errors}


class TestProofs:
    def test_a_true_proof_says_nothing(self, tmp_path: Path) -> None:
        assert checked(tmp_path, "proof sum = total [1, 2, 3] == 6\n") == {}

    def test_a_false_proof_shows_each_part_from_the_outside_in(self, tmp_path: Path) -> None:
        body = (
            "sizes : List Int\nsizes = [64, 32]\n\nproof wrong = total sizes == 2 * length sizes\n"
        )
        assert checked(tmp_path, body) == {
            "P0001": [
                "`total sizes` is 96",
                "`sizes` is [64, 32]",
                "`2 * length sizes` is 4",
                "`length sizes` is 2",
            ]
        }

    def test_what_is_inside_a_function_has_no_one_value(self, tmp_path: Path) -> None:
        body = "proof wrong = map (fn n -> n * 7) [1, 2] == [7]\n"
        assert checked(tmp_path, body) == {"P0001": ["`map (fn n -> n * 7) [1, 2]` is [7, 14]"]}

    def test_a_model_is_shown_by_its_name_and_sizes(self, tmp_path: Path) -> None:
        body = (
            "model Net [a, b] =\n  param w : Tensor f32 [a, b] = zeros\n\n"
            "net : Model (Net [2, 3])\nnet = Net { a = 2, b = 3 }\n\n"
            "proof small = countParams net == 7\n"
        )
        assert checked(tmp_path, body) == {
            "P0001": ["`countParams net` is 6", "`net` is the model Net [2, 3]"]
        }

    def test_floats_are_shown_in_their_shortest_form(self, tmp_path: Path) -> None:
        assert checked(tmp_path, "proof third = 1.0 / 3.0 == 0.1\n") == {
            "P0001": ["`1.0 / 3.0` is 0.33333334"]
        }

    def test_a_tensor_whose_value_is_not_needed_is_no_fault(self, tmp_path: Path) -> None:
        body = "proof first = length [fill [2] 1.0, fill [2] 2.0] == 2\n"
        assert checked(tmp_path, body) == {}

    @pytest.mark.parametrize(
        "proof",
        [
            "sum (fill [2] 1.0) == 2.0",
            "if max (fill [2] 1.0) > 0.0 then True else False",
        ],
    )
    def test_a_tensor_whose_value_is_needed_is_refused(self, tmp_path: Path, proof: str) -> None:
        assert list(checked(tmp_path, f"proof tensor = {proof}\n")) == ["E0411"]

    def test_one_fault_does_not_hide_another(self, tmp_path: Path) -> None:
        body = "zero : Int\nzero = 1 // (2 - 2)\n\nproof wrong = 1 == 2\n"
        assert list(checked(tmp_path, body)) == ["E0504", "P0001"]


class TestRejections:
    KEYS = "fn (k : Key) (x : Tensor f32 [n]) -> uniformLike k x"

    def rejects(self, folder: Path, code: str, term: str) -> list[str]:
        return list(checked(folder, f"rejects {code} wrong =\n  {term}\n"))

    def test_a_fault_of_evaluation_is_seen_inside_a_function(self, tmp_path: Path) -> None:
        assert self.rejects(tmp_path, "E0601", f"{self.KEYS} + uniformLike k x") == []

    def test_no_fault_is_refused(self, tmp_path: Path) -> None:
        assert self.rejects(tmp_path, "E0601", self.KEYS) == ["P0002"]

    def test_another_fault_is_refused(self, tmp_path: Path) -> None:
        both = f"{self.KEYS} + uniformLike (derive k 1) x"
        assert self.rejects(tmp_path, "E0601", both) == ["P0002"]
        assert self.rejects(tmp_path, "E0602", both) == []

    def test_a_known_fault_needs_no_function(self, tmp_path: Path) -> None:
        assert self.rejects(tmp_path, "E0504", "1 // 0") == []


class TestProfiles:
    def test_a_generic_profile_is_plain_data(self) -> None:
        evaluator, _ = open_package(None, "Platform.Linux.X8664")
        profile = evaluator.profile("Platform.Linux.X8664.generic")
        assert [(fact.name, fact.amount) for fact in profile.identity] == [
            ("target", "x86_64-linux")
        ]
        supplies = {fact.name: fact for fact in profile.supplies}
        assert supplies["memory-bytes"].amount == Amount(Fraction(4 * 2**30), (1, 0, 0))
        assert supplies["instruction-set"].amount == Amount(Fraction(62))
        evidence = supplies["cpu-level"].evidence
        assert (evidence.grade, evidence.kind, len(evidence.citation)) == (
            "Architectural",
            "manual",
            2,
        )
        assert profile.estimates == ()

    @pytest.mark.parametrize(
        ("amount", "code"),
        [("0 B - 1 B", "E0706"), ("1 B / 2", "E0706"), ("1s", "E0706"), ("2 GiB", None)],
    )
    def test_the_amount_of_a_fact_is_whole_and_of_its_unit(
        self, tmp_path: Path, amount: str, code: str | None
    ) -> None:
        body = (
            "import Alpha.Admission (HostProfile)\n\n"
            'source page = manual "page" "1"\n\n'
            f"profile host : HostProfile =\n  supply memory-bytes = {amount} from Architectural page\n"
        )
        try:
            found = list(checked(tmp_path, body))
        except Refused as refused:
            found = [item.code for item in refused.diagnostics]
        assert found == ([code] if code else [])


@dataclass(frozen=True)
class Demanded:
    """What evaluation reads of a demand."""

    name: str
    kind: str
    bound: str
    amount: Amount
    derivation: object = None


BUILD = """\
module Tiny.Build.Host

import Alpha.Admission (compatibilityRefusal)
import Platform.Linux.X8664 (generic, x8664Demands)
import Tiny.Run (baseline)

pairing tinyHost =
  system   = baseline
  device   = generic
  admit    = compatibilityRefusal (x8664Demands baseline) generic.supplies == ""
  output   = "tiny"
  artifact = "HostArtifact.alpha"
"""


class TestPairings:
    def paired(self, folder: Path, memory: int) -> tuple[Pairing, list[tuple[str, str]]]:
        asked: list[tuple[str, str]] = []

        def demands(system: System, target: str) -> tuple[Demanded, ...]:
            asked.append((system.name, target))
            amount = Amount(Fraction(memory), (1, 0, 0))
            return (Demanded("memory-bytes", "Resource", "AtLeast", amount),)

        modules = {"Tiny.Run": TINY, "Tiny.Build.Host": BUILD}
        write_package(folder, modules, {"Tiny/rows.csv": ROWS})
        evaluator, _ = open_package(folder, "Tiny.Build.Host", demands=demands)
        return evaluator.pairing("Tiny.Build.Host.tinyHost"), asked

    def test_a_pairing_asks_for_the_demands_of_its_system(self, tmp_path: Path) -> None:
        pairing, asked = self.paired(tmp_path, 2**20)
        assert asked == [("Tiny.Run.baseline", "x86_64-linux")]
        assert pairing.admit
        assert (pairing.system, pairing.device) == (
            "Tiny.Run.baseline",
            "Platform.Linux.X8664.generic",
        )
        assert (pairing.output, pairing.artifact) == ("tiny", "HostArtifact.alpha")

    def test_a_condition_that_the_demands_break_is_false(self, tmp_path: Path) -> None:
        pairing, _ = self.paired(tmp_path, 2**40)
        assert not pairing.admit
