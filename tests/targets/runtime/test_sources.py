"""Every data source, bundled and read at run time: the program's checkpoint is the reference's, byte for byte."""

from __future__ import annotations

import hashlib
import io
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from alpha.diagnostics.diagnostic import Refused
from requirements import require_tool
from semantics.sample import sample
from targets.runtime.sources import PAIRS, Package, corpus, reference_checkpoint


@pytest.fixture
def pairs(tmp_path: Path) -> Package:
    package = Package(tmp_path, "Pairs")
    package.write(PAIRS, {"Pairs/corpus.bin": corpus()})
    return package


class TestWindows:
    def test_they_are_counted_as_the_language_says(self, pairs: Package) -> None:
        data = pairs.system().data
        assert data.examples == (400 - 1 - 6) // 3 + 1
        # the held-out part begins where its first window does; a window with its target takes seven bytes
        begin = (data.examples - 8) * 3
        touching = [i for i in range(data.examples - 8) if i * 3 + 7 > begin]
        assert data.training == data.examples - 8 - len(touching)
        assert len(touching) == 2

    def test_without_held_out_windows_all_are_trained_on(self, pairs: Package) -> None:
        pairs.write(PAIRS.replace("holdOut    = 8", ""), {"Pairs/corpus.bin": corpus()})
        data = pairs.system().data
        assert data.training == data.examples

    def test_the_target_is_the_input_one_byte_later(self, pairs: Package) -> None:
        before, after = pairs.system().data.fields
        assert before.rows.shape == after.rows.shape == (132, 6)
        content = numpy.frombuffer(corpus(), numpy.uint8)
        assert before.rows[5].tolist() == content[15:21].tolist()
        assert after.rows[5].tolist() == content[16:22].tolist()
        assert before.content is after.content

    @pytest.mark.slow
    def test_a_program_trains_like_the_reference(self, pairs: Package) -> None:
        run = pairs.reference(pairs.system(), 30)
        for bundle in ("False", "True"):
            pairs.write(
                PAIRS.replace("bundle     = False", f"bundle     = {bundle}"),
                {"Pairs/corpus.bin": corpus()},
            )
            if bundle == "True":
                # the policy's text differs, and with it the digest in the checkpoint
                run = replace(run, description={**run.description, "texts": _texts(pairs)})
            assert pairs.build().returncode == 0
            (pairs.folder / "Pairs" / "corpus.bin").rename(pairs.folder / "moved.bin")
            if bundle == "False":
                done = pairs.run()
                assert done.returncode == 5 and b"R0502" in done.stderr, done.stderr
                assert not (pairs.folder / "runs").exists()
                (pairs.folder / "data" / "Pairs").mkdir(parents=True)
                (pairs.folder / "moved.bin").rename(pairs.folder / "data" / "Pairs" / "corpus.bin")
            done = pairs.run("--data", "data", "--checkpoint", bundle)
            assert done.returncode == 0, done.stderr
            found = (pairs.folder / bundle / "step-00000030.safetensors").read_bytes()
            assert found == reference_checkpoint(run)

    @pytest.mark.slow
    def test_a_file_that_changed_is_refused_before_anything_is_written(
        self, pairs: Package
    ) -> None:
        assert pairs.build().returncode == 0
        file = pairs.folder / "Pairs" / "corpus.bin"
        for data, said in (
            (corpus()[:-1], b"it has 399 bytes, expected 400"),
            (corpus() + b"x", b"it has more than 400 bytes, expected 400"),
            (corpus()[:-1] + b"x", b"its SHA-256 is "),
            (b"", b"it has 0 bytes"),
        ):
            file.write_bytes(data)
            done = pairs.run()
            assert done.returncode == 5
            assert b"error[R0502]" in done.stderr and b"Pairs/corpus.bin" in done.stderr
            assert said in done.stderr
            assert not (pairs.folder / "runs").exists()
        file.unlink()
        file.mkdir()
        assert b"error[R0502]" in pairs.run().stderr


