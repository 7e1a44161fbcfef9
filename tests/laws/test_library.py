"""The library computes what its comments say: layers and losses as numpy has them, optimizers as torch has them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from alpha.evaluate.describe import describe
from packages import ROWS, TINY, open_package, tiny, write_package
from semantics import philox
from semantics.evaluate import evaluate
from semantics.graph import read_graph
from semantics.train import advance, start

ROOT = Path(__file__).parents[2]
POLICY = "Tiny.Run.baseline"
Array = numpy.ndarray[Any, Any]

X = numpy.array(
    [[-3.0, -1.5, -0.25, 0.0, 0.125, 1.0, 2.5, 6.0], [0.5, -0.5, 90.0, -90.0, 1e-3, 7.0, -7.0, 3.0]]
)


def erf(x: Array) -> Array:
    return numpy.vectorize(math.erf)(x)


def sigmoid(x: Array) -> Array:
    return numpy.exp(-numpy.logaddexp(0, -x))


def gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def layer_norm(x: Array) -> Array:
    variance = x.var(-1, keepdims=True)
    return (x - x.mean(-1, keepdims=True)) / numpy.sqrt(variance + 1e-5)


def cross_entropy(x: Array) -> Array:
    """Of the target 1/4: `-log (sigmoid x)` is `log (1 + exp (-x))`."""
    return 0.25 * numpy.logaddexp(0, -x) + 0.75 * numpy.logaddexp(0, x)


def cosine(x: Array) -> Array:
    y = x + 1
    product = (x * y).sum(-1) / (numpy.linalg.norm(x, axis=-1) * numpy.linalg.norm(y, axis=-1))
    return numpy.broadcast_to(product[:, None], x.shape)


def huber(x: Array) -> Array:
    size = abs(0.5 * x)
    return numpy.full_like(x, numpy.where(size < 2, size**2 / 2, 2 * (size - 1)).mean())


def smooth_cross_entropy(x: Array) -> Array:
    logs = x - numpy.logaddexp.reduce(x, axis=-1, keepdims=True)
    loss = -0.9 * logs[numpy.arange(len(x)), x.argmax(-1)] - 0.1 * logs.mean(-1)
    return numpy.broadcast_to(loss[:, None], x.shape)


def with_positions(x: Array) -> Array:
    """Rows are times."""
    angle = numpy.arange(len(x))[:, None] * 10_000.0 ** -(numpy.arange(4) / 4)
    return x + numpy.concatenate([numpy.sin(angle), numpy.cos(angle)], axis=1)


def dropped(x: Array) -> Array:
    kept = philox.uniform(philox.child(philox.root(7), 7, 0), x.shape) >= numpy.float32(0.25)
    return numpy.where(kept, x / 0.75, 0)


FUNCTIONS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "gelu": ("gelu x", lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
    "geluTanh": ("geluTanh x", gelu_tanh),
    "silu": ("silu x", lambda x: x * sigmoid(x)),
    "rmsNorm": ("rmsNorm x", lambda x: x / numpy.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)),
    "layerNorm": ("layerNorm x", layer_norm),
    "dropout": ("dropout 0.25 (keyFrom 7) x", dropped),
    "noDropout": ("dropout 0.0 (keyFrom 7) x", lambda x: x),
    "binaryCrossEntropy": ("binaryCrossEntropy x (0 * x + 0.25)", cross_entropy),
    "softplus": ("softplus x", lambda x: numpy.logaddexp(0, x)),
    "leakyRelu": ("leakyRelu 0.01 x", lambda x: numpy.where(x > 0, x, 0.01 * x)),
    "elu": ("elu x", lambda x: numpy.where(x > 0, x, numpy.expm1(numpy.minimum(x, 0)))),
    "unit": ("unit x", lambda x: x / numpy.linalg.norm(x, axis=-1, keepdims=True)),
    "cosine": ("0 * x + repeat[1] 8 (cosine x (x + 1))", cosine),
    "huber": ("0 * x + huber 2.0 x (0.5 * x)", huber),
    "mae": ("0 * x + mae x (0.5 * x)", lambda x: numpy.full_like(x, abs(0.5 * x).mean())),
    "smoothCrossEntropy": (
        "0 * x + repeat[1] 8 (smoothCrossEntropy 0.1 x (argmax[-1] x))",
        smooth_cross_entropy,
    ),
    "withPositions": ("withPositions x", with_positions),
    "mse": ("0 * x + mse x (0.5 * x)", lambda x: numpy.full_like(x, (0.25 * x * x).mean())),
}


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Array]:
    """The value of each function on `X`, all of them in one graph."""
    names = ", ".join(sorted(set(FUNCTIONS) - {"noDropout", "withPositions"}))
    parts = ", ".join(written for written, _ in FUNCTIONS.values())
    text = TINY.replace(
        "import Alpha.Optim",
        f"import Alpha.Nn ({names})\nimport Alpha.Sequence (withPositions)\nimport Alpha.Optim",
    ).replace(
        "predict net (x : Tensor f32 [batch, 2]) = net.forward x",
        f"predict net (x : Tensor f32 [batch, 8]) = concat[1] [{parts}]",
    )
    folder = tmp_path_factory.mktemp("library")
    write_package(folder, {"Tiny.Run": text}, {"Tiny/rows.csv": ROWS})
    evaluator, _ = open_package(folder, "Tiny.Run")
    described = describe(evaluator.system(POLICY))
    run = start(json.loads(json.dumps(described)), {})
    inputs = {**run.state, "input": X.astype(numpy.float32)}
    output = evaluate(read_graph(described["graphs"]["predict"]), inputs)["output"]
    return dict(zip(FUNCTIONS, numpy.split(output, len(FUNCTIONS), axis=1), strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_its_formula(computed: dict[str, Array], name: str) -> None:
    _, formula = FUNCTIONS[name]
    expected = formula(X.astype(numpy.float32).astype(numpy.float64))
    numpy.testing.assert_allclose(computed[name], expected, rtol=2e-6, atol=2e-6)


OPTIMIZERS = {
    "sgd": "sgd",
    "momentum": "momentum { momentum = 0.9, decay = 0.01 }",
    "nesterov": "nesterov { momentum = 0.9, decay = 0.01 }",
    "rmsProp": "rmsProp { share = 0.99, epsilon = 1e-8 }",
    "adamW": "adamW { beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8, decay = 0.1 }",
    "lion": "lion { beta1 = 0.9, beta2 = 0.99, decay = 0.1 }",
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_follows_the_curve_of_torch(tmp_path: Path, name: str) -> None:
    """`tests/curves/optimizers_torch.py` re-derives the recorded curves."""
    recorded = json.loads((ROOT / "tests/curves/optimizers_torch.json").read_text("utf-8"))
    text = TINY
    for old, new in (
        ("(momentum)", f"({name})"),
        ("momentum { momentum = 0.5, decay = 0.0 }", OPTIMIZERS[name]),
        ("normal 0.5", "filled 0.5"),
        ("constant 0.1", "constant 0.05"),
        ("  holdOut    = 2\n", "  shuffle    = InOrder\n"),
    ):
        assert old in text
        text = text.replace(old, new)
    write_package(tmp_path, {"Tiny.Run": text}, {"Tiny/rows.csv": ROWS})
    system = open_package(tmp_path, "Tiny.Run")[0].system(POLICY)
    rows = {field.name: field.rows for field in system.data.fields}
    run = start(json.loads(json.dumps(describe(system))), rows)
    curve = recorded["losses"][name]
    advance(run, len(curve))
    numpy.testing.assert_allclose(run.losses, curve, rtol=1e-4, atol=1e-6)


def test_a_slot_never_stays_subnormal(tmp_path: Path) -> None:
    """`snap` zeroes what decays below 2^-100, for every optimizer that has a slot."""
    evaluator, _ = tiny(tmp_path)
    system = evaluator.system(POLICY)
    run = start(
        json.loads(json.dumps(describe(system))),
        {field.name: field.rows for field in system.data.fields},
    )
    for name in [name for name in run.state if name.startswith("slots.")]:
        run.state[name] = numpy.full_like(run.state[name], 1e-37)
    graph = run.graph("step")
    zero = {name: numpy.zeros_like(value) for name, value in run.batch(numpy.arange(2)).items()}
    still = {name: numpy.zeros_like(v) for name, v in run.state.items() if name.startswith("net.")}
    inputs = {**run.state, **still, "step": numpy.uint32(1), "rate": numpy.float32(0), **zero}
    outputs = evaluate(graph, inputs)
    assert all(not outputs[name].any() for name in outputs if name.startswith("slots."))


SCHEDULES: dict[str, tuple[str, Callable[[float], float]]] = {
    "constant": ("constant 0.1", lambda t: 0.1),
    "linear": (
        "linear { first = 1.0, last = 0.2, steps = 40.0 }",
        lambda t: 1.0 - 0.8 * min(t / 40, 1),
    ),
    "warmupCosine": (
        "warmupCosine { peak = 1.0, floor = 0.1, warmup = 10.0, steps = 40.0 }",
        lambda t: (
            t / 10 if t < 10 else 0.1 + 0.45 * (1 + math.cos(math.pi * min((t - 10) / 30, 1)))
        ),
    ),
    "stepDecay": (
        "stepDecay { first = 1.0, factor = 0.5, every = 10 }",
        lambda t: 0.5 ** min(t // 10, 99),
    ),
    "piecewise": (
        "piecewise 1.0 [(10, 0.5), (40, 0.25)]",
        lambda t: 1.0 if t < 10 else 0.5 if t < 40 else 0.25,
    ),
    "warmup": ("warmup 10.0 (fn _ -> 0.5)", lambda t: 0.5 * min(t / 10, 1)),
    "inverseSqrt": (
        "inverseSqrt { peak = 1.0, warmup = 10.0 }",
        lambda t: min(t / 10, math.sqrt(10 / t)),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_is_its_formula(tmp_path: Path, name: str) -> None:
    written, formula = SCHEDULES[name]
    text = TINY.replace("(constant)", f"({name})").replace("constant 0.1", written)
    write_package(tmp_path, {"Tiny.Run": text}, {"Tiny/rows.csv": ROWS})
    system = open_package(tmp_path, "Tiny.Run")[0].system(POLICY)
    graph = read_graph(describe(system)["graphs"]["rate"])
    for step in (1, 2, 9, 10, 11, 25, 39, 40, 41, 1_000):
        found = evaluate(graph, {"step": numpy.uint32(step)})["rate"]
        assert float(found) == pytest.approx(formula(step), rel=1e-6, abs=1e-7), step
