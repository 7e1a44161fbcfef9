"""However a command ends, it ends with the documented status, a clear word, and no traceback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from alpha.cli import main
from alpha.cli.commands import GROUPS, SUMMARIES, load
from alpha.cli.crash import report
from alpha.diagnostics.pages import load_page

ALPHA = [sys.executable, "-m", "alpha"]


def alpha(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [*ALPHA, *arguments], capture_output=True, text=True, timeout=60, **options
    )


@pytest.mark.parametrize("name", sorted(SUMMARIES))
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: alpha")
    assert load(name).name == name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["biuld"], "did you mean `build`?"),
        (["--nope"], "there is no option `--nope`"),
        (["build"], "Missing argument"),
        (["build", "Digits", "--emit", "elf"], "`elf` is not one of"),
        (["build", "Digits", "--emit"], "requires an argument"),
        (["view", "Digits"], "--stage"),
        (["explain", "E9999"], "no diagnostic code"),
        (["explain", "memory-byte"], "did you mean `memory-bytes` or"),
        (["explain", "--why", "Digits"], "needs the name of a demand"),
        (["check", "nowhere"], "there is no file or folder `nowhere`"),
        (["check", "--format", "xml"], "`xml` is not one of"),
        (["fmt", "nowhere"], "there is no file or folder `nowhere`"),
    ],
)
def test_wrong_usage_ends_with_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main.run(arguments) == 2
    shown = capsys.readouterr()
    assert words in shown.err
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


def test_no_arguments_give_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([]) == 0
    shown = capsys.readouterr().out
    assert all(f"{title}:\n" in shown for title in GROUPS)
    assert all(re.search(rf"^  {name} +\S", shown, re.MULTILINE) for name in SUMMARIES)


def test_an_empty_folder_has_nothing_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.run(["check"]) == 2
    assert "there are no modules" in capsys.readouterr().err


def test_an_unexpected_fault_ends_with_70_and_saves_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("a broken invariant")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("alpha.cli.commands.load", broken)
    assert main.run(["check"]) == 70
    shown = capsys.readouterr().err
    assert "a bug in Alpha" in shown
    assert "Traceback" not in shown
    (saved,) = (tmp_path / "alpha" / "crashes").iterdir()
    assert "a broken invariant" in saved.read_text()
    assert str(saved) in shown


def test_an_interruption_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("alpha.cli.commands.load", interrupted)
    assert main.run(["check"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_of_a_real_process_ends_with_130(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*ALPHA, "fmt", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    # More than a pipe holds: once it is written, the command is reading and waits for the rest.
    process.stdin.write("-- a comment\n" * 20_000)
    process.stdin.flush()
    process.send_signal(number)
    _, words = process.communicate(timeout=30)
    assert process.returncode == 130
    assert words == "\ninterrupted; the old files are untouched\n"


def test_what_nohup_ignores_stays_ignored() -> None:
    process = subprocess.Popen(
        ["nohup", *ALPHA, "fmt", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write("-- a comment\n" * 20_000)
    process.stdin.flush()
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=30)
    assert process.returncode != 130 and process.returncode >= 0


def test_an_interruption_before_the_first_import_says_nothing() -> None:
    """As the command begins: what is imported first raises where Ctrl-C would be felt."""
    code = (
        "import os, signal, sys; from alpha.__main__ import main\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder()); main()"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (-signal.SIGINT, "")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_build_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    process = subprocess.Popen(
        [*ALPHA, "build", "Digits", "-o", str(tmp_path / "digits")],
        stderr=subprocess.PIPE,
        env=environment,
    )
    children: list[str] = []
    while len(children) < 2:
        time.sleep(0.02)
        assert process.poll() is None
        children = _children(process.pid)
    time.sleep(0.3)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert not [child for child in children if Path("/proc", child).exists()]
    assert not (tmp_path / "digits").exists()


def _children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def test_a_reader_that_goes_away_is_no_fault() -> None:
    ended = subprocess.run(
        f"{sys.executable} -m alpha explain | head -1", shell=True, capture_output=True, text=True
    )
    assert ended.stdout == "E0001  tab or carriage return\n"
    assert ended.stderr == ""


def test_a_full_standard_output_ends_with_5() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        ended = subprocess.run([*ALPHA, "explain"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode == 5
    assert ended.stderr.startswith("error[R0507]: cannot write to standard output")


def test_closed_streams_are_no_fault() -> None:
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        ended = subprocess.run(
            f"{sys.executable} -m alpha explain E0412 {closed}", shell=True, capture_output=True
        )
        assert ended.returncode == 0, closed
        assert ended.stderr == b"", closed


def test_words_are_utf_8_in_every_locale() -> None:
    environment = dict(os.environ, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert alpha("explain", env=environment).returncode == 0


def test_a_removed_working_folder_is_a_clear_error(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    ended = subprocess.run(
        f"rmdir ../gone && {sys.executable} -m alpha check",
        shell=True,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert "current folder" in ended.stderr


@pytest.mark.parametrize(
    ("code", "words"), [("E0416", "ends with status 1"), ("R0508", "ends with status 5")]
)
def test_a_code_without_a_page_is_explained_too(
    code: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert load_page(code) is None
    assert main.run(["explain", code]) == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Tiny", "this is the folder `Tiny` itself: go to the folder above it"),
        ("Digits.Run", "the system is called `Digits`"),
    ],
)
def test_a_name_that_is_nearly_right_is_met_halfway(
    name: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    inside = tmp_path / "Tiny"
    inside.mkdir()
    monkeypatch.chdir(inside)
    assert main.run(["build", name]) == 1
    assert words in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("command", "status"), [("check", 1), ("fmt", 2)])
def test_a_pipe_named_like_a_module_is_not_waited_for(
    command: str, status: int, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "X.alpha")
    done = alpha(command, cwd=tmp_path)
    assert done.returncode == status and "it is not a regular file" in done.stderr


@pytest.mark.slow
def test_thousands_of_errors_are_reported_in_reasonable_time(tmp_path: Path) -> None:
    text = "module Main exposing (a)\n\na : Int\na = " + "f " * 4000 + "1\n"
    (tmp_path / "Main.alpha").write_text(text)
    begin = time.monotonic()
    done = alpha("check", cwd=tmp_path)
    assert done.returncode == 1 and "4000 errors" in done.stderr
    assert time.monotonic() - begin < 25


@pytest.mark.slow
def test_a_path_that_is_no_text_is_refused_in_words(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"A\xff.alpha")
    odd.write_text("module A\n")
    for command in ("check", "fix", "prove", "test"):
        done = alpha(command, str(odd))
        assert (done.returncode, "E0107" in done.stderr) == (1, True), done.stderr


def test_a_reproducer_is_saved_whatever_the_arguments_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    report(ValueError(), ["check", os.fsdecode(b"A\xff.alpha")])
    assert "A reproducer is saved" in capsys.readouterr().err
    assert "A\\udcff.alpha" in next((tmp_path / "alpha" / "crashes").iterdir()).read_text("utf-8")


def test_a_name_with_line_breaks_does_not_break_the_line_that_refuses_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for arguments in (["check", "a\nb\x1b[2J"], ["a\nb"], ["check", "--a\nb"]):
        assert main.run(arguments) == 2
        first, *rest = capsys.readouterr().err.splitlines()
        assert first.startswith("error: ")
        assert "a\N{REPLACEMENT CHARACTER}b" in first
        assert all(line.startswith(("Usage: ", "more: ")) for line in rest)
