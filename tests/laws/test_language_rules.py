"""The rules of the language, one small program each: what is accepted, and the exact codes of what is refused."""

from __future__ import annotations

import pytest

from alpha.check.program import check
from alpha.diagnostics.diagnostic import Diagnostics, Refused
from alpha.evaluate.evaluator import Evaluator
from alpha.evaluate.files import FileAccess
from checking import closure, loaded


def found(text: str, *others: str, warnings: bool = False) -> list[str]:
    """The codes that checking and evaluating a module gives; `others` are modules that it imports."""
    modules = [loaded(other, other.split()[1]) for other in others]
    whole = text if text.startswith("module ") else f"module Main\n\n{text}"
    diagnostics = Diagnostics()
    try:
        modules.append(loaded(whole + "\n"))
        everything = closure(modules)
        program = check(everything, diagnostics)
        files = FileAccess.of_modules({each.name: each.path for each in everything})
        evaluator = Evaluator(program, files=files, diagnostics=diagnostics, demands=lambda *_: ())
        for module in modules:
            evaluator.check_module(module.name)
    except Refused as refused:
        if not diagnostics.errors:
            return [item.code for item in refused.diagnostics]
    return [item.code for item in diagnostics.items if warnings or item.code[0] != "W"]


LIB = "module Lib\n\ntype T = First Int | Second\n\nf : Int\nf = 1\n"
OTHER = "module Other\n\ntype U = First | Third\n\nf : Int\nf = 2\n"


class TestNames:
    """A name means one thing within a module, wherever it comes from."""

    @pytest.mark.parametrize(
        ("text", "codes"),
        [
            ("import Lib (f, f)\n\nx : Int\nx = f", ["E0104"]),
            ("import Lib (f)\nimport Lib (f)\n\nx : Int\nx = f", ["E0104"]),
            ("import Lib (f)\nimport Other (f)\n\nx : Int\nx = f", ["E0104"]),
            ("import Lib (f)\n\nf : Int\nf = 1", ["E0104"]),
            ("import Lib as L\nimport Other as L\n\nx : Int\nx = L.f", ["E0104"]),
            ("import Lib as L\nimport Other as M\n\nx : Int\nx = L.f + M.f", []),
            ("import Lib (T)\nimport Other (U)\n\nx : T\nx = Second", ["E0104"]),
            ("import Lib (T)\n\ntype U = First\n\nx : T\nx = Second", ["E0104"]),
            ("import Lib (T)\n\ntype T = Q\n\nx : T\nx = Q", ["E0104"]),
            ("import Lib (T, First)\n\nx : T\nx = First 1", []),
            ("import Lib (First, T)\n\nx : T\nx = First 1", []),
            ("x : Int\nx = 1\n\nx : Int\nx = 2", ["E0104"]),
            ("x : Int\nx : Int\nx = 1", ["E0104"]),
            ("x : Int\nx = 1\n\nx = 2\n\nx = 3", ["E0104"]),
            ('x : Source\n\nsource x = manual "a" "b"', ["E0104"]),
            ("module Main exposing (x, z)\n\nx : Int\nx = 1", ["E0101"]),
            ("module Main exposing (x, x)\n\nx : Int\nx = 1", ["E0104"]),
            ("module Main exposing (First)\n\ntype T = First", []),
            (
                "model A [n] =\n  param w : Tensor f32 [n] = zeros\n\n  w : Int\n  w = 3",
                ["E0104"],
            ),
        ],
    )
    def test_each_is_one_fault(self, text: str, codes: list[str]) -> None:
        assert found(text, LIB, OTHER) == codes
