"""The command line of a built program: commands, options, messages, exit statuses."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from alpha.targets.x86_64.spec import X86_64_LINUX
from targets.runtime.conftest import Program, install
from targets.runtime.tiny import tiny_executable, tiny_system


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tarin"], "unknown command `tarin`; did you mean `train`?"),
        (["xyzzy"], "unknown command `xyzzy`\n"),
        (["--stpes", "3"], "unknown option `--stpes`; did you mean `--steps`?"),
        (["--nothing-like-it"], "unknown option `--nothing-like-it`\n"),
        (["--steps"], "--steps needs a value"),
        (["--steps", "0"], "--steps needs a whole number from 1 to 4,294,967,295, not `0`"),
        (["--steps", "4294967296"], "--steps needs a whole number"),
        (["--steps=1e3"], "not `1e3`"),
        (["--steps", "99999999999999999999"], "--steps needs a whole number"),
        (["--threads", "0"], "--threads needs a whole number from 1 to 256, not `0`"),
        (["--threads", "-1"], "--threads needs a whole number"),
        (["--log", "xml"], "--log is text or jsonl, not `xml`"),
        (["--data", ""], "--data needs a value"),
        (["train", "extra"], "unexpected argument `extra`"),
        (["predict"], "predict needs an input and an output"),
        (["predict", "a.npy"], "predict needs an input and an output"),
        (["predict", "a.npy", "b.txt"], "predict writes .npy or .csv files"),
        (["predict", "a", "b.npy", "c"], "unexpected argument `c`"),
        (["train", "--from", "x"], "resume --from x"),
        (["--device", "GPU-1"], "runs on the host processor alone"),
        (["predict", "--prompt", "Once"], "serves learners of bytes"),
        (["a\x1b[31m"], "unknown command `a?[31m`"),
        (["x" * 5000], "unknown command"),
        (["train", "--checkpoint", "x" * 5000], "1 to 3,000 bytes"),
    ],
)
def test_wrong_usage_is_named_and_exits_2(tiny: Program, arguments: list[str], words: str) -> None:
    done = tiny(*arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"error: ") and words in done.stderr.decode()
    assert not tiny.runs.exists()


def test_help_version_and_manifest_go_to_standard_output(tiny: Program) -> None:
    for option, words in [
        ("--help", b"usage: ./tiny [COMMAND] [OPTIONS]"),
        ("-h", b"exit status"),
        ("--version", b"Tiny.Run.baseline built by alpha "),
        ("--manifest", b'{"tiny":"manifest"}'),
        ("--self-check", b" ok\n"),
    ]:
        done = tiny(option)
        assert (done.returncode, done.stderr) == (0, b"")
        assert words in done.stdout


def test_a_changed_byte_is_found_at_start(tiny: Program) -> None:
    image = bytearray((tiny.folder / "tiny").read_bytes())
    place = image.index(b"did you mean ")
    image[place] ^= 0x20
    changed = install(tiny.folder / "changed", bytes(image))
    for command in (["train"], ["evaluate"], ["--self-check"]):
        done = changed(*command)
        assert done.returncode == 5
        assert b"error[R0506]" in done.stderr and b"alpha explain R0506" in done.stderr
    assert not changed.runs.exists()


def test_too_little_memory_is_named_before_anything_is_written(tiny: Program) -> None:
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))

    done = tiny("train", "--threads", "200", preexec_fn=limit)
    assert done.returncode == 5
    assert b"error[R0501]" in done.stderr and b"bytes" in done.stderr
    assert not tiny.runs.exists()


def test_the_name_of_the_program_is_the_one_it_was_called_by(tmp_path: Path) -> None:
    program = install(tmp_path / "p", tiny_executable(tiny_system(), X86_64_LINUX))
    (program.folder / "tiny").rename(program.folder / "other")
    (program.folder / "tiny").symlink_to("other")
    assert b"usage: ./tiny " in program("--help").stdout


def test_a_full_standard_output_is_an_error_for_data(tiny: Program) -> None:
    tiny("train", "--steps", "10")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            ["./tiny", "evaluate"],
            cwd=tiny.folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 5
    assert b"error[R0507]: cannot write standard output: no space left" in done.stderr


def test_closed_standard_streams_leave_no_words_in_files(tiny: Program) -> None:
    calm = tiny("train", "--steps", "10", "--checkpoint", "calm")
    assert calm.returncode == 0
    shell = "exec ./tiny train --steps 10 --checkpoint closed <&- >&- 2>&-"
    done = subprocess.run(["sh", "-c", shell], cwd=tiny.folder, timeout=60, check=False)
    assert done.returncode == 0
    for name in ("metrics.jsonl", "step-00000010.safetensors"):
        written = (tiny.folder / "closed" / name).read_bytes()
        assert written == (tiny.folder / "calm" / name).read_bytes()


@pytest.mark.parametrize("ignored", [False, True])
def test_a_lost_terminal_saves_the_run_and_nohup_keeps_it_going(
    tiny: Program, ignored: bool
) -> None:
    ways = signal.SIG_IGN if ignored else signal.SIG_DFL
    running = subprocess.Popen(
        ["./tiny", "train", "--steps", "4000000000"],
        cwd=tiny.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, ways),
    )
    assert running.stdout is not None
    running.stdout.readline()
    time.sleep(0.1)
    running.send_signal(signal.SIGHUP)
    if ignored:
        time.sleep(0.2)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
    words = running.communicate(timeout=60)[1]
    assert running.returncode == 130 and b"; saved\n  help: ./tiny resume\n" in words
    assert tiny("resume", "--steps", "1").returncode == 0


def test_a_refused_command_makes_no_folder(tiny: Program) -> None:
    for command in ("resume", "evaluate"):
        assert tiny(command).returncode == 5
    assert not (tiny.folder / "runs").exists()
