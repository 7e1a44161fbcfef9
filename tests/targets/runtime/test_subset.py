"""The systems subset: what it computes, and that whatever it does not know is refused with its place."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from alpha.runtime.subset.errors import SubsetError
from alpha.runtime.subset.module import Settings, SubsetSource, compile_module
from alpha.runtime.subset.scope import Table
from alpha.runtime.subset.types import TYPES
from alpha.targets.x86_64.spec import X86_64_LINUX
from requirements import require_tool
from targets.runtime.probing import probe_program
from targets.runtime.tiny import tiny_executable, tiny_system

SETTINGS = Settings(
    "x86_64-unknown-linux-gnu", "x86-64", "test", {"N": 3}, {"T": Table(TYPES["u32"], [1, 2])}
)


def lower(text: str) -> str:
    return compile_module([SubsetSource("main.rt", text)], SETTINGS).ir


def function(*lines: str, head: str = "def f(a: i64, p: ptr) -> i64:") -> str:
    return "\n".join([head, *(f"    {line}" for line in lines), ""])


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("x = 1 +\n", "1:", "invalid syntax"),
        ("import os\n", "1:1", "constants, variables, functions"),
        ("X = 1\nX = 2\n", "2:1", "X is declared twice"),
        ("X = f()\n", "1:1", "constant integer"),
        ("x: i64 = N\ny: u8 = 256\n", "2:1", "fits u8"),
        ("x: f32 = 1\n", "1:1", "only integers"),
        ("x: bytes[a]\n", "1:1", "constant size"),
        ("x: string\n", "1:1", "unknown type"),
        ("def f(a): pass\n", "1:7", "type is needed"),
        ("def f(*a: i64): pass\n", "1:1", "plain parameters"),
        ("@other\ndef f(): pass\n", "2:1", "decorators are"),
        (function("return b"), "2:12", "unknown name b"),
        (function("return p"), "2:12", "ptr where i64 is needed"),
        (function("return a + p"), "2:16", "ptr where i64 is needed"),
        (function("return a + u32[p]"), "2:16", "u32 where i64 is needed"),
        (function("return a / 2"), "2:12", "Div is not defined for i64"),
        (function("return a ** 2"), "2:12", "Pow is not defined"),
        (function("return 1 if a else 2"), "2:17", "i64 where bool is needed"),
        (function("return a < 1 < 2"), "2:12", "one comparison"),
        (function("return i64(p < p)"), "2:16", "ptr is not ordered"),
        (function("if a:", "    return 1", "return 2"), "2:8", "i64 where bool"),
        (function("if a == 0:", "    return 1"), "1:1", "returns nothing"),
        (function("return 1", "return 2"), "3:5", "never reached"),
        (function("while True:", "    a += 1", "return 2"), "4:5", "never reached"),
        (function("if a == 0:", "    b = 1", "return b"), "4:12", "not assigned on every way"),
        (function("b: u8 = 256", "return a"), "2:13", "256 does not fit u8"),
        (function("b: u8 = 1", "b = a", "return a"), "3:9", "i64 where u8"),
        (function("b = 1", "b: i64 = 2", "return b"), "3:5", "already has a type"),
        (function("N = 4", "return N"), "2:5", "N hides a name"),
        (function("f = 4", "return a"), "2:5", "f hides a name"),
        (function("global a", "return a"), "2:5", "no variable of the module"),
        (function("a = f", "return a"), "2:9", "ptr where i64"),
        (function("return f(a)"), "2:12", "f takes 2 arguments"),
        (function("return g(a)"), "2:12", "unknown function g"),
        (function("return f(p=p, a=a)"), "2:12", "plain calls"),
        (function("return [a][0]"), "2:12", "Subscript is not in the subset"),
        (function("return u8[a]"), "2:15", "i64 where ptr"),
        (function("for i in p:", "    pass", "return a"), "2:5", "range"),
        (function("for i in range(0, a, 0):", "    pass", "return a"), "2:5", "positive"),
        (function("break", "return a"), "2:5", "Break"),
        (function("try:", "    a = 1", "finally:", "    a = 2", "return a"), "2:5", "Try"),
        (function("return bits(u32, a)"), "2:12", "differ in width"),
        (function("return syscall(1, 1.5)"), "2:23", "f64 is no argument"),
        (function("a.b = 1", "return a"), "2:5", "name or to memory"),
        (function("return a", head="@noreturn\ndef f(a: i64):"), "3:", ""),
        (function("pass", head="@noreturn\ndef f(a: i64):"), "2:1", "a way through"),
        (function("a = h()", "return a") + "def h(): pass\n", "2:9", "void where i64"),
    ],
)
def test_faults_are_refused_with_their_place(text: str, place: str, words: str) -> None:
    with pytest.raises(SubsetError) as refused:
        lower(text)
    assert str(refused.value).startswith(f"main.rt:{place}")
    assert words in str(refused.value)


def test_names_of_all_sources_share_one_space() -> None:
    sources = [SubsetSource("a.rt", "X = 1\n"), SubsetSource("b.rt", "Y = X + 1\nX = 3\n")]
    with pytest.raises(SubsetError, match=r"b\.rt:2:1: X is declared twice"):
        compile_module(sources, SETTINGS)


def test_no_local_lives_in_memory() -> None:
    text = lower(function("b = a", "while b < 9:", "    b = b * 2", "return b"))
    assert "alloca" not in text and "phi i64" in text


SEMANTICS = """
def three_ways(a: i64) -> i64:
    result = 0
    for i in range(a):
        if i % 3 == 0:
            continue
        if i > 20:
            break
        result += i * (1 if i % 2 == 0 else 10)
    else_part = result
    while else_part > 1000 or (else_part > 500 and a > 10):
        else_part -= 100
    return else_part

