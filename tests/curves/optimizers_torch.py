"""Re-derives the loss curves of the library's optimizers on a small problem, in torch.

    python tests/curves/optimizers_torch.py

Needs torch alone: a line through six points, from fixed weights, two points a step in their order. `torch.optim` has no
lion, so that one is written out here from algorithm 2 of its paper (arXiv 2302.06675). The curves are written to
`optimizers_torch.json` beside this file, where `tests/laws/test_library.py` compares them with those of `Alpha.Optim`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import torch

STEPS = 40
RATE = 0.05
ROWS = [(1, 0, 1), (0, 1, 2), (1, 1, 3), (0.5, 0, 0.5), (0, 0.5, 1), (2, 0, 2)]


class Lion(torch.optim.Optimizer):
    def __init__(self, params: Iterable[torch.Tensor], beta1: float, beta2: float, decay: float):
        super().__init__(params, {"beta1": beta1, "beta2": beta2, "decay": decay})

    def step(self) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                direction = torch.sign(group["beta1"] * m + (1 - group["beta1"]) * p.grad)
                p.data -= RATE * (direction + group["decay"] * p.data)
                m.mul_(group["beta2"]).add_((1 - group["beta2"]) * p.grad)


OPTIMIZERS: dict[str, Callable[[list[torch.Tensor]], torch.optim.Optimizer]] = {
    "sgd": lambda net: torch.optim.SGD(net, RATE),
    "momentum": lambda net: torch.optim.SGD(net, RATE, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda net: torch.optim.SGD(
        net, RATE, momentum=0.9, weight_decay=0.01, nesterov=True
    ),
    "rmsProp": lambda net: torch.optim.RMSprop(net, RATE, 0.99, 1e-8),
    "adamW": lambda net: torch.optim.AdamW(net, RATE, (0.9, 0.99), 1e-8, 0.1),
    "lion": lambda net: Lion(net, 0.9, 0.99, 0.1),
}


def losses(make: Callable[[list[torch.Tensor]], torch.optim.Optimizer]) -> list[float]:
    w, b = torch.tensor([0.5, 0.5], requires_grad=True), torch.tensor(0.25, requires_grad=True)
    optimizer = make([w, b])
    found = []
    for step in range(STEPS):
        first = 2 * step % len(ROWS)
        rows = torch.tensor(ROWS[first : first + 2], dtype=torch.float32)
        loss = ((rows[:, :2] @ w + b - rows[:, 2]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def main() -> None:
    curves = {name: losses(make) for name, make in OPTIMIZERS.items()}
    path = Path(__file__).with_suffix(".json")
    record = {"torch": torch.__version__, "losses": curves}
    path.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    for name, curve in curves.items():
        print(f"{name}: {curve[0]:.6f} ... {curve[-1]:.6f}")


if __name__ == "__main__":
    main()
