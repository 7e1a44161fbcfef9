"""Predictions of the narrow floats: exact in npy and csv, in the dtypes that other tools read."""

from __future__ import annotations

import io
from pathlib import Path

import numpy
import pytest

from packages import ROWS, TINY
from semantics.evaluate import evaluate
from semantics.numerics import Array
from targets.runtime.sources import Package

INPUTS = numpy.array(
    [[1, 2], [0.1, -0.3], [3e4, 3e4], [-1e30, 1e30], [1e-7, -3e-7], [0, 0], [2e-5, 1e-5]], "<f4"
)


def npy_bytes(array: Array) -> bytes:
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "written"), [("bf16", "<f4"), ("f16", "<f2"), ("f32", "<f4")])
def test_narrow_floats_are_written_exactly(tmp_path: Path, dtype: str, written: str) -> None:
    package = Package(tmp_path, "Tiny")
    text = TINY.replace("= net.forward x\n\npolicy", f"= cast {dtype} (net.forward x)\n\npolicy")
    package.write(text, {"Tiny/rows.csv": ROWS.encode()})
    run = package.reference(package.system(), 3)
    assert package.build().returncode == 0
    assert package.run("train", "--steps", "3").returncode == 0
    graph, expected = run.graph("predict"), []
    for first in range(0, len(INPUTS), 2):
        rows = numpy.zeros((2, 2), "<f4")
        rows[: len(INPUTS[first : first + 2])] = INPUTS[first : first + 2]
        net = {name: value for name, value in run.state.items() if name.startswith("net.")}
        expected += list(evaluate(graph, {**net, "input": rows})["output"])
    values = numpy.array(expected[: len(INPUTS)]).astype("f4")
    given = npy_bytes(INPUTS)
    (tmp_path / "in.npy").write_bytes(given)
    done = package.run("predict", "in.npy", "out.npy")
    assert done.returncode == 0, done.stderr
    found = numpy.load(tmp_path / "out.npy")
    assert found.dtype.str == written
    assert found.astype("f4").tobytes() == values.tobytes()
    assert package.run("predict", "in.npy", "out.csv").returncode == 0
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [numpy.float32(line) for line in lines] == list(values)