def _texts(package: Package) -> dict[str, str]:
    system = package.system()
    return {
        "policy": system.policy_text,
        "learner": system.learner_text,
        "data": system.data_text,
    }


ARRAYS = """\
module Arrays.Run

import Alpha.Optim (momentum)
import Alpha.Schedule (constant)

type Batch [batch] =
  { image : Tensor f32 [batch, 2, 3]
  , weight : Tensor f32 [batch]
  , flag : Tensor bool [batch]
  , label : Tensor (index 5) [batch]
  }

model Line [inputs] =
  param w : Tensor f32 [inputs, 5] = normal 0.5

  logits : Tensor f32 [batch, inputs] -> Tensor f32 [batch, 5]
  logits x = x @ w

line : Model (Line [6])
line = Line { inputs = 6 }

learner lines =
  model     = line
  optimizer = momentum { momentum = 0.5, decay = 0.0 }

  loss net (b : Batch [batch]) =
    let each = crossEntropy (net.logits (reshape [batch, 6] b.image * 0.01)) b.label
    mean[batch] (select b.flag (each * b.weight) each)

  metric most net b = max (net.logits (reshape [batch, 6] b.image))

policy baseline =
  learner    = lines
  data       = KIND
    [ { name = "label", file = "Arrays/label" }
    , { name = "image", file = "Arrays/image" }
    , { name = "weight", file = "Arrays/weight" }
    , { name = "flag", file = "Arrays/flag" }
    ]
  bundle     = False
  batch      = 4
  steps      = 20
  seed       = 5
  rate       = constant 0.25
  holdOut    = 4
  checkpoint = { every = 10, keep = 2, folder = "runs/arrays" }
"""


def arrays_of(image: str, label: str, flags: bool = True) -> dict[str, Any]:
    numbers = numpy.arange(23 * 6).reshape(23, 2, 3) * 37 % 251
    weights = (numpy.arange(23) - 5) / 8
    found = {
        "image": numbers.astype(image),
        "weight": weights.astype("f4"),
        "label": (numpy.arange(23) * 3 % 5).astype(label),
    }
    return {**found, "flag": numpy.arange(23) % 3 == 0} if flags else found


def npy_bytes(array: Any) -> bytes:
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()


def idx_bytes(array: Any) -> bytes:
    kind = {"u1": 0x08, "i4": 0x0C, "f4": 0x0D}[array.dtype.str[1:]]
    sizes = numpy.array(array.shape, ">u4").tobytes()
    return (
        bytes((0, 0, kind, array.ndim)) + sizes + array.astype(f">{array.dtype.str[1:]}").tobytes()
    )


def array_package(folder: Path, kind: str, arrays: dict[str, Any], bundle: bool) -> Package:
    text = ARRAYS.replace("KIND", kind).replace("bundle     = False", f"bundle     = {bundle}")
    if "flag" not in arrays:
        text = text.replace('    , { name = "flag", file = "Arrays/flag" }\n', "")
        text = text.replace("  , flag : Tensor bool [batch]\n", "").replace(
            "b.flag", "(b.weight > 0)"
        )
    package = Package(folder, "Arrays")
    write = npy_bytes if kind == "npy" else idx_bytes
    package.write(text, {f"Arrays/{name}": write(array) for name, array in arrays.items()})
    return package


@pytest.mark.slow
@pytest.mark.parametrize("bundle", [False, True])
@pytest.mark.parametrize(
    ("kind", "image", "label"), [("npy", "u1", "i4"), ("npy", "f4", "u1"), ("idx", "i4", "u1")]
)
def test_arrays_train_like_the_reference(
    tmp_path: Path, kind: str, image: str, label: str, bundle: bool
) -> None:
    arrays = arrays_of(image, label, flags=kind == "npy")
    package = array_package(tmp_path, kind, arrays, bundle)
    system = package.system()
    assert (system.data.examples, system.data.training) == (23, 19)
    done = package.build()
    assert done.returncode == 0, done.stderr
    if bundle:
        for name in arrays:
            (tmp_path / "Arrays" / name).rename(tmp_path / name)
    done = package.run()
    assert done.returncode == 0, done.stderr
    for name in arrays if bundle else ():
        (tmp_path / name).rename(tmp_path / "Arrays" / name)
    assert package.checkpoint(20).read_bytes() == reference_checkpoint(
        package.reference(system, 20)
    )


