"""Trains a described system and writes its checkpoint.

    python -m semantics DESCRIPTION.json systems --steps 200 --alpha 0.1.0 -o step-00000200.safetensors

DESCRIPTION is the JSON of `alpha.evaluate.describe.describe`; the folder is the one that the paths of its data files
are relative to. Prints the losses of every 50th step, the metrics after the last, and the SHA-256 of the checkpoint,
which is that of the file an executable writes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

from semantics import sample, train
from semantics.data import read_examples, read_weights


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m semantics", description="Train in numpy.")
    parser.add_argument("description", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument(
        "--alpha", default="0.1.0", help="the compiler's version that the checkpoint names"
    )
    parser.add_argument("-o", "--output", type=Path, help="where the checkpoint is written")
    parser.add_argument("--prompt", help="sample from a learner of bytes after the last step")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    description = json.loads(options.description.read_text("utf-8"))
    run = train.start(
        description,
        read_examples(description, options.folder),
        read_weights(description, options.folder),
    )
    while run.step < options.steps:
        train.advance(run, min(50, options.steps - run.step))
        print(f"step {run.step}  loss {run.losses[-1]}")
    for name, value in train.metrics(run).items():
        print(f"{name} {value}")
    content = train.checkpoint(run, options.alpha)
    print(f"sha256 {hashlib.sha256(content).hexdigest()}")
    if options.prompt is not None:
        prompt, how = options.prompt.encode(), (options.temperature, options.seed)
        print(f"sample {sample.sample(run, prompt, options.count, *how)!r}")
    if options.output is not None:
        options.output.write_bytes(content)


if __name__ == "__main__":
    main()
