"""Digits as a library: it loads, it refuses without ending anything, and its bits are those of the program."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy
import pytest

import alpha
from alpha.libraries import Run, Stopped
from requirements import require_tool
from semantics.order import batch_rows

ROOT = Path(__file__).parents[3]
STEPS, BATCH, TRAINING, SEED = 120, 32, 1509, 1
Batch = dict[str, Any]


def build(*arguments: str, place: Path) -> None:
    command = [sys.executable, "-m", "alpha", "build", "Digits", "--direct", *arguments]
    subprocess.run([*command, "-o", str(place)], cwd=ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds digits.so and its header, and digits with the checkpoint of its first steps."""
    place = tmp_path_factory.mktemp("library")
    build("--emit", "shared", place=place / "digits.so")
    build(place=place / "digits")
    train = [place / "digits", "train", "--steps", str(STEPS), "--checkpoint", place / "run"]
    subprocess.run(train, check=True, capture_output=True)
    return place


@pytest.fixture(scope="module")
def checkpoint(folder: Path) -> Path:
    return folder / "run" / f"step-{STEPS:08d}.safetensors"


@pytest.fixture(scope="module")
def rows() -> Any:
    return numpy.loadtxt(ROOT / "systems/Digits/data/digits.csv", delimiter=",", dtype=numpy.int64)


def batch_of(rows: Any, step: int) -> Batch:
    """What the program trains on in a step."""
    table = rows[batch_rows(SEED, step, BATCH, TRAINING, "EachEpoch")]
    return {"image": table[:, :64].astype("f4"), "label": table[:, 64].astype("i4")}


def train(run: Run, rows: Any, first: int, last: int) -> None:
    for step in range(first, last + 1):
        run.step(**batch_of(rows, step))


@pytest.mark.slow
def test_a_library_trains_to_the_bytes_of_the_program(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path
) -> None:
    with alpha.load(folder / "digits.so") as run:
        train(run, rows, 1, STEPS)
        run.save(tmp_path / "saved.safetensors")
    assert (tmp_path / "saved.safetensors").read_bytes() == checkpoint.read_bytes()


@pytest.mark.slow
def test_a_library_goes_on_from_a_checkpoint_to_the_same_bytes(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path
) -> None:
    with alpha.load(folder / "digits.so") as run, alpha.load(folder / "digits.so") as other:
        train(run, rows, 1, 50)
        run.save(tmp_path / "middle.safetensors")
        other.load(tmp_path / "middle.safetensors")
        train(other, rows, 51, STEPS)
        other.save(tmp_path / "saved.safetensors")
    assert (tmp_path / "saved.safetensors").read_bytes() == checkpoint.read_bytes()


@pytest.mark.slow
def test_runs_on_several_threads_know_nothing_of_each_other(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path
) -> None:
    def work(number: int) -> bytes:
        with alpha.load(folder / "digits.so") as run:
            train(run, rows, 1, STEPS if number % 2 else STEPS - 1)
            with pytest.raises(Stopped):
                run.load(tmp_path / f"no {number}")
            run.save(tmp_path / str(number))
        return (tmp_path / str(number)).read_bytes()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, range(4)))
    assert found[1] == found[3] == checkpoint.read_bytes()
    assert found[0] == found[2] != found[1]


@pytest.mark.slow
def test_floats_that_a_caller_flushes_and_rounds_otherwise_change_no_bit(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path
) -> None:
    libm = ctypes.CDLL("libm.so.6")
    downward = 0x400
    with alpha.load(folder / "digits.so") as run:
        for step in range(1, STEPS + 1):
            batch = batch_of(rows, step)
            before = libm.fegetround()
            try:
                assert libm.fesetround(downward) == 0
                run.step(**batch)
                assert libm.fegetround() == downward
            finally:
                libm.fesetround(before)
        run.save(tmp_path / "saved")
    assert (tmp_path / "saved").read_bytes() == checkpoint.read_bytes()


@pytest.mark.slow
def test_predictions_and_metrics_are_those_of_the_program(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path
) -> None:
    images = rows[-50:, :64].astype("f4")
    numpy.save(tmp_path / "in.npy", images)
    predict = ["predict", tmp_path / "in.npy", tmp_path / "out.npy", "--from", checkpoint]
    subprocess.run([folder / "digits", *predict], check=True, capture_output=True)
    with alpha.load(folder / "digits.so") as run:
        run.load(checkpoint)
        numpy.testing.assert_array_equal(run.predict(images), numpy.load(tmp_path / "out.npy"))
        held = batch_of(rows, 1)
        found = run.evaluate(**held)
        right = numpy.mean(run.predict(held["image"]) == held["label"])
        assert set(found) == {"loss", "accuracy"}
        assert found["accuracy"] == pytest.approx(right)


