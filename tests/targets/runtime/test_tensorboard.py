"""The sink `TensorBoard`: event files that equal runs write equally, exact when a run is resumed."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

from alpha.evaluate.system import Report, System
from targets.runtime.conftest import Program
from targets.runtime.event_files import Event, crc32c, events
from targets.runtime.tiny import tiny_system

Build = Callable[[str, System], Program]
NAME = "events.out.tfevents.0.alpha"
SINKS = ("JsonLines", "TensorBoard")


def file(program: Program) -> Path:
    return program.runs / NAME


def scalars(found: list[Event]) -> list[tuple[int, str, float]]:
    return [(event.step, event.tag, event.value) for event in found if event.tag]


def test_the_checksum_is_that_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_an_event_file_holds_what_metrics_jsonl_does(build: Build) -> None:
    program = build("board", tiny_system(sinks=SINKS))
    assert program("train").returncode == 0
    found = events(file(program).read_bytes())
    assert found[0].version == "brain.Event:2" and found[0].wall_time == 0
    expected = []
    for line in (program.runs / "metrics.jsonl").read_text().splitlines():
        item = json.loads(line)
        step = item.pop("step")
        for name, value in item.items():
            expected.append((step, name.replace(".", "/"), float(numpy.float32(value))))
    assert scalars(found) == expected and len(expected) > 8
    # no clock is read: the time of an event is its step
    assert [event.wall_time for event in found] == [event.step for event in found]


@pytest.mark.parametrize("cut", [0, 1, 20, 47, 48, 60, -1, -7, -30])
def test_resuming_gives_the_file_of_a_straight_run(build: Build, cut: int) -> None:
    """Whatever a kill left behind the last checkpoint, or within a record."""
    program = build("straight", tiny_system(sinks=SINKS))
    program("train")
    straight = file(program).read_bytes()
    halves = build("halves", tiny_system(sinks=SINKS))
    halves("train", "--steps", "23")
    place = file(halves)
    # behind the checkpoint of step 23 stand events of a run that was killed later
    place.write_bytes(straight if cut == 0 else place.read_bytes() + straight[:cut])
    halves("resume")
    assert place.read_bytes() == straight


def test_a_file_that_was_damaged_is_cut_where_it_is_damaged(build: Build) -> None:
    program = build("board", tiny_system(sinks=SINKS))
    program("train", "--steps", "30")
    whole = file(program).read_bytes()
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 1
    file(program).write_bytes(bytes(damaged))
    program("resume")
    found = events(file(program).read_bytes())
    steps = [event.step for event in found]
    assert steps == sorted(steps) and steps[-1] == 40


def test_a_file_that_is_missing_or_foreign_begins_again(build: Build) -> None:
    program = build("board", tiny_system(sinks=SINKS))
    program("train", "--steps", "20")
    for content in (None, b"", b"no events at all", struct.pack("<Q", 2**63) + bytes(30)):
        file(program).unlink()
        if content is not None:
            file(program).write_bytes(content)
        (program.runs / "step-00000030.safetensors").unlink(missing_ok=True)
        (program.runs / "step-00000040.safetensors").unlink(missing_ok=True)
        assert program("resume").returncode == 0
        found = events(file(program).read_bytes())
        assert found[0].version and found[1].step == 25


def test_a_sink_that_fails_warns_once_and_stops_nothing(build: Build) -> None:
    program = build("board", tiny_system(sinks=SINKS))
    program.runs.mkdir(parents=True)
    file(program).mkdir()
    done = program("train")
    assert done.returncode == 0
    assert done.stderr.count(b"warning") == 1 and NAME.encode() in done.stderr
    assert program.checkpoint(40).exists()
    file(program).rmdir()
    file(program).symlink_to("/dev/full")
    for path in program.runs.glob("step-*"):
        path.unlink()
    done = program("train")
    assert done.returncode == 0 and done.stderr.count(b"warning") == 1


@pytest.mark.parametrize("name", [NAME, "metrics.jsonl"])
def test_a_pipe_that_nobody_reads_is_not_waited_for(build: Build, name: str) -> None:
    program = build("board", tiny_system(sinks=SINKS))
    program.runs.mkdir(parents=True)
    os.mkfifo(program.runs / name)
    done = program("train")
    assert (done.returncode, done.stderr.count(b"warning")) == (0, 1)
    assert program.checkpoint(40).exists()


def test_without_the_sink_there_is_no_event_file(tiny: Program) -> None:
    tiny("train")
    assert not file(tiny).exists()


def test_only_what_is_reported_is_written(build: Build) -> None:
    report = Report(10, ("hits",), ("TensorBoard",))
    program = build("few", replace(tiny_system(), report=report))
    done = program("train")
    assert (done.returncode, done.stdout) == (0, b"")
    assert {tag for _, tag, _ in scalars(events(file(program).read_bytes()))} == {"heldOut/hits"}
    assert sorted(path.name for path in program.runs.iterdir())[0] == NAME
