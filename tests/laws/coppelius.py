"""Packages that train the model of Coppelius in other sizes, as a package of a user's own would.

python -m laws.coppelius FOLDER     writes the one that `tests/curves/coppelius_torch.py` follows
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from alpha.base.record import record
from alpha.check.source_roots import shipped_folders

NAME = "Own"


@record
class Size:
    """The sizes of a model and of a run. `vocab` other than 256 reads `ids.npy` and `next.npy` instead of a text."""

    context: int
    layers: int
    width: int
    heads: int
    batch: int
    steps: int
    vocab: int = 256
    dropout: str = "0.05"
    report: int = 1
    hold_out: int | None = None

    @property
    def parameters(self) -> int:
        """How many elements all parameters have together."""
        block = 12 * self.width * self.width + 2 * self.width
        return (self.vocab + self.context + 1) * self.width + self.layers * block


CURVE = Size(context=64, layers=2, width=64, heads=4, batch=4, steps=100)
"""The model of `Coppelius.Model` itself, on smaller batches."""
SMALL = Size(context=16, layers=2, width=16, heads=2, batch=2, steps=4)
"""As small as the reference wants it."""
LARGE = Size(
    context=256, layers=6, width=384, heads=6, batch=2, steps=2, vocab=4_096, report=1, hold_out=2
)
"""12 million parameters."""


def modules(size: Size) -> dict[str, str]:
    """The package's modules by name: a learner that takes the model of Coppelius in this size, and a policy."""
    ids = f"Tensor (index {size.vocab}) [batch, {size.context}]"
    head = size.width // size.heads
    sizes = f"{size.vocab}, {size.context}, {size.layers}, {size.width}, {size.heads}, {head}"
    if size.vocab == 256:
        source = f"""bytes
      {{ file = "{NAME}/text.txt", input = "ids", target = "next", stride = {size.context} }}"""
    else:
        source = f"""npy
      [{{ name = "ids", file = "{NAME}/ids.npy" }}, {{ name = "next", file = "{NAME}/next.npy" }}]"""
    learner = f"""\
module {NAME}.Learner exposing (ownBytes)

import Coppelius.Model (Gpt)
import Alpha.Optim (adamW, adamWDefaults)

type Batch [batch] =
  {{ ids : {ids}
  , next : {ids}
  }}

own : Model (Gpt [{sizes}])
own =
  Gpt
    {{ vocab = {size.vocab}
    , context = {size.context}
    , layers = {size.layers}
    , width = {size.width}
    , heads = {size.heads}
    , headDim = {head}
    }}

proof parameterCount = countParams own == {size.parameters:_}

learner ownBytes =
  model     = own
  optimizer = adamW adamWDefaults

  loss net key (b : Batch [batch]) = mean (crossEntropy (net.forward {size.dropout} key b.ids) b.next)

  step net slots t key b =
    let (value, g) = valueAndGrad (fn n x -> loss n key x) net b
    let (net', slots') = optimizer.apply t net slots (clipByGlobalNorm 1.0 g)
    {{ net = net', slots = slots', loss = value }}

  metric bitsPerByte net b =
    mean (crossEntropy (net.forward 0.0 (keyFrom 0) b.ids) b.next) / log 2.0
"""
    run = f"""\
module {NAME}.Run exposing (baseline)

import {NAME}.Learner (ownBytes)
import Alpha.Schedule (warmupCosine)

policy baseline =
  learner       = ownBytes
  data          =
    {source}
  holdOut       = {size.batch if size.hold_out is None else size.hold_out}
  batch         = {size.batch}
  steps         = {size.steps}
  seed          = 1816
  rate          = warmupCosine {{ peak = 5e-3, floor = 5e-4, warmup = 100.0, steps = 1_500.0 }}
  evaluateEvery = {size.steps}
  checkpoint    = {{ every = {size.steps}, keep = 1, folder = "runs/own" }}
  report        = {{ every = {size.report}, scalars = ["loss"], to = [Terminal, JsonLines] }}
"""
    return {f"{NAME}.Learner": learner, f"{NAME}.Run": run}


def corpus() -> bytes:
    """The text that Coppelius trains on."""
    (systems,) = (folder for label, folder in shipped_folders() if label == "systems/")
    return (systems / "Coppelius" / "data" / "corpus.txt").read_bytes()


def write(folder: Path, size: Size, files: dict[str, bytes] | None = None) -> Path:
    """The package, with its lock. `files` are by name; the text of Coppelius if none are given."""
    lock = ""
    (folder / NAME).mkdir(parents=True)
    for name, text in modules(size).items():
        (folder / (name.replace(".", "/") + ".alpha")).write_text(text, "utf-8")
    for name, content in (files or {"text.txt": corpus()}).items():
        (folder / NAME / name).write_bytes(content)
        lock += f"{hashlib.sha256(content).hexdigest()}  {NAME}/{name}\n"
    (folder / "alpha.lock").write_text(lock, "utf-8")
    return folder


if __name__ == "__main__":
    write(Path(sys.argv[1]), CURVE)