class TestArrayFaults:
    def fault(self, package: Package) -> tuple[str, str]:
        with pytest.raises(Refused) as caught:
            package.system()
        (diagnostic,) = caught.value.diagnostics
        return diagnostic.code, diagnostic.message

    @pytest.mark.parametrize(
        ("name", "array", "code", "said"),
        [
            (
                "label",
                numpy.full(23, 5, "i4"),
                "E0904",
                "example 1, element 1: 5 is no value of index 5",
            ),
            ("label", numpy.full(23, -1, "i4"), "E0904", "-1 is no value of index 5"),
            ("label", numpy.zeros(23, "f4"), "E0903", "holds `Tensor f32 [23]`"),
            ("label", numpy.zeros((23, 1), "u1"), "E0903", "holds `Tensor u8 [23, 1]`"),
            ("label", numpy.zeros(22, "u1"), "E0905", "holds 22"),
            ("flag", numpy.zeros(23, "u1"), "E0903", "holds `Tensor u8 [23]`"),
            ("image", numpy.zeros((23, 3, 2), "u1"), "E0903", "is `Tensor f32 [2, 3]`"),
            ("image", numpy.zeros((23, 2, 3), "?"), "E0903", "holds `Tensor bool [23, 2, 3]`"),
        ],
    )
    def test_what_does_not_fit_is_named(
        self, tmp_path: Path, name: str, array: Any, code: str, said: str
    ) -> None:
        arrays = {**arrays_of("u1", "i4"), name: array}
        found = self.fault(array_package(tmp_path, "npy", arrays, False))
        assert found[0] == code and said in found[1]

    def test_a_bool_is_zero_or_one(self, tmp_path: Path) -> None:
        package = array_package(tmp_path, "npy", arrays_of("u1", "i4"), False)
        place = tmp_path / "Arrays" / "flag"
        data = place.read_bytes()[:-1] + b"\2"
        lock = (tmp_path / "alpha.lock").read_text()
        old = hashlib.sha256(place.read_bytes()).hexdigest()
        (tmp_path / "alpha.lock").write_text(lock.replace(old, hashlib.sha256(data).hexdigest()))
        place.write_bytes(data)
        assert self.fault(package)[0] == "E0904"

    @pytest.mark.slow
    def test_a_header_that_changed_is_refused_at_run(self, tmp_path: Path) -> None:
        package = array_package(tmp_path, "npy", arrays_of("u1", "i4"), False)
        assert package.build().returncode == 0
        place = tmp_path / "Arrays" / "image"
        data = place.read_bytes()
        for changed in (data[:100], data.replace(b"False", b"True "), data + b"\0", b""):
            place.write_bytes(changed)
            done = package.run()
            assert done.returncode == 5 and b"error[R0502]" in done.stderr
            assert b"Arrays/image" in done.stderr
        assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_the_other_host_reads_trains_and_samples_alike(pairs: Package) -> None:
    emulator = require_tool("qemu-aarch64-static")
    assert pairs.build("--target", "aarch64-linux", "--direct").returncode == 0
    run = pairs.reference(pairs.system(), 10)

    def program(*arguments: str) -> bytes:
        command = [emulator, "./program", *arguments]
        done = subprocess.run(command, cwd=pairs.folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    program("train", "--steps", "10")
    assert pairs.checkpoint(10).read_bytes() == reference_checkpoint(run)
    options = ("--prompt", "abc", "--count", "9", "--temperature", "1")
    assert program("predict", *options) == sample(run, b"abc", 9, 1.0)
