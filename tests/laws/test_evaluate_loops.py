"""`through` and `iterate` are evaluated once: no graph grows with their turns."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from alpha.evaluate.describe import describe
from alpha.evaluate.system import System
from alpha.graph.node import Graph
from alpha.graph.passes import optimise
from alpha.graph.verify import verify
from packages import ROWS, TINY, open_package, write_package
from semantics.train import advance, start

LINE = TINY[TINY.index("model Line") : TINY.index("line :")]
DEEP = """\
model Layer [n] =
  param w : Tensor f32 [n, n] = normal 0.5

  forward : u32 -> Key -> Tensor f32 [batch, n] -> Tensor f32 [batch, n]
  forward i key x = tanh (x @ w) + uniformLike key x * cast f32 i

model Line [layers, inputs] =
  param blocks : Stack layers (Layer [inputs])
  param w      : Tensor f32 [inputs] = normal 0.5

  noisy : Key -> Tensor f32 [batch, inputs] -> Tensor f32 [batch]
  noisy key x = through blocks (fn i block -> block.forward i (derive key i)) x @ w

  forward : Tensor f32 [batch, inputs] -> Tensor f32 [batch]
  forward x = through blocks (fn i block y -> tanh (y @ block.w)) x @ w

"""


def deep(folder: Path, layers: int) -> System:
    """The system of `Tiny` with a model of that many layers, whose loss draws in each of them."""
    run = TINY.replace(LINE, DEEP).replace("Line [2]", f"Line [{layers}, 2]")
    run = run.replace("Line { inputs = 2 }", f"Line {{ layers = {layers}, inputs = 2 }}")
    run = run.replace("loss net (b", "loss net key (b").replace(
        "let e = net.forward b.x", "let e = net.noisy key b.x"
    )
    write_package(folder, {"Tiny.Run": run}, {"Tiny/rows.csv": ROWS})
    evaluator, diagnostics = open_package(folder, "Tiny.Run")
    system = evaluator.system("Tiny.Run.baseline")
    assert not diagnostics.items
    return system


def nodes_in(graph: Graph) -> int:
    bodies = [node.loop.body for node in graph.nodes() if node.loop is not None]
    return len(list(graph.nodes())) + sum(map(nodes_in, bodies))


def test_no_graph_grows_with_the_layers(tmp_path: Path) -> None:
    few, many = deep(tmp_path / "few", 2), deep(tmp_path / "many", 200)
    for a, b in zip(few.graphs, many.graphs, strict=True):
        verify(b)
        assert nodes_in(a) == nodes_in(b), a.name
        assert nodes_in(optimise(a)) == nodes_in(optimise(b)), a.name


def test_the_layers_of_a_step_run_forwards_once_and_backwards_once(tmp_path: Path) -> None:
    step = optimise(deep(tmp_path, 5).graph("step"))
    loops = [node.loop for node in step.nodes() if node.loop is not None]
    assert [(loop.count, loop.backward) for loop in loops] == [(5, False), (5, True)]


@pytest.mark.slow
def test_a_model_of_layers_learns(tmp_path: Path) -> None:
    rows = numpy.array([list(map(float, line.split(","))) for line in ROWS.splitlines()[1:]])
    fields = {"x": rows[:, :2], "y": rows[:, 2]}
    run = start(describe(deep(tmp_path, 3)), {k: v.astype("f4") for k, v in fields.items()})
    advance(run, 40)
    assert numpy.isfinite(run.losses).all()
    assert numpy.mean(run.losses[-8:]) < numpy.mean(run.losses[:8])


def codes(folder: Path, text: str) -> list[str]:
    write_package(folder, {"Main": f"module Main\n\n{text}"})
    evaluator, diagnostics = open_package(folder, "Main")
    evaluator.check_module("Main")
    return [item.code for item in diagnostics.items if not item.code.startswith("W")]


def test_a_key_of_the_module_is_from_outside_every_loop(tmp_path: Path) -> None:
    drawn = """\
key : Key
key = keyFrom 7

walk : Tensor f32 [8]
walk = iterate 3 (fn x -> x + uniformLike key x) (fill [8] 0.0)
"""
    assert codes(tmp_path, drawn) == ["E0603"]


def test_a_carried_key_is_used_by_that(tmp_path: Path) -> None:
    drawn = """\
again : (Tensor f32 [8], Key)
again =
  let key = keyFrom 7
  let (x, _) = iterate 3 (fn (y, k) -> (y, k)) (fill [8] 0.0, key)
  (x + uniformLike key x, keyFrom 8)
"""
    assert codes(tmp_path, drawn) == ["E0601"]


def test_a_carried_number_is_staged(tmp_path: Path) -> None:
    chosen = """\
chosen : (Tensor f32 [8], f32)
chosen = iterate 3 (fn (x, n) -> if n < 2.0 then (x, n + 1.0) else (x, n)) (fill [8] 0.0, 0.0)
"""
    assert codes(tmp_path, chosen) == ["E0409"]


def test_loops_stand_in_each_other_up_to_a_depth(tmp_path: Path) -> None:
    text = "f0 : f32 -> f32\nf0 x = x * 0.5\n\n"
    for place in range(1, 10):
        text += f"f{place} : f32 -> f32\nf{place} x = iterate 2 f{place - 1} x\n\n"
    start = "sum (fill [1] 1.0)"
    assert codes(tmp_path / "8", f"{text}y : f32\ny = f8 ({start})\n") == []
    assert codes(tmp_path / "9", f"{text}y : f32\ny = f9 ({start})\n") == ["E0502"]
