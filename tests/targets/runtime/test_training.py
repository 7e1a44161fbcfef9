"""Training with the runtime: what is written, exact resume, stop rules, threads, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace

import numpy
import pytest
from safetensors.numpy import load_file

from alpha.evaluate.system import Stop, System
from alpha.targets.x86_64.spec import X86_64_LINUX
from semantics.checkpoint import Identity, checkpoint_bytes, digest
from targets.runtime.conftest import Program, install
from targets.runtime.tiny import HERE, csv_text, tiny_executable, tiny_system

Build = Callable[[str, System], Program]


def lines(program: Program) -> list[dict[str, object]]:
    return [json.loads(line) for line in (program.runs / "metrics.jsonl").read_text().splitlines()]


def test_a_run_leaves_its_last_checkpoints_and_its_scalars(tiny: Program) -> None:
    done = tiny("train")
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(path.name for path in tiny.runs.iterdir()) == [
        "metrics.jsonl",
        "step-00000020.safetensors",
        "step-00000030.safetensors",
        "step-00000040.safetensors",
    ]
    steps = [item["step"] for item in lines(tiny) if "loss" in item]
    assert steps == list(range(5, 41, 5))
    held_out = [item for item in lines(tiny) if "heldOut.hits" in item]
    assert [item["step"] for item in held_out] == [10, 20, 30, 40]
    assert all(item["heldOut.hits"] == 0.3125 for item in held_out)


def test_a_checkpoint_has_exactly_the_bytes_of_the_reference(tiny: Program) -> None:
    tiny("train")
    path = tiny.checkpoint(40)
    tensors = load_file(path)
    assert [*tensors] and tensors["net.w"].shape == (4, 3)
    system = tiny_system()
    from alpha import __version__

    identity = Identity(
        5,
        digest(system.policy_text),
        digest(system.learner_text),
        digest(system.data_text),
        __version__,
    )
    names = ["net.w", "net.b", "slots.m.w", "slots.m.b"]
    expected = checkpoint_bytes([(n, "f32", tensors[n]) for n in names], 40, identity, "[{}]")
    assert path.read_bytes() == expected


def test_two_halves_are_one_run(tiny: Program, build: Build) -> None:
    tiny("train")
    halves = build("halves", tiny_system())
    halves("train", "--steps", "20")
    assert halves("resume").returncode == 0
    for name in ("step-00000040.safetensors", "step-00000030.safetensors", "metrics.jsonl"):
        assert (halves.runs / name).read_bytes() == (tiny.runs / name).read_bytes()


def test_a_run_that_was_told_to_end_early_goes_on_as_if_it_had_not(build: Build) -> None:
    rules = (Stop("Plateau", metric="hits", patience=9),)
    whole = build("whole", tiny_system(stop=rules))
    whole("train")
    early = build("early", tiny_system(stop=rules))
    early("train", "--steps", "23")
    assert lines(early)[-1]["step"] == 23
    early("resume")
    assert (early.runs / "metrics.jsonl").read_bytes() == (
        whole.runs / "metrics.jsonl"
    ).read_bytes()
    assert early.checkpoint(40).read_bytes() == whole.checkpoint(40).read_bytes()


def test_resuming_from_an_older_checkpoint_cuts_the_scalars_back(tiny: Program) -> None:
    tiny("train")
    before = (tiny.runs / "metrics.jsonl").read_bytes()
    newest = tiny.checkpoint(40).read_bytes()
    (tiny.runs / "metrics.jsonl").write_bytes(before + b'{"step":45,"lo')
    done = tiny("resume", "--from", str(tiny.checkpoint(20)))
    assert done.returncode == 0
    assert (tiny.runs / "metrics.jsonl").read_bytes() == before
    assert tiny.checkpoint(40).read_bytes() == newest


@pytest.mark.parametrize("threads", ["1", "3", "8"])
def test_the_number_of_threads_changes_no_bit(tiny: Program, threads: str) -> None:
    tiny("train", "--threads", "2")
    other = tiny("train", "--threads", threads, "--checkpoint", "other")
    assert other.returncode == 0
    expected = tiny.checkpoint(40).read_bytes()
    assert (tiny.folder / "other" / "step-00000040.safetensors").read_bytes() == expected


def test_read_data_trains_like_bundled_data(tiny: Program, build: Build) -> None:
    tiny("train")
    reading = build("reading", tiny_system(bundle=False))
    (reading.folder / "files" / "Tiny").mkdir(parents=True)
    (reading.folder / "files" / "Tiny" / "tiny.csv").write_bytes(csv_text())
    assert reading("train", "--data", "files").returncode == 0
    assert reading.checkpoint(40).read_bytes() == tiny.checkpoint(40).read_bytes()


def test_examples_stay_in_order_if_the_policy_says_so(tiny: Program, build: Build) -> None:
    tiny("train")
    ordered = build("ordered", tiny_system(shuffle="InOrder"))
    ordered("train")
    assert ordered.checkpoint(40).read_bytes() != tiny.checkpoint(40).read_bytes()


def test_events_are_objects_in_their_order(tiny: Program) -> None:
    done = tiny("train", "--log", "jsonl", "--steps", "10")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["event"] for event in events]
    assert kinds == ["start", "step", "step", "evaluate", "checkpoint", "end"]
    assert events[0]["system"] == "Tiny.Run.baseline"
    assert events[4]["file"] == "runs/tiny/step-00000010.safetensors"


def test_evaluate_prints_every_metric_of_the_newest_checkpoint(tiny: Program) -> None:
    tiny("train")
    done = tiny("evaluate", "--log", "jsonl")
    record = json.loads(done.stdout)
    last = [item for item in lines(tiny) if "heldOut.loss" in item][-1]
    assert record == {"event": "evaluate", **last}
    older = json.loads(
        tiny("evaluate", "--log", "jsonl", "--from", str(tiny.checkpoint(30))).stdout
    )
    assert older["step"] == 30 and older["heldOut.loss"] != record["heldOut.loss"]


def test_a_plateau_ends_the_run_and_its_state_survives_a_resume(build: Build) -> None:
    rules = (Stop("NotFinite"), Stop("Plateau", metric="hits", patience=2))
    whole = build("whole", tiny_system(stop=rules, every=15))
    done = whole("train")
    assert done.returncode == 0 and b"stopped by the rule Plateau on hits" in done.stdout
    # the first evaluation sets the lowest value, two more do not lower it
    assert whole.checkpoint(30).exists() and not whole.checkpoint(40).exists()
    halves = build("halves", tiny_system(stop=rules, every=15))
    halves("train", "--steps", "15")
    halves("resume")
    metadata = whole.checkpoint(30).read_bytes()
    assert b'{\\"lowest\\":1050673152,\\"since\\":2}' in metadata


def test_a_metric_below_its_limit_ends_the_run(build: Build) -> None:
    program = build("below", tiny_system(stop=(Stop("Below", metric="loss", value=62.9),)))
    done = program("train", "--log", "jsonl")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event for event in events if event["event"] == "stop"] == [
        {"event": "stop", "step": 20, "rule": "Below", "metric": "loss"}
    ]
    assert program.checkpoint(20).exists() and not program.checkpoint(30).exists()


def test_a_loss_that_is_not_finite_stops_the_run_at_its_step(tiny: Program) -> None:
    source = (HERE / "tiny_kernels.rt").read_text()
    marked = source.replace("loss * 0.125", "loss / f32(i32(17) - i32[arena + ARENA_STEP])")
    broken = install(tiny.folder, tiny_executable(tiny_system(), X86_64_LINUX, marked))
    done = broken("train")
    assert done.returncode == 5
    assert b"error[R0504]: the loss of step 17 is inf" in done.stderr
    assert b"the one of tiny_loss in step 17\n" in done.stderr
    assert b"runs/tiny/step-00000010.safetensors" in done.stderr
    assert broken.checkpoint(10).exists()
    careless = replace(tiny_system(), stop=())
    going_on = install(tiny.folder, tiny_executable(careless, X86_64_LINUX, marked))
    assert going_on("train", "--checkpoint", "other").returncode == 0


@pytest.mark.parametrize("steps", ["7", "10", "13"])
def test_the_first_result_that_is_not_finite_is_found_by_running_again(
    tiny: Program, steps: str
) -> None:
    source = (HERE / "tiny_kernels.rt").read_text()
    # the bias goes out of range in one step, and reaches the loss in a later one
    late = source.replace(
        "* 0.75 + f32(", f"* 0.75 + 1.0 / f32({steps} - i32[arena + ARENA_STEP]) + f32("
    )
    late = late.replace("= loss * 0.125", "= loss + f32[arena + ARENA_B]")
    program = install(tiny.folder, tiny_executable(tiny_system(), X86_64_LINUX, late))
    done = program("train")
    assert done.returncode == 5
    assert f"error[R0504]: the loss of step {int(steps) + 1} is inf".encode() in done.stderr
    assert f"the one of Tiny.alpha:2:2 (tiny_bias) in step {steps}\n".encode() in done.stderr


def test_a_nan_leaves_the_program_as_the_one_quiet_nan(tiny: Program) -> None:
    source = (HERE / "tiny_kernels.rt").read_text()
    marked = source.replace(
        "ARENA_MB + i * 4] = 0.0", "ARENA_MB + i * 4] = bits(f32, u32(0xFFC12345))"
    )
    program = install(tiny.folder, tiny_executable(tiny_system(), X86_64_LINUX, marked))
    program("train")
    words = load_file(program.checkpoint(40))["slots.m.b"].view(numpy.uint32)
    assert words.tolist() == [0x7FC00000] * 3


def test_an_index_outside_its_range_is_found_before_the_step(build: Build) -> None:
    text = csv_text().replace(b",2\n", b",3\n", 1)
    row = (
        csv_text().split(b"\n").index(next(x for x in csv_text().split(b"\n") if x.endswith(b",2")))
    )
    program = build("wrong", tiny_system(bundle=False, data=text))
    (program.folder / "Tiny").mkdir()
    (program.folder / "Tiny" / "tiny.csv").write_bytes(text)
    done = program("train")
    assert done.returncode == 5
    assert b"error[R0503]" in done.stderr and b"3 is not in 0 ... 2" in done.stderr
    assert f"`Tiny/tiny.csv`, row {row + 1}, column 5".encode() in done.stderr


SLOW_KERNELS = """

