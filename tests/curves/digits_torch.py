"""Re-derives the loss curve of Digits in torch, from the same initial weights, batches and rates.

    alpha view Digits --stage system > digits.json
    PYTHONPATH=reference python tests/curves/digits_torch.py digits.json systems

Needs a Python with torch and numpy. The model, its loss and AdamW are torch's own; only the starting weights, the order
of the examples and the rate come from the reference semantics. The curve is written to `digits_torch.json` beside this
file, where `tests/laws/test_loss_curve.py` compares it with what Alpha computes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy
import torch

from semantics import train
from semantics.data import read_examples
from semantics.evaluate import evaluate
from semantics.order import batch_rows

STEPS = 50
BETA1, BETA2, EPSILON, DECAY = 0.9, 0.95, 1e-8, 0.01


def main() -> None:
    description = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    rows = read_examples(description, Path(sys.argv[2]))
    run = train.start(description, rows)
    net = [
        torch.tensor(numpy.array(run.state[f"net.{name}"]), requires_grad=True)
        for name in ("w1", "b1", "w2", "b2")
    ]
    optimizer = torch.optim.AdamW(net, betas=(BETA1, BETA2), eps=EPSILON, weight_decay=DECAY)
    losses = []
    for step in range(1, STEPS + 1):
        rate = evaluate(run.graph("rate"), {"step": numpy.uint32(step)})["rate"]
        places = batch_rows(
            description["seed"], step, description["batch"], run.examples, description["shuffle"]
        )
        batch = run.batch(places)
        image = torch.from_numpy(numpy.array(batch["batch.image"]))
        label = torch.from_numpy(numpy.array(batch["batch.label"], dtype=numpy.int64))
        w1, b1, w2, b2 = net
        hidden = torch.relu(image * 0.0625 @ w1 + b1)
        loss = torch.nn.functional.cross_entropy(hidden @ w2 + b2, label)
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    record = {"torch": torch.__version__, "losses": losses}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"{path.name}: {losses[0]:.6f} ... {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
