"""`predict --prompt`: the bytes that a program samples are the reference's, one by one."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from semantics.sample import noise, sample
from targets.runtime.conftest import Program
from targets.runtime.sources import PAIRS, Package, corpus

LONG = "The window is six bytes."
CASES = [
    ("x", 0.0, 0),
    ("abc", 0.0, 7),
    (LONG, 0.0, 0),
    ("x", 1.0, 0),
    (LONG, 0.75, 18446744073709551615),
    ("é", 3.0, 5),
    ("abcdef", 1e-30, 1),
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Package:
    package = Package(tmp_path_factory.mktemp("pairs"), "Pairs")
    text = PAIRS.replace("bundle     = False", "bundle     = True")
    package.write(text, {"Pairs/corpus.bin": corpus()})
    assert package.build().returncode == 0
    assert package.run("train", "--steps", "10").returncode == 0
    return package


@pytest.mark.slow
def test_a_program_samples_like_the_reference(trained: Package) -> None:
    run = trained.reference(trained.system(), 10)
    for prompt, temperature, seed in CASES:
        options = ["--prompt", prompt, "--count", "24", f"--temperature={temperature}"]
        done = trained.run("predict", *options, f"--seed={seed}")
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == sample(run, prompt.encode(), 24, temperature, seed)
    assert trained.run("predict", "--prompt", "x", "--count", "24").stdout == sample(run, b"x", 24)


@pytest.mark.slow
def test_more_bytes_begin_with_fewer(trained: Package) -> None:
    options = ("predict", "--prompt", "ab", "--temperature", "1", "--count")
    few, many = trained.run(*options, "9").stdout, trained.run(*options, "30").stdout
    assert len(few) == 9 and many.startswith(few) and len(set(many)) > 5
    assert trained.run(*options, "30", "--seed", "1").stdout != many


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--prompt", "x"), b"belong together"),
        (("--count", "5"), b"belong together"),
        (("--seed", "5", "in.npy", "out.npy"), b"files, or a prompt and a count"),
        (("--prompt", "x", "--count", "0"), b"--count needs a whole number from 1"),
        (("--prompt", "", "--count", "5"), b"--prompt needs a value"),
        (("--prompt", "x", "--count", "5", "--temperature", "-1"), b"not negative"),
        (("--prompt", "x", "--count", "5", "--temperature", "1e39"), b"not negative"),
        (("--prompt", "x", "--count", "5", "--temperature", "nan"), b"not negative"),
        (("--prompt", "x", "--count", "5", "--temperature", "1x"), b"not negative"),
        (("--prompt", "x", "--count", "5", "--seed", "-1"), b"below 2^64"),
        (("--prompt", "x", "--count", "5", "--seed", "18446744073709551616"), b"below 2^64"),
        (("--prompt", "x", "--count", "5", "--seed", "99999999999999999999"), b"below 2^64"),
        (("--prompt", "x", "--count", "5", "--seed", "1e3"), b"below 2^64"),
    ],
)
def test_options_that_do_not_fit_are_usage_errors(
    trained: Package, options: tuple[str, ...], said: bytes
) -> None:
    done = trained.run("predict", *options)
    assert (done.returncode, done.stdout) == (2, b"")
    assert said in done.stderr


@pytest.mark.slow
def test_sampling_belongs_to_predict_and_to_learners_of_bytes(
    trained: Package, tiny: Program
) -> None:
    done = trained.run("train", "--prompt", "x")
    assert done.returncode == 2 and b"--prompt is an option of predict" in done.stderr
    done = tiny("predict", "--prompt", "x", "--count", "3")
    assert done.returncode == 2 and b"learners of bytes" in done.stderr
    assert b"--prompt TEXT" in trained.run("--help").stdout
    assert b"--prompt TEXT" not in tiny("--help").stdout


def test_the_noise_is_finite_and_gumbel() -> None:
    values = numpy.concatenate([noise(3, place) for place in range(200)])
    assert numpy.isfinite(values).all()
    assert abs(float(values.mean()) - 0.5772) < 0.02
    assert abs(float(values.std()) - 1.2825) < 0.02


@pytest.mark.slow
def test_the_reference_samples_from_the_command_line(trained: Package, tmp_path: Path) -> None:
    import json
    import subprocess
    import sys

    from alpha.evaluate.describe import describe

    described = tmp_path / "pairs.json"
    described.write_text(json.dumps(describe(trained.system())))
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "semantics", str(described), str(trained.folder)]
    options = ["--steps", "10", "--prompt", "ab", "--count", "9", "--temperature", "1"]
    done = subprocess.run(
        [*command, *options], cwd=root / "reference", capture_output=True, check=True, text=True
    )
    found = trained.run("predict", *options[2:]).stdout
    assert f"sample {found!r}" in done.stdout
