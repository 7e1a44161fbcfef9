"""Checkpoints under every fault: kills, full and unwritable disks, damaged and foreign files."""

from __future__ import annotations

import json
import os
import random
import resource
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.numpy import load_file, save_file

from alpha.evaluate.system import System
from targets.runtime.conftest import Program
from targets.runtime.tiny import tiny_system

Build = Callable[[str, System], Program]


def whole(program: Program) -> list[int]:
    """The steps of all checkpoints, each read by the safetensors library."""
    found = []
    for path in sorted(program.runs.glob("step-*.safetensors")):
        load_file(path)
        found.append(int(path.name[5:13]))
    return found


def kill_and_resume(program: Program, expected: bytes, kills: int, seed: int, steps: int) -> None:
    """Kills the run again and again, mostly inside saves, and goes on until it is done."""
    generator = random.Random(seed)
    command = "train"
    inside = 0
    left = kills
    while True:
        running = subprocess.Popen(
            ["./tiny", command, "--steps", str(steps)],
            cwd=program.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if left > 0:
            time.sleep(generator.random() * 0.012)
            running.kill()
            left -= 1
        words = running.communicate(timeout=60)[1]
        if running.returncode == 0:
            break
        assert running.returncode == -9, words
        inside += any(program.runs.glob(".*.tmp"))
        steps_left = whole(program) if program.runs.exists() else []
        command = "resume" if steps_left else "train"
        if left == 0 and not steps_left:
            command = "train"
    assert program.checkpoint(steps).read_bytes() == expected
    assert not list(program.runs.glob(".*"))
    assert inside > 0, "no kill met a save"
    scalars = [
        json.loads(line) for line in (program.runs / "metrics.jsonl").read_text().splitlines()
    ]
    assert [item["step"] for item in scalars if "loss" in item] == list(range(5, steps + 1, 5))


def run_of_kills(build: Build, kills: int, steps: int) -> None:
    system = tiny_system(steps=steps, every=1, keep=2)
    calm = build("calm", system)
    calm("train")
    expected = calm.checkpoint(steps).read_bytes()
    kill_and_resume(build("killed", system), expected, kills, 1, steps)


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_whole_checkpoints(build: Build) -> None:
    run_of_kills(build, 40, 60)


@pytest.mark.slow
def test_two_hundred_kills_change_no_bit(build: Build) -> None:
    run_of_kills(build, 200, 400)


def test_keep_is_the_number_of_checkpoints_that_stay(build: Build) -> None:
    program = build("keep", tiny_system(every=1, keep=2))
    program("train")
    assert whole(program) == [39, 40]


def test_training_into_a_folder_with_checkpoints_is_refused(tiny: Program) -> None:
    tiny("train")
    before = {path.name: path.read_bytes() for path in tiny.runs.iterdir()}
    done = tiny("train")
    assert done.returncode == 5
    assert b"error[R0505]" in done.stderr and b"./tiny resume" in done.stderr
    assert {path.name: path.read_bytes() for path in tiny.runs.iterdir()} == before


def test_resuming_without_a_checkpoint_is_refused(tiny: Program) -> None:
    for command in ("resume", "evaluate"):
        done = tiny(command)
        assert done.returncode == 5
        assert b"there is no checkpoint in runs/tiny" in done.stderr


def test_the_last_step_is_not_run_again(tiny: Program) -> None:
    tiny("train")
    done = tiny("resume")
    assert done.returncode == 0
    assert b"at step 40 already" in done.stderr and b"--steps 80" in done.stderr


def with_member(data: bytes, member: bytes) -> bytes:
    """The checkpoint with one more entry in its header."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header = data[8:begin].rstrip()[:-1] + b"," + member + b"}"
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[begin:]


def damaged(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: b"", b"too short"),
        (lambda data: data[:7], b"too short"),
        (lambda data: data[:200], b"too short"),
        (lambda data: data[:-1], b"length does not fit"),
        (lambda data: data + b"\0", b"length does not fit"),
        (lambda data: data[:-1] + bytes([data[-1] ^ 1]), b"corrupt"),
        (lambda data: b"\xff" * 8 + data[8:], b"too short"),
        (lambda data: data[:8] + b"[" + data[9:], b"damaged"),
        (lambda data: data.replace(b'"step":"40"', b'"step":"x0"'), b"names no step"),
        (lambda data: data.replace(b"checkpoint/1", b"checkpoint/2"), b"not written by an Alpha"),
        (lambda data: data.replace(b'"F32"', b'"I32"'), b"`net.w` has another dtype"),
        (lambda data: data.replace(b"[4,3]", b"[3,4]"), b"`net.w` has another shape"),
        (lambda data: data.replace(b'"net.b"', b'"net.c"'), b"`net.b` is missing"),
        (lambda data: data.replace(b"[48,60]", b"[47,59]"), b"`net.b` lies elsewhere"),
        (
            lambda data: with_member(
                data, b'"net.z":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}'
            ),
            b"tensors that this program does not have",
        ),
        (
            lambda data: with_member(
                data, b'"net.b":{"dtype":"F32","shape":[3],"data_offsets":[48,60]}'
            ),
            b"tensors that this program does not have",
        ),
    ],
)
def test_a_damaged_checkpoint_is_reported_and_the_one_before_is_named(
    tiny: Program, change: Callable[[bytes], bytes], words: bytes
) -> None:
    tiny("train")
    damaged(tiny.checkpoint(40), change)
    for command in ("resume", "evaluate"):
        done = tiny(command, "--steps", "50")
        assert done.returncode == 5
        assert b"error[R0505]" in done.stderr and words in done.stderr
        assert b"./tiny resume --from runs/tiny/step-00000030.safetensors" in done.stderr
    assert tiny("resume", "--from", "runs/tiny/step-00000030.safetensors").returncode == 0


@pytest.mark.slow
def test_bytes_from_anywhere_never_crash_the_reader(tiny: Program) -> None:
    tiny("train")
    original = tiny.checkpoint(40).read_bytes()
    generator = random.Random(2)
    for _ in range(150):
        data = bytearray(original)
        for _ in range(generator.randint(1, 8)):
            data[generator.randrange(len(data))] = generator.randrange(256)
        if generator.random() < 0.3:
            del data[generator.randrange(len(data)) :]
        tiny.checkpoint(40).write_bytes(bytes(data))
        done = tiny("evaluate")
        assert done.returncode in (0, 5), done
        assert done.returncode == 0 or b"R0505" in done.stderr


@pytest.mark.parametrize(
    ("system", "word"),
    [
        (tiny_system(seed=6), b"policy"),
        (tiny_system(learner="another learner"), b"learner"),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_by_name(
    tiny: Program, build: Build, system: System, word: bytes
) -> None:
    other = build("other", system)
    other("train")
    done = tiny("resume", "--steps", "50", "--from", str(other.checkpoint(40)))
    assert done.returncode == 5
    assert b"belongs to another run: its " + word in done.stderr


def test_a_file_of_other_tools_is_refused(tiny: Program) -> None:
    tiny("train")
    save_file(load_file(tiny.checkpoint(40)), tiny.folder / "foreign.safetensors")
    done = tiny("evaluate", "--from", "foreign.safetensors")
    assert done.returncode == 5
    assert b"not written by an Alpha program" in done.stderr


def test_an_unwritable_folder_stops_before_the_first_step(tiny: Program) -> None:
    (tiny.folder / "file").write_bytes(b"")
    done = tiny("train", "--checkpoint", "file/inside")
    assert done.returncode == 5
    assert b"error[R0507]: cannot write file/inside" in done.stderr
    done = tiny("train", "--checkpoint", "/proc/alpha")
    assert done.returncode == 5 and b"error[R0507]" in done.stderr


def test_a_file_size_limit_loses_no_checkpoint(tiny: Program) -> None:
    tiny("train", "--steps", "20")
    before = {path.name: path.read_bytes() for path in tiny.runs.iterdir()}

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))

    done = tiny("resume", preexec_fn=limit)
    assert done.returncode == 5
    assert b"error[R0507]: cannot write runs/tiny/step-00000030.safetensors" in done.stderr
    after = {path.name: path.read_bytes() for path in tiny.runs.iterdir()}
    for name in before:
        assert name == "metrics.jsonl" or after[name] == before[name]
    assert set(after) == set(before)
    assert tiny("resume").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_loses_no_checkpoint(tiny: Program) -> None:
    small = tiny.folder / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        (small / "filler").write_bytes(b"x" * 4096)
        done = tiny("train", "--checkpoint", "small")
        assert done.returncode == 5
        assert b"error[R0507]" in done.stderr and b"no space left" in done.stderr
        steps = sorted(int(path.name[5:13]) for path in small.glob("step-*.safetensors"))
        assert steps and all(load_file(small / f"step-{step:08d}.safetensors") for step in steps)
        assert not list(small.glob(".*"))
        (small / "filler").unlink()
        assert tiny(
            "resume", "--checkpoint", "small", "--steps", str(steps[-1] + 1)
        ).returncode in (0, 5)
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_two_runs_cannot_share_a_folder(build: Build) -> None:
    long = build("long", tiny_system(steps=4_000_000, every=1_000_000))
    first = subprocess.Popen(["./tiny"], cwd=long.folder, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while not (long.runs / "metrics.jsonl").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        done = long("train")
        assert done.returncode == 5
        assert b"another run is writing to runs/tiny" in done.stderr
    finally:
        first.kill()
        first.wait()


def test_names_that_only_look_like_checkpoints_are_passed_over(tiny: Program) -> None:
    tiny("train", "--steps", "10")
    for stray in ("step-0000000900", "step-000000000900", "step-99999999999", "step-0000900"):
        (tiny.runs / f"{stray}.safetensors").write_bytes(b"")
    assert tiny("resume", "--steps", "11").returncode == 0
    assert tiny.checkpoint(11).exists()


def test_a_checkpoint_under_the_name_of_another_step_is_refused(tiny: Program) -> None:
    tiny("train", "--steps", "10")
    tiny.checkpoint(10).rename(tiny.checkpoint(20))
    for command in (["resume", "--steps", "30"], ["evaluate"]):
        done = tiny(*command)
        assert done.returncode == 5
        assert b"error[R0505]" in done.stderr and b"another step than its name" in done.stderr
    assert sorted(tiny.runs.glob("step-*")) == [tiny.checkpoint(20)]


def test_a_folder_that_takes_no_files_is_found_out_before_the_first_step(tiny: Program) -> None:
    done = tiny("train", "--checkpoint", "/proc/self")
    assert done.returncode == 5 and done.stdout == b""
    assert b"error[R0507]: cannot write /proc/self/" in done.stderr


def test_a_run_does_not_go_on_into_the_folder_of_another(tiny: Program) -> None:
    tiny("train", "--steps", "10")
    tiny("train", "--steps", "20", "--checkpoint", "other")
    before = {path: path.read_bytes() for path in (tiny.folder / "other").iterdir()}
    source = str(tiny.checkpoint(10))
    done = tiny("resume", "--from", source, "--checkpoint", "other", "--steps", "15")
    assert done.returncode == 5 and b"error[R0505]: other already holds" in done.stderr
    assert {path: path.read_bytes() for path in (tiny.folder / "other").iterdir()} == before
    done = tiny("resume", "--from", source, "--checkpoint", "fresh", "--steps", "15")
    assert done.returncode == 0
    assert tiny("resume", "--from", source, "--steps", "15").returncode == 0


def test_a_pipe_named_like_a_checkpoint_is_not_waited_for(tiny: Program) -> None:
    tiny.runs.mkdir(parents=True)
    os.mkfifo(tiny.checkpoint(10))
    done = tiny("resume")
    assert done.returncode == 5 and b"it is no regular file" in done.stderr


def test_what_cannot_be_opened_is_named_in_words(tiny: Program, tmp_path: Path) -> None:
    tiny.runs.mkdir(parents=True)
    (tmp_path / "loop").symlink_to("loop")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name, words in (("loop", b"a loop of links"), ("socket", b"it is a socket")):
            done = tiny("evaluate", "--from", str(tmp_path / name))
            assert done.returncode == 5 and words in done.stderr


def test_a_pipe_that_nobody_reads_costs_the_scalars_alone(tiny: Program) -> None:
    tiny.runs.mkdir(parents=True)
    os.mkfifo(tiny.runs / "metrics.jsonl")
    done = tiny("train", "--steps", "10")
    assert done.returncode == 0 and b"a pipe that nobody reads" in done.stderr
    assert tiny.checkpoint(10).exists()


@pytest.mark.parametrize("instead", ["nothing", "file", "link", "a folder without room"])
def test_a_folder_that_changes_under_a_run_stops_it_in_words(tiny: Program, instead: str) -> None:
    """At the first checkpoint after the change, and what is in the folder stays whole."""
    running = subprocess.Popen(
        ["./tiny", "train", "--steps", "400000000", "--log", "jsonl"],
        cwd=tiny.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert running.stdout is not None
    for line in running.stdout:
        if b'"event":"checkpoint"' in line:
            break
    moved = tiny.folder / "moved"
    tiny.runs.rename(moved)
    if instead == "file":
        tiny.runs.write_text("")
    elif instead == "link":
        tiny.runs.symlink_to("nowhere")
    elif instead == "a folder without room":
        tiny.runs.symlink_to("/proc/self")
    _, said = running.communicate(timeout=60)
    assert running.returncode == 5
    assert b"error[R0507]: cannot write " in said and b"error 1" not in said
    assert not list(moved.glob(".*.tmp"))
    assert tiny("evaluate", "--from", str(max(moved.glob("step-*")))).returncode == 0
