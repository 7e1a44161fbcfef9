"""Re-derives the loss curve of Olimpia in torch, from the same initial weights, batches and rates.

    alpha view Olimpia --stage system > olimpia.json
    PYTHONPATH=reference python tests/curves/olimpia_torch.py olimpia.json systems

Needs a Python with torch and numpy. The model, its loss and the optimizer are torch's own; only the starting weights,
the order of the examples and the rate come from the reference semantics. The curve, and the accuracy on the held-out
examples after all steps of the policy, are written to `olimpia_torch.json` beside this file, where
`tests/targets/runtime/test_olimpia.py` compares the curve with what Alpha computes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy
import torch
from torch.nn.functional import conv2d, cross_entropy, max_pool2d, relu

from semantics import train
from semantics.data import read_examples
from semantics.evaluate import evaluate
from semantics.order import batch_rows

RECORDED, STEPS = 100, 1000
MOMENTUM, DECAY = 0.9, 1e-4
NAMES = ("w1", "b1", "w2", "b2", "w3", "b3")


def logits(net: list[torch.Tensor], image: torch.Tensor) -> torch.Tensor:
    """Images are [n, h, w, 1] and weights [kh, kw, i, o], as in Alpha; torch has channels in front."""
    w1, b1, w2, b2, w3, b3 = net
    x = (image * 0.0625).permute(0, 3, 1, 2)
    x = max_pool2d(relu(conv2d(x, w1.permute(3, 2, 0, 1), b1, padding=1)), 2)
    x = max_pool2d(relu(conv2d(x, w2.permute(3, 2, 0, 1), b2, padding=1)), 2)
    return x.permute(0, 2, 3, 1).reshape(len(image), -1) @ w3 + b3


def tensors(batch: dict[str, numpy.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    image = torch.from_numpy(numpy.array(batch["batch.image"]))
    return image, torch.from_numpy(numpy.array(batch["batch.label"], dtype=numpy.int64))


def main() -> None:
    description = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    run = train.start(description, read_examples(description, Path(sys.argv[2])))
    net = [torch.tensor(numpy.array(run.state[f"net.{n}"]), requires_grad=True) for n in NAMES]
    optimizer = torch.optim.SGD(net, momentum=MOMENTUM, weight_decay=DECAY)
    batch, seed, shuffle = (description[key] for key in ("batch", "seed", "shuffle"))
    losses = []
    for step in range(1, STEPS + 1):
        rate = evaluate(run.graph("rate"), {"step": numpy.uint32(step)})["rate"]
        places = batch_rows(seed, step, batch, run.examples, shuffle)
        image, label = tensors(run.batch(places))
        loss = cross_entropy(logits(net, image), label)
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    hits, count = 0, int(description["holdOut"])
    first = int(description["data"]["examples"]) - count
    for start in range(first, first + count, batch):
        image, label = tensors(run.batch(numpy.arange(start, start + batch)))
        hits += int((logits(net, image).argmax(-1) == label).sum())
    record = {"torch": torch.__version__, "accuracy": hits / count, "losses": losses[:RECORDED]}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"{path.name}: {losses[0]:.6f} ... {losses[-1]:.6f}, accuracy {hits / count:.4f}")


if __name__ == "__main__":
    main()
