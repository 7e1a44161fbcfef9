"""What `alpha test` runs is what the reference says: each program gives the reference's bits, each verdict is its."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from alpha.base.host import HostTarget
from alpha.diagnostics.diagnostic import Refused
from alpha.driver import testing
from alpha.driver.checking import checked
from alpha.driver.session import Session
from alpha.evaluate.proofs import TEST
from alpha.evaluate.tests import HELD, Trial, result_bytes, result_texts
from alpha.graph.text import to_text
from alpha.targets import HOSTS
from alpha.targets.names import of_machine
from kernel_runner import to_memory
from packages import write_package
from requirements import require_tool
from semantics.evaluate import evaluate
from semantics.graph import read_graph

MODULE = """\
module Main

import Alpha.Nn (dropout, gelu, rmsNorm)

noise : Key -> Tensor f32 [6, 5]
noise key = normalLike key (fill [6, 5] 0.0)

test drawn =
  let x = noise (keyFrom 1)
  let y = dropout 0.25 (derive (keyFrom 2) 7) x
  abs (mean y - mean x) < 0.5

test normalised =
  let x = 2 * rmsNorm (noise (keyFrom 4))
  max (abs (mean[1] (x * x) - 4)) < 0.1

test differentiated =
  let x = noise (keyFrom 3)
  let f = fn v (w : Tensor f32 [5]) -> sum (gelu (v @ w))
  sum (grad f x (fill [5] 0.5)) > 3.0

test prime' =
  let a = uniformLike (keyFrom 9) (fill [17] 0.0)
  let best = argmax[0] a
  sum (oneHot best * a) == max a

test false = sum (noise (keyFrom 5)) == 0.0

test together = all (fn n -> n > 0) [1, 2, 3] and sum (fill [40] 1.0) == 40.0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_package(tmp_path, {"Main": MODULE})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_programs_of_tests_give_the_bits_of_the_reference(folder: Path, host: HostTarget) -> None:
    emulator = [] if host.machine == 62 else [require_tool("qemu-aarch64-static")]
    with Session.open(folder) as session:
        front = checked(session, ["Main", host.profile.rpartition(".")[0]])
        assert not session.diagnostics.errors
        module = next(module for module in front.program.modules if module.name == "Main")
        proofs = [proof for proof in module.proofs if proof.kind == TEST]
        tests = [test for proof in proofs if isinstance(test := front.evaluator.test(proof), Trial)]
        assert len(tests) == 6
        graphs = tuple(test.graph for test in tests if test.graph is not None)
        image = testing.program_of(session, front, host, graphs)
    program = folder / "tests"
    program.write_bytes(image)
    program.chmod(0o700)
    data = subprocess.run([*emulator, program], capture_output=True, check=True).stdout
    place = 0
    for graph in graphs:
        found = data[place : place + result_bytes(graph)]
        place += len(found)
        reference = evaluate(read_graph(to_text(graph)), {})
        expected = b"".join(
            to_memory(node.type.dtype, reference[name]) for name, node in graph.outputs
        )
        assert found == expected, graph.name
        assert result_texts(graph, found)[HELD] == str(graph.name != "test.Main.false")
    assert place == len(data)


@pytest.mark.slow
def test_a_verdict_is_what_the_program_says(folder: Path) -> None:
    with Session.open(folder) as session:
        found = testing.run_tests(session, ["Main"], None)
    assert [item.proof.symbol for item in found if not item.passed] == ["Main.false"]
    (fault,) = [item.fault for item in found if item.fault is not None]
    assert fault.code == "P0003"
    assert any(label.text.startswith("`sum (noise (keyFrom 5))` is ") for label in fault.labels)


@pytest.mark.slow
def test_the_tests_that_come_with_alpha_pass(tmp_path: Path) -> None:
    with Session.open(tmp_path) as session:
        names = [
            name
            for name, found in session.roots.modules().items()
            if re.search(r"^test ", found.file.read_text("utf-8"), re.MULTILINE)
        ]
        assert "Alpha.Tests.Nn" in names
        found = testing.run_tests(session, names, None)
    assert [item.proof.symbol for item in found if not item.passed] == []


@pytest.mark.parametrize(
    ("system", "processor", "name"),
    [
        ("Darwin", "arm64", "aarch64-darwin"),
        ("Windows", "AMD64", "x86_64-windows"),
        ("Linux", "riscv64", "riscv64-linux"),
    ],
)
def test_a_machine_that_no_target_is_for_is_refused(system: str, processor: str, name: str) -> None:
    with pytest.raises(Refused) as refused:
        of_machine(system, processor)
    (fault,) = refused.value.diagnostics
    assert fault.code == "T0405"
    assert f"`{name}`" in fault.message


def test_the_machines_of_the_targets_are_known() -> None:
    assert of_machine("Linux", "x86_64").name == "x86_64-linux"
    assert of_machine("Linux", "aarch64").name == "aarch64-linux"
