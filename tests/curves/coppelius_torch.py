"""Re-derives a loss curve of Coppelius's model in torch, from the same initial weights, batches, rates and masks.

    PYTHONPATH=tests python -m laws.coppelius FOLDER
    cd FOLDER && alpha view Own --stage system > system.json
    PYTHONPATH=reference python tests/curves/coppelius_torch.py system.json FOLDER

The first two need Alpha, the last a Python with torch and numpy. The model is that of `Coppelius.Model`, on
batches of 4. The model, its loss, the clipping and AdamW are torch's own; the starting weights, the order of the
windows, the rate and what dropout keeps come from the reference semantics. It is written to `coppelius_torch.json`
beside this file; `tests/targets/runtime/test_coppelius.py` compares it with what an executable logs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy
import torch
from torch.nn import functional

from semantics import philox, train
from semantics.data import read_examples
from semantics.evaluate import evaluate
from semantics.order import batch_rows

STEPS = 100
BETA1, BETA2, EPSILON, DECAY = 0.9, 0.95, 1e-8, 0.1
DROPOUT = 0.05
LAYERS = 2


def dropped(x: torch.Tensor, key: philox.Key) -> torch.Tensor:
    kept = torch.from_numpy(philox.uniform(key, tuple(x.shape)) >= numpy.float32(DROPOUT))
    return x * kept / (1 - DROPOUT)


def normalised(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)


def attend(x: torch.Tensor, qkv: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    q, k, v = torch.einsum("btw,wchd->cbhtd", x, qkv)
    mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    return torch.einsum("bhtd,hdw->btw", mixed, out)


def logits(net: dict[str, torch.Tensor], ids: torch.Tensor, key: philox.Key) -> torch.Tensor:
    x = net["token"][ids] + net["position"]
    for layer in range(LAYERS):
        own = {name: value[layer] for name, value in net.items() if name.startswith("blocks.")}
        derived = philox.child(key, 2, layer)
        first, second = philox.child(derived, 1, 0), philox.child(derived, 1, 1)
        seen = normalised(x) * own["blocks.norm1"]
        x = x + dropped(attend(seen, own["blocks.qkv"], own["blocks.out"]), first)
        hidden = functional.gelu((normalised(x) * own["blocks.norm2"]) @ own["blocks.up"])
        x = x + dropped(hidden @ own["blocks.down"], second)
    return (normalised(x) * net["norm"]) @ net["token"].T


def losses_of(description: dict[str, Any], folder: Path) -> list[float]:
    run = train.start(description, read_examples(description, folder))
    net = {
        item["name"]: torch.tensor(
            numpy.array(run.state[f"net.{item['name']}"]), requires_grad=True
        )
        for item in description["parameters"]
    }
    optimizer = torch.optim.AdamW(
        net.values(), betas=(BETA1, BETA2), eps=EPSILON, weight_decay=DECAY
    )
    seed, losses = description["seed"], []
    for step in range(1, STEPS + 1):
        rate = evaluate(run.graph("rate"), {"step": numpy.uint32(step)})["rate"]
        places = batch_rows(seed, step, description["batch"], run.examples, description["shuffle"])
        batch = run.batch(places)
        ids, following = (
            torch.from_numpy(numpy.array(batch[f"batch.{name}"], dtype=numpy.int64))
            for name in ("ids", "next")
        )
        found = logits(net, ids, philox.step_key(seed, step))
        loss = functional.cross_entropy(found.flatten(0, 1), following.flatten())
        for group in optimizer.param_groups:
            group["lr"] = float(rate)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.values(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> None:
    description = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    losses = losses_of(description, Path(sys.argv[2]))
    record = {"torch": torch.__version__, "losses": losses}
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"{path.name}: {losses[0]:.6f} ... {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
