"""A two-layer perceptron over flat images with AdamW, built by hand: a described system without source or checker."""

from __future__ import annotations

import math
from typing import Any

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.autodiff import gradients
from alpha.graph.builder import Builder
from alpha.graph.formula import Term, select
from alpha.graph.node import Graph, Node
from alpha.graph.philox import initialiser_key
from alpha.graph.text import to_text

F32 = Dtype.F32
PARAMETERS = {"w1": (64, 32), "b1": (32,), "w2": (32, 10), "b2": (10,)}
BATCH, SEED, HOLD_OUT = 32, 1, 288


def spread(x: Term, shape: tuple[int, ...]) -> Term:
    return Term(x.emitter, x.emitter.broadcast(x.node, shape), None)


def scalar(builder: Builder, value: float) -> Term:
    return Term(builder, builder.constant(value, F32), None)


def initial() -> Graph:
    builder = Builder()
    outputs: list[tuple[str, Node]] = []
    for name, shape in PARAMETERS.items():
        if len(shape) == 2:
            k0, k1, step = initialiser_key(SEED, name)
            key = builder.apply("key", (), k0=k0, k1=k1, step=step)
            u = Term(builder, builder.apply("uniform", (key,), shape=shape), None)
            bound = math.sqrt(6 / sum(shape))
            outputs.append((f"net.{name}", ((u + u - 1) * bound).node))
        else:
            outputs.append((f"net.{name}", spread(scalar(builder, 0.0), shape).node))
    outputs.extend(
        (f"slots.{slot}.{name}", spread(scalar(builder, 0.0), shape).node)
        for slot in "mv"
        for name, shape in PARAMETERS.items()
    )
    return builder.graph("initial", outputs)


def rate() -> Graph:
    builder = Builder()
    step = Term(builder, builder.input("step", TensorType(Dtype.U32, ())), None)
    now = step.apply("cast", dtype=F32)
    falling = 3e-5 + 0.5 * 2.97e-3 * (1 + (3.1415927 * (now / 1500.0)).apply("cos"))
    return builder.graph("rate", [("rate", select(now < 50, 3e-3 * (now / 50.0), falling).node)])


class Inputs:
    def __init__(self, builder: Builder) -> None:
        def make(name: str, type_: TensorType) -> Term:
            return Term(builder, builder.input(name, type_), None)

        self.net = {
            name: make(f"net.{name}", TensorType(F32, shape)) for name, shape in PARAMETERS.items()
        }
        self.image = make("batch.image", TensorType(F32, (BATCH, 64)))
        self.label = make("batch.label", TensorType(Dtype.I32, (BATCH,), 10))

    def logits(self) -> Term:
        w1, b1, w2, b2 = self.net.values()
        x = self.image * 0.0625
        h = x.apply("contract", w1, left="ik", right="kj", result="ij") + spread(b1, (BATCH, 32))
        y = h.apply("relu").apply("contract", w2, left="ik", right="kj", result="ij")
        return y + spread(b2, (BATCH, 10))

    def loss(self) -> Term:
        return self.logits().apply("crossEntropy", self.label).apply("mean", axes=(0,))


def step() -> Graph:
    builder = Builder()
    inputs = Inputs(builder)
    slots = {
        (slot, name): Term(
            builder, builder.input(f"slots.{slot}.{name}", TensorType(F32, shape)), None
        )
        for slot in "mv"
        for name, shape in PARAMETERS.items()
    }
    now = Term(builder, builder.input("step", TensorType(Dtype.U32, ())), None)
    eta = Term(builder, builder.input("rate", TensorType(F32, ())), None)
    loss = inputs.loss()
    found = gradients(
        builder, loss.node, [term.node for term in inputs.net.values()], list(PARAMETERS)
    )
    new: dict[str, dict[str, Term]] = {"net": {}, "m": {}, "v": {}}
    for (name, p), node in zip(inputs.net.items(), found, strict=True):
        g = Term(builder, node, None)
        beta1, beta2 = scalar(builder, 0.9), scalar(builder, 0.95)
        m = snap(p.like(0.9).apply("fma", slots["m", name], spread(1 - beta1, p.shape) * g))
        v = snap(p.like(0.95).apply("fma", slots["v", name], spread(1 - beta2, p.shape) * (g * g)))
        a = eta / (1 - beta1.apply("powStep", now))
        c = 1 / (1 - beta2.apply("powStep", now))
        decayed = p - spread(eta * 0.01, p.shape) * p
        root = (v * spread(c, p.shape)).apply("sqrt") + 1e-8
        new["net"][name] = decayed - (spread(a, p.shape) * m) / root
        new["m"][name], new["v"][name] = m, v
    outputs = [(f"net.{name}", term.node) for name, term in new["net"].items()]
    outputs += [
        (f"slots.{slot}.{name}", term.node) for slot in "mv" for name, term in new[slot].items()
    ]
    return builder.graph("step", [*outputs, ("loss", loss.node)])


def snap(x: Term) -> Term:
    return select(x.apply("abs") < 7.888609e-31, 0, x)


def evaluate() -> Graph:
    builder = Builder()
    inputs = Inputs(builder)
    loss = inputs.loss()
    hits = inputs.logits().apply("argmax", axis=1).equals(inputs.label).apply("cast", dtype=F32)
    accuracy = hits.apply("mean", axes=(0,))
    return builder.graph("evaluate", [("loss", loss.node), ("metric.accuracy", accuracy.node)])


def description() -> dict[str, Any]:
    """What `describe` gives of such a system, as far as the reference reads it."""

    def listed(prefix: str = "") -> list[dict[str, str]]:
        return [
            {"name": prefix + name, "type": str(TensorType(F32, shape))}
            for name, shape in PARAMETERS.items()
        ]

    return {
        "parameters": listed(),
        "slots": [*listed("m."), *listed("v.")],
        "batchFields": [
            {"name": "image", "type": f"f32[{BATCH}, 64]"},
            {"name": "label", "type": f"index<10>[{BATCH}]"},
        ],
        "keyed": False,
        "graphs": {graph.name: to_text(graph) for graph in (initial(), rate(), step(), evaluate())},
        "batch": BATCH,
        "seed": SEED,
        "holdOut": HOLD_OUT,
        "shuffle": "EachEpoch",
        "data": {"examples": 1797, "training": 1797 - HOLD_OUT},
        "evaluateEvery": 250,
        "stop": [{"kind": "NotFinite"}],
        "texts": {"policy": "{}", "learner": "{}", "data": "{}"},
    }
