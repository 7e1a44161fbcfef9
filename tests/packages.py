"""Small packages of Alpha modules for tests: written to a folder, checked and handed to an evaluator."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from alpha.check.modules import LoadedModule, SourceRoots, load
from alpha.check.program import check
from alpha.core.term import Program
from alpha.diagnostics.diagnostic import Diagnostics
from alpha.evaluate.demands import Demands
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess


def write_package(
    folder: Path, modules: Mapping[str, str], files: Mapping[str, str] | None = None
) -> None:
    """Modules by name, other files by path; the files are locked."""
    for name, text in modules.items():
        place = folder / (name.replace(".", "/") + ".alpha")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    lock = ""
    for path, text in (files or {}).items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        lock += f"{hashlib.sha256(text.encode()).hexdigest()}  {path}\n"
    (folder / "alpha.lock").write_text(lock, "utf-8")


def open_package(
    folder: Path | None, *names: str, demands: Demands = lambda system, target: ()
) -> tuple[Evaluator, Diagnostics]:
    """The evaluator of the modules `names` and what they import. `None` opens what is shipped."""
    diagnostics = Diagnostics()
    modules = load(SourceRoots.open(folder), names, diagnostics)
    return evaluator_of(check(modules, diagnostics), modules, diagnostics, demands), diagnostics


def evaluator_of(
    program: Program,
    modules: Sequence[LoadedModule],
    diagnostics: Diagnostics,
    demands: Demands = lambda system, target: (),
) -> Evaluator:
    """The evaluator of a checked program, which reads the files beside its modules."""
    files = FileAccess.of_modules({module.name: module.path for module in modules})
    return Evaluator(program, files=files, diagnostics=diagnostics, demands=demands)


TINY = """\
module Tiny.Run

import Alpha.Optim (momentum)
import Alpha.Schedule (constant)

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
  optimizer = momentum { momentum = 0.5, decay = 0.0 }

  loss net (b : Batch [batch]) =
    let e = net.forward b.x - b.y
    mean[batch] (e * e)

  metric largest net b = max (abs (net.forward b.x - b.y))

  predict net (x : Tensor f32 [batch, 2]) = net.forward x

policy baseline =
  learner    = fit
  data       = csv
    { file = "Tiny/rows.csv"
    , header = True
    , fields = [{ name = "x", columns = [0, 1] }, { name = "y", columns = [2] }]
    }
  batch      = 2
  steps      = 10
  seed       = 3
  rate       = constant 0.1
  holdOut    = 2
  checkpoint = { every = 5, keep = 1, folder = "runs/tiny" }
"""

ROWS = "a,b,y\n1,0,1\n0,1,2\n1,1,3\n0.5,0,0.5\n0,0.5,1\n2,0,2\n"


def tiny(folder: Path, old: str = "", new: str = "") -> tuple[Evaluator, Diagnostics]:
    """The package `Tiny`, with one passage replaced."""
    assert old in TINY
    write_package(
        folder, {"Tiny.Run": TINY.replace(old, new) if old else TINY}, {"Tiny/rows.csv": ROWS}
    )
    return open_package(folder, "Tiny.Run")
