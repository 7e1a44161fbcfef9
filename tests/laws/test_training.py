"""The reference trains: it learns, repeats, resumes, and writes checkpoints that other readers accept."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from laws import float64, perceptron
from laws.graphs import same_bits
from semantics import train
from semantics.checkpoint import Identity, checkpoint_bytes, file_name, stop_text
from semantics.order import batch_rows

DIGITS = Path(__file__).parents[2] / "systems" / "Digits" / "data" / "digits.csv"


@pytest.fixture(scope="module")
def rows() -> dict[str, Any]:
    table = numpy.loadtxt(DIGITS, delimiter=",", dtype=numpy.uint8)
    return {"image": table[:, :64], "label": table[:, 64]}


@pytest.fixture(scope="module")
def trained(rows: dict[str, Any]) -> train.Run:
    run = train.start(perceptron.description(), rows)
    train.advance(run, 200)
    return run


@pytest.mark.slow
def test_two_hundred_steps_learn_the_digits(trained: train.Run) -> None:
    assert trained.losses[0] == pytest.approx(2.3, abs=0.3)
    assert trained.losses[-1] < 0.4
    assert train.metrics(trained)["metric.accuracy"] > 0.9


@pytest.mark.slow
def test_the_loss_curve_is_that_of_float64(trained: train.Run, rows: dict[str, Any]) -> None:
    """Same initial weights and batches, outside the numerics law: within 1e-4 over 50 steps."""
    graphs = {"rate": perceptron.rate(), "step": perceptron.step()}
    state: dict[str, Any] = {
        name: value.astype(numpy.float64)
        for name, value in train.start(trained.description, rows).state.items()
    }
    for step in range(1, 51):
        places = batch_rows(
            perceptron.SEED, step, perceptron.BATCH, 1797 - perceptron.HOLD_OUT, "EachEpoch"
        )
        inputs = {
            **state,
            "step": step,
            "rate": float64.evaluate(graphs["rate"], {"step": step})["rate"],
            "batch.image": rows["image"][places].astype(numpy.float64),
            "batch.label": rows["label"][places],
        }
        state = float64.evaluate(graphs["step"], inputs)
        assert float(state.pop("loss")) == pytest.approx(float(trained.losses[step - 1]), rel=1e-4)


@pytest.mark.slow
def test_a_run_depends_on_its_state_and_step_alone(
    trained: train.Run, rows: dict[str, Any]
) -> None:
    first = train.start(perceptron.description(), rows)
    train.advance(first, 60)
    second = train.Run(perceptron.description(), rows, dict(first.state), first.step)
    train.advance(first, 15)
    train.advance(second, 15)
    assert train.checkpoint(first, "0") == train.checkpoint(second, "0")
    assert all(same_bits(a, b) for a, b in zip(first.losses, trained.losses, strict=False))


@pytest.mark.slow
def test_safetensors_reads_a_checkpoint(trained: train.Run, tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    content = train.checkpoint(trained, "0.1.0")
    path = tmp_path / file_name(trained.step)
    path.write_bytes(content)
    assert path.name == "step-00000200.safetensors"
    with safetensors.safe_open(path, framework="numpy") as opened:
        assert set(opened.keys()) == set(trained.state)
        for name in opened.keys():  # noqa: SIM118
            assert same_bits(opened.get_tensor(name), trained.state[name])
        metadata = opened.metadata()
    assert metadata["step"] == "200"
    assert metadata["policy"] == hashlib.sha256(b"{}").hexdigest()
    size = int.from_bytes(content[:8], "little")
    assert metadata["tensors"] == hashlib.sha256(content[8 + size :]).hexdigest()


def test_the_bytes_of_a_checkpoint() -> None:
    identity = Identity(18446744073709551615, "p" * 64, "l" * 64, "d" * 64, "0.1.0")
    tensors = [
        ("net.w", "f32", numpy.array([[1.0, -0.0]], numpy.float32)),
        ("slots.m.w", "f32", numpy.array([[numpy.nan, 2.0]], numpy.float32)),
        ("net.h", "bf16", numpy.array([1.5], numpy.float32)),
        ("net.s", "f16", numpy.array(0.5, numpy.float32)),
    ]
    found = checkpoint_bytes(tensors, 7, identity, stop_text([None, (1065353216, 2)]))
    data = bytes.fromhex("0000803f 00000080 0000c07f 00000040 c03f 0038")
    assert found.endswith(data)
    size = int.from_bytes(found[:8], "little")
    assert size % 8 == 0 and len(found) == 8 + size + len(data)
    header = found[8 : 8 + size].rstrip(b" ")
    assert header.decode() == (
        '{"__metadata__":{"format":"alpha.checkpoint/1","step":"7","seed":"18446744073709551615",'
        f'"policy":"{"p" * 64}","learner":"{"l" * 64}","data":"{"d" * 64}","alpha":"0.1.0",'
        '"stop":"[{},{\\"lowest\\":1065353216,\\"since\\":2}]",'
        f'"tensors":"{hashlib.sha256(data).hexdigest()}"}},'
        '"net.w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
        '"slots.m.w":{"dtype":"F32","shape":[1,2],"data_offsets":[8,16]},'
        '"net.h":{"dtype":"BF16","shape":[1],"data_offsets":[16,18]},'
        '"net.s":{"dtype":"F16","shape":[],"data_offsets":[18,20]}}'
    )
    assert json.loads(header)["__metadata__"]["stop"] == stop_text([None, (1065353216, 2)])


@pytest.mark.slow
def test_a_plateau_counts_evaluations_without_a_new_lowest_value(rows: dict[str, Any]) -> None:
    described = perceptron.description()
    described["evaluateEvery"] = 2
    described["stop"] = [{"kind": "NotFinite"}, {"kind": "Plateau", "metric": "loss"}]
    run = train.start(described, rows)
    train.advance(run, 4)
    lowest, since = run.plateaus[1]
    assert since == 0 and numpy.uint32(lowest).view(numpy.float32) == train.metrics(run)["loss"]
    run.state = train.start(described, rows).state
    train.observe(run)
    assert run.plateaus[1] == (lowest, 1)
    assert b'"stop":"[{},{\\"lowest\\":%d,\\"since\\":1}]"' % lowest in train.checkpoint(run, "0")