@export
def tiny_rate(arena: ptr, part: i64, parts: i64):
    spin: u32 = u32[arena + ARENA_RATE_STEP]
    for i in range(2000000):
        spin = spin * 1664525 + 1013904223
    f32[arena + ARENA_RATE_OUT] = 0.5 / f32(u32[arena + ARENA_RATE_STEP] + 1) + f32(spin & 0)
"""


def slow_program(folder: Program) -> Program:
    """Each step takes some milliseconds, so that a signal meets one."""
    source = (HERE / "tiny_kernels.rt").read_text()
    start = source.index("@export\ndef tiny_rate")
    end = source.index("@export\ndef tiny_loss")
    marked = source[:start] + SLOW_KERNELS + source[end:]
    return install(folder.folder, tiny_executable(tiny_system(steps=100000), X86_64_LINUX, marked))


def interrupted(program: Program, signals: int) -> tuple[int, bytes]:
    running = subprocess.Popen(
        ["./tiny", "train", "--log", "jsonl"],
        cwd=program.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    while b'"step":10' not in running.stdout.readline():
        pass
    for _ in range(signals):
        running.send_signal(signal.SIGINT)
    _, words = running.communicate(timeout=30)
    return running.returncode, words


def test_the_first_interrupt_finishes_the_step_and_saves(tiny: Program) -> None:
    program = slow_program(tiny)
    status, words = interrupted(program, 1)
    assert status == 130
    assert b"saved" in words and b"./tiny resume" in words
    steps = sorted(int(path.name[5:13]) for path in program.runs.glob("step-*"))
    assert f"after step {steps[-1]}".encode() in words
    resumed = program("resume", "--steps", str(steps[-1] + 5))
    assert resumed.returncode == 0


def test_the_second_interrupt_stops_at_once(tiny: Program) -> None:
    program = slow_program(tiny)
    started = time.monotonic()
    status, words = interrupted(program, 2)
    assert (status == 130 and b"; saved" not in words) or time.monotonic() - started < 20


def test_a_closed_reader_of_standard_output_does_not_stop_a_run(tiny: Program) -> None:
    running = subprocess.Popen(
        ["./tiny", "train"],
        cwd=tiny.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.stderr is not None
    words = running.stderr.read()
    assert running.wait(30) == 0
    assert words.count(b"warning: standard output") == 1
    assert tiny.checkpoint(40).exists()


def test_nothing_is_mapped_once_the_steps_have_begun(tiny: Program) -> None:
    from requirements import require_tool

    strace = require_tool("strace")
    trace = tiny.folder / "trace"
    subprocess.run(
        [strace, "-f", "-o", str(trace), "./tiny", "train"],
        cwd=tiny.folder,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = trace.read_text().partition("steps 1 to 40")[2]
    assert after and "mmap" not in after and "brk" not in after


def test_a_terminal_shows_one_line_that_is_kept_up_to_date(tiny: Program) -> None:
    leader, follower = os.openpty()
    running = subprocess.Popen(
        ["./tiny", "train", "--steps", "10"], cwd=tiny.folder, stdout=follower, stderr=follower
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert running.wait(30) == 0
    assert b"\r\x1b[Kstep 10 of 10  loss " in shown
    assert shown.endswith(b"saved runs/tiny/step-00000010.safetensors\r\n")
