"""Regions that one thread runs in a row are launched together, each for itself and in their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from alpha.plan.launches import LARGEST, launches
from alpha.plan.plan import ProgramPlan, Region


def program(parallel: list[bool]) -> ProgramPlan:
    regions = tuple(Region(f"step.{n}", flag, None) for n, flag in enumerate(parallel))
    return ProgramPlan("step", regions, (), ())


@given(st.lists(st.booleans(), max_size=3 * LARGEST))
def test_every_region_is_launched_once_in_its_order(parallel: list[bool]) -> None:
    plan = program(parallel)
    found = launches(plan)
    assert [region for launch in found for region in launch.regions] == list(plan.regions)
    for launch in found:
        assert launch.regions[0] is plan.regions[launch.first]
        assert len(launch.regions) == 1 or not any(r.parallel for r in launch.regions)
        assert len(launch.regions) <= LARGEST
    assert len({launch.symbol for launch in found}) == len(found)


def test_a_launch_of_one_region_bears_its_name() -> None:
    one, three = launches(program([True, False, False, False]))
    assert (one.symbol, one.parallel) == ("step.0", True)
    assert (three.symbol, three.parallel, three.first) == ("step.1..step.3", False, 1)
