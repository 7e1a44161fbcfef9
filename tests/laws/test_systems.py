"""Policies become systems: graphs with fixed names, settings with defaults, texts that say what resuming requires."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest

from alpha.base.dtype import Dtype, TensorType
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate.describe import describe
from alpha.evaluate.system import System
from alpha.graph.philox import initialiser_key
from alpha.graph.verify import verify
from packages import ROWS, TINY, open_package, tiny, write_package
from semantics.train import advance, metrics, start

POLICY = "Tiny.Run.baseline"
NET = ["net.w1", "net.b1", "net.w2", "net.b2"]
SLOTS = [f"slots.{slot}.{name}" for slot in "mv" for name in ("w1", "b1", "w2", "b2")]


@pytest.fixture(scope="module")
def digits() -> System:
    evaluator, diagnostics = open_package(None, "Digits.Run")
    system = evaluator.system("Digits.Run.baseline")
    assert not diagnostics.items
    return system


def names(system: System, graph: str) -> tuple[list[str], list[str]]:
    found = system.graph(graph)
    return (
        [str(node.attribute("name")) for node in found.inputs],
        [name for name, _ in found.outputs],
    )


class TestDigits:
    def test_parameters_stand_in_their_order(self, digits: System) -> None:
        assert [(p.name, p.type.shape) for p in digits.parameters] == [
            ("w1", (64, 32)),
            ("b1", (32,)),
            ("w2", (32, 10)),
            ("b2", (10,)),
        ]
        assert sum(p.type.count for p in digits.parameters) == 2_410
        assert [f"slots.{slot.name}" for slot in digits.slots] == SLOTS

    def test_inputs_and_outputs_have_the_fixed_names(self, digits: System) -> None:
        batch = ["batch.image", "batch.label"]
        assert names(digits, "initial") == ([], NET + SLOTS)
        assert names(digits, "rate") == (["step"], ["rate"])
        assert names(digits, "step") == (
            [*NET, *SLOTS, "step", "rate", *batch],
            [*NET, *SLOTS, "loss"],
        )
        assert names(digits, "evaluate") == ([*NET, *batch], ["loss", "metric.accuracy"])
        assert names(digits, "predict") == ([*NET, "input"], ["output"])

    def test_every_graph_obeys_the_law_of_its_level(self, digits: System) -> None:
        for graph in digits.graphs:
            verify(graph)

    def test_the_data_is_bundled_in_bytes(self, digits: System) -> None:
        image, label = digits.data.fields
        assert digits.data.examples == 1_797
        assert (image.stored, image.rows.shape) == (Dtype.U8, (1_797, 64))
        assert (label.stored, label.rows.shape) == (Dtype.U8, (1_797,))
        assert image.type == TensorType(Dtype.F32, (64,))
        assert int(image.rows.max()) == 16

    def test_settings_are_those_of_the_policy(self, digits: System) -> None:
        assert (digits.batch, digits.steps, digits.seed, digits.hold_out) == (32, 1_500, 1, 288)
        assert digits.predict_output == TensorType(Dtype.I32, (32,), 10)
        assert not digits.keyed

    @pytest.mark.slow
    def test_the_reference_learns_from_the_description(self, digits: System) -> None:
        description = json.loads(json.dumps(describe(digits)))
        run = start(description, {field.name: field.rows for field in digits.data.fields})
        before = metrics(run)["metric.accuracy"]
        advance(run, 60)
        assert before < 0.3
        assert metrics(run)["metric.accuracy"] > 0.7
        assert run.losses[-1] < 0.8 * run.losses[0]

    def test_another_batch_is_another_system(self) -> None:
        evaluator, _ = open_package(None, "Digits.Run")
        small = evaluator.system("Digits.Run.baseline", batch=16)
        assert small.batch_fields[0].type.shape == (16, 64)
        assert evaluator.system("Digits.Run.baseline").batch_fields[0].type.shape == (32, 64)


class TestDefaults:
    def test_what_is_not_written_has_its_default(self, tmp_path: Path) -> None:
        evaluator, _ = tiny(tmp_path)
        system = evaluator.system(POLICY)
        assert not system.bundle
        assert system.shuffle == "EachEpoch"
        assert system.evaluate_every == 5
        assert (system.report.every, system.report.scalars) == (50, ("loss",))
        assert system.report.sinks == ("Terminal", "JsonLines")
        assert [rule.kind for rule in system.stop] == ["NotFinite"]
        assert system.may_move == ()
        assert system.data.fields[0].stored is Dtype.F32

    def test_initial_values_use_the_key_of_the_path(self, tmp_path: Path) -> None:
        evaluator, _ = tiny(tmp_path)
        graph = evaluator.system(POLICY).graph("initial")
        keys = [node for node in graph.nodes() if node.operation == "key"]
        assert [tuple(key.attribute(name) for name in ("k0", "k1", "step")) for key in keys] == [
            initialiser_key(3, "w")
        ]

    def test_a_scalar_parameter_trains_too(self, tmp_path: Path) -> None:
        evaluator, _ = tiny(tmp_path)
        system = evaluator.system(POLICY)
        run = start(
            json.loads(json.dumps(describe(system))),
            {field.name: field.rows for field in system.data.fields},
        )
        advance(run, 40)
        assert run.losses[-1] < 0.1 * run.losses[0]
        assert run.state["net.b"].shape == ()

    @pytest.mark.slow
    def test_resuming_may_change_what_is_left_out_of_the_texts(self, tmp_path: Path) -> None:
        texts = []
        changes = [
            ("", ""),
            ("steps      = 10", "steps      = 99"),
            ('"runs/tiny"', '"runs/other"'),
            ("seed       = 3", "seed       = 4"),
            ("constant 0.1", "constant 0.2"),
        ]
        for number, (old, new) in enumerate(changes):
            folder = tmp_path / str(number)
            folder.mkdir()
            system = tiny(folder, old, new)[0].system(POLICY)
            texts.append((system.policy_text, system.learner_text, system.data_text))
        base, steps, place, seed, rate = texts
        assert steps == base
        assert place == base
        assert seed[0] != base[0]
        assert seed[1:] == base[1:]
        assert rate[0] != base[0]

    def test_equal_inputs_give_equal_descriptions(self, tmp_path: Path) -> None:
        described = []
        for number in range(2):
            folder = tmp_path / str(number)
            folder.mkdir()
            described.append(describe(tiny(folder)[0].system(POLICY)))
        assert described[0] == described[1]


class TestWrongPolicies:
    @pytest.mark.parametrize(
        ("old", "new", "code"),
        [
            ("  batch      = 2\n", "  batch      = 0\n", "E0503"),
            ("  steps      = 10\n", "  steps      = -1\n", "E0503"),
            ("seed       = 3", "seed       = 18_446_744_073_709_551_616", "E0402"),
            ("seed       = 3", "seed       = -1", "E0402"),
            ("every = 5", "every = 0", "E0503"),
            ("keep = 1", "keep = 0", "E0503"),
            ('folder = "', 'folder = "\\u{0}', "E0710"),
            ("holdOut    = 2", "holdOut    = 3", "E0905"),
            ("holdOut    = 2", "holdOut    = 6", "E0905"),
            ("holdOut    = 2", "holdOut    = -2", "E0905"),
            ("holdOut    = 2", "evaluateEvery = 0", "E0503"),
            ("  steps      = 10\n", "", "E0710"),
            ("holdOut    = 2", "holdOutt   = 2", "E0710"),
            (
                "holdOut    = 2",
                'report     = { every = 1, scalars = ["accuracy"], to = [Terminal] }',
                "E0710",
            ),
            ("holdOut    = 2", 'stop = [Plateau { metric = "largets", patience = 1 }]', "E0710"),
            ("holdOut    = 2", 'stop = [Plateau { metric = "largest", patience = 0 }]', "E0503"),
            ('"Tiny/rows.csv"', '"Tiny/none.csv"', "E0901"),
            ('"Tiny/rows.csv"', '"../rows.csv"', "E0901"),
            ("columns = [0, 1]", "columns = [0]", "E0903"),
            ("header = True", "header = False", "E0904"),
            ("holdOut    = 2", 'start = Weights { file = "w", rename = [] }', "E0901"),
            ("normal 0.5", "glorot", "E0421"),
            ("holdOut    = 2", "batch2 = 2", "E0710"),
            ("runs/tiny", "/srv/tiny", "E0710"),
            ("runs/tiny", "../tiny", "E0710"),
            ("runs/tiny", "runs/../../tiny", "E0710"),
        ],
    )
    def test_each_wrong_entry_has_its_code(
        self, tmp_path: Path, old: str, new: str, code: str
    ) -> None:
        try:
            evaluator, diagnostics = tiny(tmp_path, old, new)
            evaluator.check_module("Tiny.Run")
            found = [item.code for item in diagnostics.errors]
        except Refused as refused:
            found = [item.code for item in refused.diagnostics]
        assert found == [code]

    def test_rules_may_name_the_loss_and_every_metric(self, tmp_path: Path) -> None:
        rules = (
            'stop = [Below { metric = "loss", value = 0.5 }, '
            'Plateau { metric = "largest", patience = 2 }]'
        )
        evaluator, _ = tiny(tmp_path, "holdOut    = 2", rules)
        first, second = evaluator.system(POLICY).stop
        assert (first.kind, first.metric, first.value) == ("Below", "loss", 0.5)
        assert (second.kind, second.metric, second.patience) == ("Plateau", "largest", 2)


class TestFaultsAreReportedOnce:
    def faults(self, folder: Path, body: str) -> list[str]:
        write_package(folder, {"Main": body})
        evaluator, diagnostics = open_package(folder, "Main")
        evaluator.check_module("Main")
        return [item.code for item in diagnostics.errors]

    def test_a_learner_and_its_policy_share_a_fault(self, tmp_path: Path) -> None:
        evaluator, diagnostics = tiny(
            tmp_path, "    mean[batch] (e * e)", "    mean[batch] (b.y * b.y)"
        )
        evaluator.check_module("Tiny.Run")
        assert [item.code for item in diagnostics.errors] == ["E0612"]

    def test_a_budget_is_used_up_once(self, tmp_path: Path) -> None:
        body = "module Main budget 100\n\n" + "".join(
            f"sum{n} : Int\nsum{n} = total (range 0 1_000)\n\n" for n in range(3)
        )
        assert self.faults(tmp_path, body) == ["E0502"]


KEYED = (
    TINY.replace(
        "  loss net (b : Batch [batch]) =\n    let e = net.forward b.x - b.y\n",
        "  loss net key (b : Batch [batch]) =\n"
        "    let e = net.forward (b.x + 0.01 * normalLike key b.x) - b.y\n",
    )
    .replace(
        "  metric largest",
        "  step net slots t key b =\n"
        "    let (value, g) = valueAndGrad (fn n x -> loss n key x) net b\n"
        "    let (net', slots') = optimizer.apply t net slots (clipByGlobalNorm 1.0 g)\n"
        "    { net = net', slots = slots', loss = value }\n\n"
        "  metric largest",
    )
    .replace("Tiny", "Keyed")
)


class TestKeyedLearners:
    def test_a_written_step_takes_the_key_and_evaluation_has_no_loss(self, tmp_path: Path) -> None:
        write_package(tmp_path, {"Keyed.Run": KEYED}, {"Keyed/rows.csv": ROWS})
        evaluator, diagnostics = open_package(tmp_path, "Keyed.Run")
        system = evaluator.system("Keyed.Run.baseline")
        assert not diagnostics.errors
        assert system.keyed
        assert names(system, "step")[0][-1] == "key"
        assert names(system, "evaluate")[1] == ["metric.largest"]
        for graph in system.graphs:
            verify(graph)
        run = start(describe(system), {field.name: field.rows for field in system.data.fields})
        advance(run, 40)
        assert numpy.mean(run.losses[-5:]) < 0.3 * run.losses[0]
