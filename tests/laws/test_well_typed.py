"""Random well-typed packages: the executables of both hosts, and PTX on the model, write the reference's checkpoint.

`make fuzz` draws thousands; these are the first few.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.farm import Farm
from fuzz.modules import package
from requirements import require_tool

SEEDS = range(8)
SPOILED = range(20)


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Farm]:
    farm = Farm(tmp_path_factory.mktemp("fuzz"), [require_tool("qemu-aarch64-static")])
    yield farm
    farm.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_package_has_the_same_bits_everywhere(farm: Farm, seed: int) -> None:
    assert farm.compare(package(seed), str(seed)) > 0


@pytest.mark.slow
def test_a_package_with_one_token_changed_is_accepted_or_refused(tmp_path: Path) -> None:
    farm = Farm(tmp_path, None)
    try:
        accepted = sum(farm.spoil(package(seed), str(seed), seed) for seed in SPOILED)
    finally:
        farm.close()
    assert accepted < len(SPOILED), "some changes are mistakes"


def test_the_packages_use_every_way_to_make_an_expression() -> None:
    taken: Counter[str] = Counter()
    for seed in range(400):
        taken.update(package(seed).taken)
    from random import Random

    from fuzz.terms import Terms

    ways = {way.__name__.strip("_") for way in Terms(Random(0), {}).ways}
    assert set(taken) >= ways


def test_a_seed_is_a_package(tmp_path: Path) -> None:
    assert package(3).files == package(3).files != package(4).files
