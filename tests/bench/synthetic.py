"""A package of any number of small modules that import each other, for measuring and testing checks of large packages.

Every module has about 20 lines: a record, a variant with a match over it, a model, functions over dims, lists and
records, a proof. It imports from one module (a chain), two (a diamond) or a few spread ones, never in a circle.
"""

from __future__ import annotations

import random
from pathlib import Path


def name_of(number: int) -> str:
    return f"Large.Group{number // 50}.Part{number}"


def imports_of(number: int, seed: int = 0) -> list[int]:
    """The modules, all earlier ones, that a module imports."""
    draw = random.Random(f"{seed} {number}")
    if number == 0:
        return []
    if number % 10 == 0:  # begins a new chain on an early module
        return [draw.randrange(min(number, 40))]
    if number % 3 == 0 and number >= 3:  # a diamond: both sides import the same one
        return [number - 1, number - 2]
    if number % 7 == 0:
        return sorted({number - 1, draw.randrange(number), draw.randrange(number)})
    return [number - 1]


def module_text(number: int, seed: int = 0, change: str = "") -> str:
    """The text of a module. `change` is `body` (no one sees it), `type` (those that import it do) or empty."""
    n = number
    before = imports_of(n, seed)
    lines = [f"--| Part {n} of a large package.", f"module {name_of(n)}", ""]
    lines += [f"import {name_of(k)} (Shape{k}, scale{k}, area{k}, total{k})" for k in before]
    sums = " + ".join(["total" + str(k) + " count" for k in before] or ["count"])
    lines += [
        "",
        f"type Shape{n} = {{ width : Int, height : Int, name : Text }}",
        f"type State{n} = Empty{n} | Full{n} Int | Both{n} Int Bool",
        "",
        f"model Layer{n} [inputs, outputs] =",
        "  param w : Tensor f32 [inputs, outputs] = glorot",
        "  param b : Tensor f32 [outputs]         = zeros",
        "",
        "  forward : Tensor f32 [batch, inputs] -> Tensor f32 [batch, outputs]",
        f"  forward x = relu (scale{n} x @ w + b)",
        "",
        f"scale{n} : Tensor f32 [rows, columns] -> Tensor f32 [rows, columns]",
    ]
    scaled = " + ".join([f"scale{k} x" for k in before] or ["x"])
    lines += [f"scale{n} x = ({scaled}) * 0.5 + {n % 17 + 1}.0"]
    lines += [
        "",
        f"area{n} : Shape{n} -> Int",
        f"area{n} shape = shape.width * shape.height + {7 if change == 'body' else 0}",
        "",
        f"measure{n} : State{n} -> Int",
        f"measure{n} state =",
        "  match state with",
        f"    Empty{n} -> 0",
        f"    Full{n} size -> size",
        f"    Both{n} size twice -> if twice then 2 * size else size",
        "",
        f"total{n} : {'Int -> Int' if change != 'type' else 'Int -> Int -> Int'}",
    ]
    if change == "type":
        lines += [f"total{n} count more = more + {sums}"]
    else:
        lines += [f"total{n} count = fold 0 (fn sum item -> sum + item) [{sums}, {n}, count] % 97"]
    for k in before:
        lines += ["", f"double{k} : Shape{k} -> Int", f"double{k} shape = 2 * area{k} shape"]
    lines += [
        "",
        f"proof measured{n} =",
        f'  area{n} {{ width = {n % 9 + 1}, height = 2, name = "{n}" }}'
        f" + measure{n} (Both{n} 3 True) >= {2 * (n % 9 + 1)}",
    ]
    return "\n".join(lines) + "\n"


def write(folder: Path, count: int, seed: int = 0) -> None:
    """Writes the modules 0 to `count` - 1 below `folder`."""
    (folder / "alpha.toml").touch()
    for number in range(count):
        write_module(folder, number, seed)


def write_module(folder: Path, number: int, seed: int = 0, change: str = "") -> Path:
    place = folder / (name_of(number).replace(".", "/") + ".alpha")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(module_text(number, seed, change), "utf-8")
    return place
