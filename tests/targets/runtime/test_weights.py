"""Starting from a file of weights: checked at build, and the first step starts from exactly its bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from alpha.diagnostics.diagnostic import Diagnostic, Refused
from targets.runtime.building import alpha
from targets.runtime.sources import PAIRS, Package, corpus, reference_checkpoint

FILE = "Pairs/start.safetensors"


def safetensors(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": dict(metadata)}
    data = b""
    for name, array in tensors.items():
        kind = {"<f4": "F32", "<f2": "F16", "<f8": "F64"}[array.dtype.str]
        end = len(data) + array.nbytes
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [len(data), end],
        }
        data += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def arrays() -> dict[str, Any]:
    generator = numpy.random.default_rng(3)
    return {
        "back": generator.standard_normal((4, 256)).astype("f4"),
        "rows": generator.standard_normal((256, 4)).astype("f4"),
    }


def package(
    folder: Path, weights: bytes, rename: Sequence[tuple[str, str]] = (), bundle: bool = False
) -> Package:
    made = Package(folder, "Pairs")
    pairs = ", ".join(f'("{name}", "{parameter}")' for name, parameter in rename)
    start = f'  start      = Weights {{ file = "{FILE}", rename = [{pairs}] }}\n'
    text = PAIRS.replace("  bundle     = False\n", f"  bundle     = {bundle}\n{start}")
    made.write(text, {"Pairs/corpus.bin": corpus(), FILE: weights})
    return made


def fault(made: Package) -> Diagnostic:
    with pytest.raises(Refused) as caught:
        made.system()
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


class TestBuild:
    def test_names_shapes_and_dtypes_agree_exactly(self, tmp_path: Path) -> None:
        good = arrays()
        for changed, said in (
            ({"back": good["back"]}, "no tensor for the parameter `rows`"),
            ({**good, "more": good["back"]}, "no parameter `more`"),
            (
                {**good, "back": good["back"].T.copy()},
                "is `Tensor f32 [256, 4]`, but the parameter `back`",
            ),
            ({**good, "back": good["back"].astype("f8")}, "is `Tensor f64 [4, 256]`"),
        ):
            found = fault(package(tmp_path, safetensors(changed)))
            assert found.code == "E0906" and said in found.message

    @pytest.mark.parametrize(
        ("rename", "said"),
        [
            ([("bock", "back")], "`rename` names a tensor `bock`"),
            ([("back", "rows")], "both `back` and `rows`"),
            ([("back", "bakc")], "no tensor for the parameter `back`"),
            ([("back", "back"), ("back", "back")], "`back` twice"),
        ],
    )
    def test_renames_that_do_not_fit(
        self, tmp_path: Path, rename: list[tuple[str, str]], said: str
    ) -> None:
        found = fault(package(tmp_path, safetensors(arrays()), rename))
        assert found.code == "E0906" and said in found.message

    def test_a_rename_pairs_a_name_with_a_parameter(self, tmp_path: Path) -> None:
        good = arrays()
        named = safetensors({"out.weight": good["back"], "rows": good["rows"]})
        weights = package(tmp_path, named, [("out.weight", "back")]).system().weights
        assert weights is not None and weights.names == ("rows", "out.weight")

    @pytest.mark.parametrize(
        "damage",
        [
            lambda data: b"",
            lambda data: data[:7],
            lambda data: data[:50],
            lambda data: data[:-1],
            lambda data: data + b"\0",
            lambda data: b"\xff" * 8 + data[8:],
            lambda data: data.replace(b'"shape"', b'"shapes'),
            lambda data: data.replace(b"[4, 256]", b"[4, -25]"),
            lambda data: data.replace(b"[4, 256]", b"[4, 255]"),
            lambda data: data.replace(b"[0, 4096]", b"[4096, 0]"),
            lambda data: data.replace(b"[4096, 8192]", b"[4095, 8191]"),
            lambda data: data.replace(b'"back"', b'"rows"'),
            lambda data: (8).to_bytes(8, "little") + b"[" * 8,
            lambda data: (5000).to_bytes(8, "little") + b"[" * 5000,
        ],
    )
    def test_a_damaged_file_is_refused(self, tmp_path: Path, damage: Any) -> None:
        data = safetensors(arrays())
        assert damage(data) != data
        assert fault(package(tmp_path, damage(data))).code == "E0904"

    def test_the_lock_holds_its_digest(self, tmp_path: Path) -> None:
        made = package(tmp_path, safetensors(arrays()))
        (tmp_path / "alpha.lock").unlink()
        assert fault(made).code == "E0902"
        assert alpha(tmp_path, "lock").returncode == 0
        assert FILE in (tmp_path / "alpha.lock").read_text()
        (tmp_path / FILE).unlink()
        assert fault(package_again(made)).code == "E0901"

    def test_other_weights_are_another_policy(self, tmp_path: Path) -> None:
        first = package(tmp_path, safetensors(arrays())).system()
        good = arrays()
        second = package(tmp_path, safetensors({**good, "back": good["back"] * 2})).system()
        assert first.policy_text != second.policy_text


def package_again(made: Package) -> Package:
    """The same folder, read anew."""
    return Package(made.folder, made.name)


@pytest.mark.slow
@pytest.mark.parametrize("bundle", [False, True])
def test_a_program_starts_from_the_weights(tmp_path: Path, bundle: bool) -> None:
    made = package(tmp_path, safetensors(arrays()), bundle=bundle)
    run = made.reference(made.system(), 20)
    assert made.build().returncode == 0
    file = tmp_path / FILE
    if bundle:
        file.unlink()
    else:
        data = file.read_bytes()
        file.write_bytes(data[:-1] + b"x")
        done = made.run()
        assert done.returncode == 5 and b"R0502" in done.stderr and FILE.encode() in done.stderr
        assert not (tmp_path / "runs").exists()
        file.write_bytes(data)
    done = made.run("--steps", "20")
    assert done.returncode == 0, done.stderr
    assert made.checkpoint(20).read_bytes() == reference_checkpoint(run)


@pytest.mark.slow
def test_a_checkpoint_is_a_file_of_weights(tmp_path: Path) -> None:
    """Its slots are left aside, and its parameters need no `rename`."""
    fresh = Package(tmp_path / "fresh", "Pairs")
    fresh.write(PAIRS, {"Pairs/corpus.bin": corpus()})
    run = fresh.reference(fresh.system(), 3)
    made = package(tmp_path / "next", reference_checkpoint(run))
    again = made.reference(made.system(), 0)
    for name in ("net.rows", "net.back"):
        assert again.state[name].tobytes() == run.state[name].tobytes()
        slot = name.replace("net", "slots.velocity")
        assert slot not in again.state or not again.state[slot].any()
