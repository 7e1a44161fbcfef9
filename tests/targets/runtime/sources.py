"""Small packages over every data source, built for real and trained again by the reference."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha import __version__
from alpha.evaluate.describe import describe
from alpha.evaluate.system import System
from packages import open_package
from semantics import train
from semantics.data import read_examples, read_weights
from targets.runtime.building import alpha

PAIRS = """\
module Pairs.Run

import Alpha.Optim (momentum)
import Alpha.Schedule (constant)

type Batch [batch] =
  { before : Tensor (index 256) [batch, 6], after : Tensor (index 256) [batch, 6] }

model Table [width] =
  param rows : Tensor f32 [256, width] = normal 0.5
  param back : Tensor f32 [width, 256] = glorot

  logits : Tensor (index 256) [batch, n] -> Tensor f32 [batch, n, 256]
  logits x = gather rows x @ back

table : Model (Table [4])
table = Table { width = 4 }

learner pairs =
  model     = table
  optimizer = momentum { momentum = 0.5, decay = 0.0 }

  loss net (b : Batch [batch]) = mean[batch, 1] (crossEntropy (net.logits b.before) b.after)

  metric worst net b = max (crossEntropy (net.logits b.before) b.after)

  predict net (x : Tensor (index 256) [batch, 6]) = net.logits x

policy baseline =
  learner    = pairs
  data       = bytes { file = "Pairs/corpus.bin", input = "before", target = "after", stride = 3 }
  bundle     = False
  batch      = 4
  steps      = 30
  seed       = 11
  rate       = constant 0.25
  holdOut    = 8
  checkpoint = { every = 10, keep = 2, folder = "runs/pairs" }
"""


def corpus(size: int = 400) -> bytes:
    """Bytes that use the whole range."""
    return bytes((i * i * 7 + i // 3 * 41) % 256 for i in range(size))


@dataclass(frozen=True, slots=True)
class Package:
    """A package with one system, whose program stands in the package's folder."""

    folder: Path
    name: str

    @property
    def module(self) -> str:
        return f"{self.name}.Run"

    def write(self, text: str, files: Mapping[str, bytes]) -> None:
        place = self.folder / self.name / "Run.alpha"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        lock = ""
        for path, data in sorted(files.items()):
            (self.folder / path).write_bytes(data)
            lock += f"{hashlib.sha256(data).hexdigest()}  {path}\n"
        (self.folder / "alpha.lock").write_text(lock)

    def system(self) -> System:
        evaluator, _ = open_package(self.folder, self.module)
        return evaluator.system(f"{self.module}.baseline")

    def reference(self, system: System, steps: int) -> train.Run:
        description: dict[str, Any] = json.loads(json.dumps(describe(system)))
        run = train.start(
            description,
            read_examples(description, self.folder),
            read_weights(description, self.folder),
        )
        train.advance(run, steps)
        return run

    def build(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        return alpha(self.folder, "build", self.name, *options, "-o", "program")

    def run(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["./program", *arguments],
            cwd=self.folder,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def checkpoint(self, step: int) -> Path:
        return self.folder / "runs" / self.name.lower() / f"step-{step:08d}.safetensors"


def reference_checkpoint(run: train.Run) -> bytes:
    return train.checkpoint(run, __version__)
