"""Small modules that would take for ever: each ends in a diagnostic, within seconds and in bounded memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 25
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
    "folds in folds": (
        "E0502",
        "proof p = fold 0 (fn a _ -> fold a (fn b _ -> fold b (fn c n -> c + n) (range 0 900)) (range 0 900))"
        " (range 0 900) == 1\n",
    ),
    "functions applied to themselves": (
        "E0502",
        "module Bomb budget 50_000\n\ntwo : (a -> a) -> a -> a\ntwo f x = f (f x)\n\n"
        "proof p = two (two (two (two (two (fn n -> n + 1))))) 0 + two two two two two (fn n -> n + 1) 0 == 1\n",
    ),
    "records of records in values": (
        "E0502",
        "type R0 = { a : Int, b : Int }\n"
        + _repeated("type R{i} = {{ a : R{before}, b : R{before} }}\n", 40)
        + "\nr0 : R0\nr0 = { a = 1, b = 2 }\n"
        + _repeated("\nr{i} : R{i}\nr{i} = {{ a = r{before}, b = r{before} }}\n", 40)
        + "\nproof p = r39 == { r39 | a = r38 }\n",
    ),
    "a graph without an end": (
        "E0502",
        "f : Tensor f32 [4] -> Tensor f32 [4]\n"
        "f x = fold x (fn y _ -> y * y + x) (range 0 2000000)\n\n"
        "v : Tensor f32 [4]\nv = f (fill [4] 1.0)\n",
    ),
    "a graph that doubles": (
        "E0502",
        "module Bomb budget 50_000\n\nf0 : Tensor f32 [4] -> Tensor f32 [4]\nf0 x = x * x + x\n\n"
        + _repeated(
            "f{i} : Tensor f32 [4] -> Tensor f32 [4]\nf{i} x = f{before} (f{before} x)\n\n", 40
        )
        + "v : Tensor f32 [4]\nv = f39 (fill [4] 1.0)\n",
    ),
    "an integer that no one would read": ("P0001", "proof p = 3 ^ 20000 == 1\n"),
    "an integer that no dtype holds": (
        "E0402",
        "big : Int\nbig = 3 ^ 20000\n\nv : f32\nv = cast f32 big\n\nproof p = v == 1.0\n",
    ),
}

HARMLESS = {
    "a tensor beyond all memory": "v : Tensor f32 [4000000000, 4000000000]\n"
    "v = fill [4000000000, 4000000000] 1.0 * 2.0\n",
    "a contraction beyond all work": "v : f32\nv =\n  let x = fill [1000000, 1000000, 1000000] 1.0\n"
    "  einsum x[a, b, c], x[d, e, f] to []\n",
    "a match of many arms": "f : Int -> Int\nf n =\n  match n with\n"
    + "".join(f"    {i} -> {i + 1}\n" for i in range(2000))
    + "    _ -> 0\n",
    "a match of many pairs": "f : (Int, Int) -> Int\nf n =\n  match n with\n"
    + "".join(f"    (_, {i}) -> {i + 1}\n" for i in range(1000))
    + "    _ -> 0\n",
    "a long list": f"f : List Int\nf = [{', '.join(map(str, range(30_000)))}]\n",
    "many definitions": _repeated("f{i} : Int -> Int\nf{i} n = n + {i}\n\n", 1000),
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
    header = "" if text.startswith("module") else "module Bomb\n\n"
    (folder / "Bomb.alpha").write_text(header + text, "utf-8")
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


@pytest.mark.slow
@pytest.mark.parametrize("name", HARMLESS)
def test_what_only_looks_dangerous_is_checked(name: str, tmp_path: Path) -> None:
    assert _check(tmp_path, HARMLESS[name])[0] == 0