@pytest.mark.slow
def test_what_is_refused_changes_nothing(folder: Path, rows: Any, tmp_path: Path) -> None:
    with alpha.load(folder / "digits.so") as run:
        run.step(**batch_of(rows, 1))
        run.save(tmp_path / "before")
        wrong = batch_of(rows, 2)
        wrong["label"][3] = 10
        with pytest.raises(Stopped, match=r"^R0503: a value of `label` .* 10 is not in 0 ... 9"):
            run.step(**wrong)
        with pytest.raises(Stopped, match=r"(?s)^R0503: .*example 4 of the batch"):
            run.evaluate(**wrong)
        damaged = bytearray((tmp_path / "before").read_bytes())
        damaged[-1] ^= 1
        (tmp_path / "damaged").write_bytes(damaged)
        for name, why in (("damaged", "corrupt"), ("absent", "no such file"), (".", "folder")):
            with pytest.raises(Stopped, match=rf"^R0505: [^\n]*{why}"):
                run.load(tmp_path / name)
        with pytest.raises(Stopped, match=r"^R0507: cannot write .*no such file or folder"):
            run.save(tmp_path / "absent" / "file")
        with pytest.raises(ValueError, match="3,000 bytes"):
            run.load("x" * 3001)
        run.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["after", "before", "damaged"]


@pytest.mark.slow
def test_a_loss_that_is_not_finite_is_said(folder: Path, rows: Any) -> None:
    with alpha.load(folder / "digits.so") as run:
        batch = batch_of(rows, 1)
        batch["image"][0, 0] = numpy.inf
        with pytest.raises(Stopped, match=r"^R0504: the loss of step 1 is nan"):
            run.step(**batch)


@pytest.mark.slow
def test_arrays_are_checked_before_they_are_taken(folder: Path, rows: Any) -> None:
    batch = batch_of(rows, 1)
    with alpha.load(folder / "digits.so") as run:
        with pytest.raises(TypeError, match=r"image needs dtype float32, not float64: pass"):
            run.step(**{**batch, "image": batch["image"].astype("f8")})
        with pytest.raises(ValueError, match=r"label needs the shape \(32\), not \(31,\)"):
            run.step(**{**batch, "label": batch["label"][:31]})
        with pytest.raises(ValueError, match=r"input needs the shape \(n, 64\), not \(64,\)"):
            run.predict(batch["image"][0])
        with pytest.raises(TypeError, match=r"lacks `label`; step reads `image` and `label`"):
            run.step(image=batch["image"])
        with pytest.raises(TypeError, match=r"has no field `labels`"):
            run.step(**batch, labels=batch["label"])
        run.step(**{**batch, "image": numpy.asfortranarray(batch["image"])})
    with pytest.raises(ValueError, match="the run is closed"):
        run.step(**batch)


@pytest.mark.slow
def test_another_file_is_no_library(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    for path in (tmp_path / "text.so", folder / "digits"):
        with pytest.raises(ValueError, match="is no library that `alpha build"):
            alpha.load(path)


@pytest.mark.slow
def test_without_numpy_the_message_says_what_to_install(folder: Path) -> None:
    script = "import sys; sys.modules['numpy'] = None; import alpha; alpha.load('digits.so')"
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True
    )
    assert ended.stderr.endswith("alpha.load works on NumPy arrays: pip install numpy\n")


@pytest.mark.slow
def test_a_checkpoint_of_another_run_serves_and_is_not_trained_on(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path
) -> None:
    text = checkpoint.read_bytes()
    assert text.count(b'"seed":"1"') == 1
    other = tmp_path / "other"
    other.write_bytes(text.replace(b'"seed":"1"', b'"seed":"2"'))
    with alpha.load(folder / "digits.so") as run:
        run.load(checkpoint)
        expected = run.evaluate(**batch_of(rows, 1))
        run.load(other)
        assert run.evaluate(**batch_of(rows, 1)) == expected
        for refused in (lambda: run.step(**batch_of(rows, 1)), lambda: run.save(tmp_path / "x")):
            with pytest.raises(ValueError, match="another policy, data or seed"):
                refused()
        run.load(checkpoint)
        run.step(**batch_of(rows, STEPS + 1))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", [("gcc", "-std=c99"), ("g++", "-std=c++11")])
def test_a_c_program_trains_with_the_header(
    folder: Path, checkpoint: Path, rows: Any, tmp_path: Path, compiler: tuple[str, str]
) -> None:
    tool, standard = compiler
    batches = [batch_of(rows, step) for step in range(1, STEPS + 1)]
    (tmp_path / "images").write_bytes(b"".join(b["image"].tobytes() for b in batches))
    (tmp_path / "labels").write_bytes(b"".join(b["label"].tobytes() for b in batches))
    source = Path(__file__).with_name("trains.c")
    language = ["-x", "c" if tool == "gcc" else "c++"]
    warnings = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    files = [str(source), "-I", str(folder), "-x", "none", str(folder / "digits.so")]
    program = str(tmp_path / "trains")
    command = [require_tool(tool), standard, *warnings, *language, *files, "-o", program]
    subprocess.run([*command, f"-Wl,-rpath,{folder}"], check=True)
    ended = subprocess.run([program, str(STEPS)], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "trained\n")
    for saved in ("own", "given"):
        assert (tmp_path / saved).read_bytes() == checkpoint.read_bytes()


@pytest.mark.slow
def test_the_example_of_the_page_works_as_it_stands(folder: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs/python.md").read_text("utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "build").symlink_to(folder)
    (tmp_path / "digits.csv").symlink_to(ROOT / "systems/Digits/data/digits.csv")
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.stderr == ""
    assert float(ended.stdout.split()[-1]) > 0.8
    assert (tmp_path / "mine.safetensors").exists()
