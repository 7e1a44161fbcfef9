"""Small modules that would take for ever: each ends in a diagnostic, within seconds and in bounded memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 30
MEMORY = 3 << 30
"""Address space; the interpreter with the compiler takes a tenth of it."""


def _repeated(line: str, count: int) -> str:
    return "".join(line.format(i=i, before=i - 1) for i in range(1, count))


def _dims(line: str, count: int) -> str:
    return " * ".join(line.format(i=i) for i in range(count))


BOMBS = {
    "one unknown name a great many times": ("E0101", "x = " + "y'" * 30_000 + "\n"),
    "lists that double": (
        "E0502",
        "f : List Int\nf = fold [1] (fn items n -> items ++ items) (range 0 60)\n",
    ),
    "texts that double": (
        "E0502",
        'proof p = fold "a" (fn text n -> text ++ text) (range 0 60) == "b"\n',
    ),
    "a range too long": (
        "E0502",
        "proof p = fold 0 (fn sum n -> sum + n) (range 0 1000000000) == 3\n",
    ),
    "a square of a square": ("E0502", "proof p = fold 3 (fn n _ -> n * n) (range 0 60) == 1\n"),
    "a power": ("E0502", "proof p = 3 ^ 100000000000 == 1\n"),
    "pairs of pairs in definitions": (
        "E0010",
        "f0 x = (x, x)\n\n" + _repeated("f{i} x = f0 (f{before} x)\n", 40),
    ),
    "pairs of pairs in one definition": (
        "E0010",
        "f x0 =\n" + _repeated("  let x{i} = (x{before}, x{before})\n", 40) + "  x39\n",
    ),
    "functions that double themselves": (
        "E0010",
        "f0 x = (x, x)\n\n" + _repeated("f{i} x = f{before} (f{before} x)\n", 7),
    ),
    "equal types of many parts": (
        "E0010",
        "f x0 =\n"
        + _repeated("  let x{i} = (x{before}, x{before})\n", 30)
        + "  let y0 = x0\n"
        + _repeated("  let y{i} = (y{before}, y{before})\n", 30)
        + "  if True then x29 else y29\n",
    ),
    "a product of sums of sizes": (
        "E0010",
        f"f : Tensor f32 [{_dims('(a{i} + b{i})', 24)}] -> Int\nf x = 1\n",
    ),
    "sizes of a high degree": (
        "E0010",
        "alias T0 [n] = Tensor f32 [n + 1]\n"
        + _repeated("alias T{i} [n] = T{before} [n * n + 1]\n", 14)
        + "\nf : T13 [k] -> Int\nf x = 1\n",
    ),
    "a long literal": ("E0008", f"f : Int\nf = {'9' * 900_000}\n"),
    "a wide exponent": ("E0008", "f : f32\nf = 1e999999999\n"),
    "a long sum": ("E0010", f"f : Int -> Int\nf n = {' + '.join(['n'] * 20_000)}\n"),
    "a long pipeline": (
        "E0010",
        "f : Int -> Int\nf n = n\n" + _repeated("  |> (fn k -> k + 1)\n", 3000),
    ),
    "an integer that no one would read": ("P0001", "proof p = 3 ^ 20000 == 1\n"),
    "an integer that no dtype holds": (
        "E0402",
        "big : Int\nbig = 3 ^ 20000\n\nv : f32\nv = cast f32 big\n\nproof p = v == 1.0\n",
    ),
}

HARMLESS = {
    "records of records": "type R0 = { a : Int, b : Int }\n"
    + _repeated("type R{i} = {{ a : R{before}, b : R{before} }}\n", 40)
    + "\nf : R39 -> R39 -> Bool\nf x y = x == y\n",
    "variants of variants": "type R0 = K0 Int\n"
    + _repeated("type R{i} = K{i} R{before} R{before}\n", 40)
    + "\nf : R39 -> Int\nf x =\n  match x with\n    K39 _ _ -> 1\n",
    "a wide match": "type V = Aa | Bb | Cc | Dd\n\n"
    + f"f : ({', '.join(['V'] * 12)}) -> Int\nf x =\n  match x with\n"
    + "".join(
        "    (" + ", ".join("Aa" if i == j else "_" for j in range(12)) + f") -> {i}\n"
        for i in range(12)
    )
    + "    _ -> 99\n",
}


def _check(folder: Path, text: str) -> tuple[int, list[dict[str, object]], str]:
    (folder / "Bomb.alpha").write_text("module Bomb\n\n" + text, "utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "alpha", "check", "--format", "json", folder],
        capture_output=True,
        text=True,
        timeout=4
        * SECONDS,  # of a machine that others use too; what counts is the processor's time
        preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
        ),
    )
    return ended.returncode, [json.loads(line) for line in ended.stdout.splitlines()], ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_what_would_take_for_ever_ends_in_a_diagnostic(name: str, tmp_path: Path) -> None:
    code, text = BOMBS[name]
    status, found, words = _check(tmp_path, text)
    assert (status, found[0]["code"] if found else words) == (1, code)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_dangerous_is_checked(name: str, tmp_path: Path) -> None:
    assert _check(tmp_path, HARMLESS[name])[0] == 0
