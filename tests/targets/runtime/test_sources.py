"""Every data source, bundled and read at run time: the program's checkpoint is the reference's, byte for byte."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy
import pytest

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
