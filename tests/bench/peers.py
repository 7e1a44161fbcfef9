"""The training step of Digits in torch and JAX: run by a Python that has them, prints one JSON line a peer.

    python tests/bench/peers.py systems/Digits/data/digits.csv STEPS THREADS

The work is the same as the executable's: batches of 32 gathered from the 1,509 training rows in a fixed order, the
two-layer classifier, the mean cross-entropy, its gradient, AdamW with decoupled decay, and a rate that changes every
step. A line holds `peer`, `steps_per_second` (median of 5 runs after a warm-up run) and `final_loss`.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy

BATCH, TRAINING_ROWS, RUNS = 32, 1509, 5
WIDTHS = (64, 32, 10)
RATE, BETA1, BETA2, EPSILON, DECAY = 3e-3, 0.9, 0.95, 1e-8, 0.01


def main() -> None:
    path, steps, threads = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rows = numpy.loadtxt(path, delimiter=",", dtype=numpy.float32)[:TRAINING_ROWS]
    images, labels = rows[:, :64], rows[:, 64].astype(numpy.int64)
    generator = numpy.random.default_rng(1)
    order = generator.integers(0, TRAINING_ROWS, (steps, BATCH))
    first = generator.uniform(-0.2, 0.2, (WIDTHS[0], WIDTHS[1])).astype(numpy.float32)
    second = generator.uniform(-0.3, 0.3, (WIDTHS[1], WIDTHS[2])).astype(numpy.float32)
    rates = (RATE * numpy.minimum(1, (numpy.arange(steps) + 1) / 50)).astype(numpy.float32)
    weights = [first, numpy.zeros(WIDTHS[1], "f4"), second, numpy.zeros(WIDTHS[2], "f4")]
    if importlib.util.find_spec("torch"):
        for name, fused in (("torch eager", False), ("torch eager fused", True)):
            run = torch_run(images, labels, order, rates, weights, threads, fused)
            report(name, run, steps)
    if importlib.util.find_spec("jax"):
        report("jax jit", jax_run(images, labels, order, rates, weights, scan=False), steps)
        report("jax scan", jax_run(images, labels, order, rates, weights, scan=True), steps)


def report(name: str, run: Callable[[], float], steps: int) -> None:
    run()
    seconds = []
    for _ in range(RUNS):
        begin = time.perf_counter()
        loss = run()
        seconds.append(time.perf_counter() - begin)
    speed = steps / statistics.median(seconds)
    print(json.dumps({"peer": name, "steps_per_second": speed, "final_loss": loss}), flush=True)


def torch_run(images, labels, order, rates, weights, threads, fused):  # type: ignore[no-untyped-def]
    import torch

    torch.set_num_threads(threads)
    image_rows, label_rows = torch.from_numpy(images), torch.from_numpy(labels)
    places = torch.from_numpy(order)

    def run() -> float:
        w1, b1, w2, b2 = (torch.tensor(value, requires_grad=True) for value in weights)
        optimizer = torch.optim.AdamW(
            [w1, b1, w2, b2],
            lr=RATE,
            betas=(BETA1, BETA2),
            eps=EPSILON,
            weight_decay=DECAY,
            fused=fused,
        )
        for step in range(len(order)):
            optimizer.param_groups[0]["lr"] = float(rates[step])
            x, y = image_rows[places[step]], label_rows[places[step]]
            hidden = torch.relu(torch.addmm(b1, x * 0.0625, w1))
            loss = torch.nn.functional.cross_entropy(torch.addmm(b2, hidden, w2), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        return loss.item()

    return run


def jax_run(images, labels, order, rates, weights, scan):  # type: ignore[no-untyped-def]
    import jax
    from jax import numpy as jnp

    image_rows, label_rows = jnp.asarray(images), jnp.asarray(labels)
    places, rate_row = jnp.asarray(order), jnp.asarray(rates)

    def loss_of(net, x, y):
        w1, b1, w2, b2 = net
        logits = jax.nn.relu((x * 0.0625) @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    def step(carry, item):
        net, m, v, number = carry
        where, rate = item
        loss, g = jax.value_and_grad(loss_of)(net, image_rows[where], label_rows[where])
        m = [BETA1 * a + (1 - BETA1) * b for a, b in zip(m, g, strict=True)]
        v = [BETA2 * a + (1 - BETA2) * b * b for a, b in zip(v, g, strict=True)]
        first, second = 1 - BETA1**number, 1 - BETA2**number
        net = [
            p - rate * DECAY * p - rate * (a / first) / (jnp.sqrt(b / second) + EPSILON)
            for p, a, b in zip(net, m, v, strict=True)
        ]
        return (net, m, v, number + 1), loss

    def begin():
        net = [jnp.asarray(value) for value in weights]
        zeros = [jnp.zeros_like(value) for value in net]
        return (net, zeros, zeros, jnp.float32(1))

    whole = jax.jit(lambda carry: jax.lax.scan(step, carry, (places, rate_row)))
    single = jax.jit(step)

    def run() -> float:
        carry = begin()
        if scan:
            _, losses = whole(carry)
            return float(losses[-1])
        for number in range(len(order)):
            carry, loss = single(carry, (places[number], rate_row[number]))
        return float(loss)

    return run


if __name__ == "__main__":
    main()
