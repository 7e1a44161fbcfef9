"""The drawing of the arena shows the plan: every buffer where it lies and while it lives, the loops, the peak."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from alpha.admission.peak import peak
from alpha.base.dtype import Dtype, TensorType
from alpha.base.record import replace
from alpha.driver.errors import UsageError
from alpha.driver.memory_svg import HEIGHT, NARROWEST, TOP, Scale, memory_svg
from alpha.driver.memory_view import Picture, kind_of, memory_json
from alpha.driver.pipeline import planned
from alpha.driver.request import Request
from alpha.driver.session import Session
from alpha.driver.stages import stage_text
from alpha.graph.text import parse, to_text
from alpha.plan.plan import Buffer, Loop, Plan, ProgramPlan, Region

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    with Session.open(tmp_path_factory.mktemp("empty")) as session:
        return planned(session, Request("Digits")).plan


def drawn(picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(memory_svg(picture))


def titles(tree: ElementTree.Element) -> list[str]:
    return [found.text or "" for found in tree.iter(f"{SVG}title")]


def test_every_buffer_is_a_rectangle_with_its_name_and_place(plan: Plan) -> None:
    picture = Picture(plan, plan.programs)
    tree = drawn(picture)
    scale = Scale.of(picture)
    rectangles = [item for item in tree.iter(f"{SVG}rect") if item.find(f"{SVG}title") is not None]
    lasting = [buffer for buffer in plan.buffers if not buffer.program]
    assert len(rectangles) == len(plan.buffers) + len(lasting) * (len(plan.programs) - 1)
    for buffer in plan.buffers:
        own = [
            item
            for item in rectangles
            if (item.findtext(f"{SVG}title") or "").startswith(f"{buffer.name}  {buffer.type}\n")
            and f" at {buffer.offset:,} to " in (item.findtext(f"{SVG}title") or "")
        ]
        assert own, buffer.name
        for item in own:
            assert item.get("class") == kind_of(buffer)
            bottom = float(item.attrib["y"]) + float(item.attrib["height"])
            assert bottom == pytest.approx(scale.y(buffer.offset), abs=0.02)
            if buffer.span is not None:
                assert str(buffer.span) in (item.findtext(f"{SVG}title") or "")


def test_rectangles_that_overlap_on_paper_overlap_nowhere_in_the_arena(plan: Plan) -> None:
    document = json.loads(memory_json(Picture(plan, plan.programs)))
    for program in document["programs"]:
        live = [item for item in document["buffers"] if item["program"] in (None, program["name"])]
        for launch in range(program["launches"]):
            now = sorted(
                (item["offset"], item["offset"] + item["bytes"])
                for item in live
                if item["program"] is None or item["first"] <= launch <= item["last"]
            )
            assert all(one[1] <= two[0] for one, two in pairwise(now))


def test_the_peak_is_marked_where_the_report_has_it(plan: Plan) -> None:
    moment = peak(plan)
    assert moment is not None
    tree = drawn(Picture(plan, plan.programs))
    words = [item.text or "" for item in tree.iter(f"{SVG}text")]
    (said,) = [text for text in words if text.startswith("peak: ")]
    assert f"{moment.program}, launch {moment.region + 1}" in said
    assert str(moment.span) in said
    document = json.loads(memory_json(Picture(plan, plan.programs)))
    assert document["peak"] == {
        "program": moment.program,
        "launch": moment.region,
        "live": moment.live,
    }


def test_equal_plans_give_equal_bytes_and_both_schemes_are_readable(plan: Plan) -> None:
    text = memory_svg(Picture(plan, plan.programs))
    assert text == memory_svg(Picture(replace(plan), tuple(plan.programs)))
    assert "prefers-color-scheme:dark" in text
    assert "<script" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_one_program_is_drawn_alone(plan: Plan) -> None:
    step = plan.program("step")
    document = json.loads(memory_json(Picture(plan, (step,))))
    assert [program["name"] for program in document["programs"]] == ["step"]
    assert {item["program"] for item in document["buffers"]} == {None, "step"}


def test_loops_are_brackets_and_inner_ones_stand_lower() -> None:
    regions = tuple(Region(f"step.{number}.add", False, None) for number in range(6))
    outer = Loop(1, 4, 12, False, 0, None)
    inner = Loop(2, 3, 3, True, 64, None)
    program = ProgramPlan("step", regions, (), (), (outer, inner))
    kind = TensorType(Dtype.F32, (16,))
    held = Buffer("a<b>", kind, 0, 64, "step", 0, 5, None)
    plan = Plan(64, 0, (held,), (program,), ())
    tree = drawn(Picture(plan, plan.programs))
    brackets = [
        item.findtext(f"{SVG}title") or ""
        for item in tree.iter(f"{SVG}g")
        if "times" in (item.findtext(f"{SVG}title") or "")
    ]
    assert brackets == [
        "launches 2 to 5, 12 times",
        "launches 3 to 4, 3 times, from the last turn to the first",
    ]
    paths = [
        item.find(f"{SVG}path").attrib["d"]  # type: ignore[union-attr]
        for item in tree.iter(f"{SVG}g")
        if "times" in (item.findtext(f"{SVG}title") or "")
    ]
    heights = [int(path.partition("V")[2].partition("H")[0]) for path in paths]
    assert heights[0] < heights[1] < TOP


def test_a_program_with_few_launches_can_still_be_seen(plan: Plan) -> None:
    scale = Scale.of(Picture(plan, plan.programs))
    assert min(scale.widths.values()) >= NARROWEST
    assert scale.y(0) - scale.y(plan.arena) == HEIGHT


def test_what_a_build_does_not_have_is_not_shown(tmp_path: Path) -> None:
    with Session.open(tmp_path) as session:
        with pytest.raises(UsageError, match=r"no program `stepp`.*did you mean `step`"):
            stage_text(session, Request("Digits"), "graph", "stepp")
        with pytest.raises(UsageError, match="leave `--program` out"):
            stage_text(session, Request("Digits"), "core", "step")


@pytest.mark.slow
def test_a_graph_with_its_places_is_the_graph_without_them(tmp_path: Path) -> None:
    with Session.open(tmp_path) as session:
        graph = planned(session, Request("Coppelius")).system.graph("step")
    shown = to_text(graph, places=True)
    assert "Coppelius/Model.alpha:" in shown and "graph body" in shown
    assert to_text(parse(shown)) == to_text(graph)