def effects(a: ptr) -> bool:
    i64[a] = i64[a] + 1
    return i64[a] % 2 == 0

probe_room: bytes[64]

@noreturn
def probe_run():
    i64[probe_room] = 0
    for a in range(40):
        put_signed(out, three_ways(a))
        put_byte(out, 32)
    short = effects(probe_room) and effects(probe_room)
    long = effects(probe_room) or effects(probe_room) or effects(probe_room)
    put_signed(out, i64[probe_room] * 100 + i64(u8(short)) * 10 + i64(u8(long)))
    put_byte(out, 32)
    put_signed(out, i64(i8(200)) + i64(u8(200)) + i64(u32(-1)) + i64(i32(-1)))
    put_byte(out, 32)
    put_signed(out, -7 // 2 * 1000 + i64[probe_room] // -2)
    put_byte(out, 32)
    put_unsigned(out, u64(-1) // 3 + (u64(1) << 63 >> 62))
    flush(out)
    leave(0)

probe_arguments: ptr = 0
"""


def three_ways(a: int) -> int:
    result = 0
    for i in range(a):
        if i % 3 == 0:
            continue
        if i > 20:
            break
        result += i * (1 if i % 2 == 0 else 10)
    while result > 1000 or (result > 500 and a > 10):
        result -= 100
    return result


@pytest.mark.slow
def test_control_flow_and_conversions_mean_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "probe"
    path.write_bytes(probe_program(SEMANTICS, X86_64_LINUX))
    path.chmod(0o755)
    found = subprocess.run([str(path)], capture_output=True, check=True).stdout.split()
    assert [int(word) for word in found[:40]] == [three_ways(a) for a in range(40)]
    # `and` ran once and was false, `or` once and was true
    assert found[40] == b"201"
    # division goes towards zero, for constants too
    assert int(found[41]) == -56 + 200 + 0xFFFFFFFF - 1
    assert int(found[42]) == -3 * 1000 - 1
    assert int(found[43]) == 0xFFFFFFFFFFFFFFFF // 3 + 2


def test_a_debugger_shows_the_sources_of_the_runtime(tmp_path: Path) -> None:
    gdb = require_tool("gdb")
    path = tmp_path / "tiny"
    path.write_bytes(tiny_executable(tiny_system(), X86_64_LINUX))
    path.chmod(0o755)
    commands = ["break run_step", "run", "backtrace", "quit"]
    script = [item for command in commands for item in ("-ex", command)]
    shown = subprocess.run(
        [gdb, "-nx", "-batch", *script, str(path)],
        cwd=tmp_path,
        capture_output=True,
        check=True,
    ).stdout.decode()
    assert "run_step () at" in shown and "programs.rt:" in shown
    for name in ("run_steps", "train", "run_command", "rt_start", "_start"):
        assert name in shown
