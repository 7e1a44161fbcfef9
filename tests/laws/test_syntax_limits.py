"""Bounds of reading a module: nesting (E0010), size, shipped tables, and what a start costs."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from alpha.base.span import Source
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.syntax import tables
from alpha.syntax.errors import MOST_BYTES, MOST_DEPTH
from alpha.syntax.format import format_module
from alpha.syntax.parse import parse_module
from alpha.syntax.source import read_source

# Each makes a declaration that nests `n` deep, one way or another.
_NESTINGS = {
    "brackets": lambda n: "x = " + "(" * n + "1" + ")" * n,
    "lists": lambda n: "x = " + "[" * n + "1" + "]" * n,
    "records": lambda n: "x = " + "{ a = " * n + "1" + " }" * n,
    "applications": lambda n: "x = " + "f (" * n + "1" + ")" * n,
    "not": lambda n: "x = " + "not " * n + "y",
    "minus": lambda n: "x = " + "-(" * n + "y" + ")" * n,
    "powers": lambda n: "x = " + "2 ^ " * n + "2",
    "sums": lambda n: "x = " + "1 + " * n + "1",
    "pipes": lambda n: "x =\n  y" + "\n    |> f" * n,
    "fields": lambda n: "x = y" + ".f" * n,
    "indices": lambda n: "x = y" + "[0]" * n,
    "functions": lambda n: "x = " + "fn y -> " * n + "1",
    "conditions": lambda n: "x =\n  if y then 1\n" + "  else if y then 1\n" * (n - 1) + "  else 2",
    "matches": lambda n: (
        "x ="
        + "".join(f"\n{' ' * (2 * i + 2)}match y with\n{' ' * (2 * i + 3)}z ->" for i in range(n))
        + " 1"
    ),
    "lets": lambda n: (
        "x ="
        + "".join(f"\n{' ' * (2 * i + 2)}let y{i} =" for i in range(n))
        + " 1"
        + "".join(f"\n{' ' * (2 * i + 2)}1" for i in reversed(range(n)))
    ),
    "einsums": lambda n: "x = " + "(einsum a[" * (-(-n // 2)) + "1" + "] to [i])" * (-(-n // 2)),
    "arrows": lambda n: "x : " + "a -> " * n + "a",
    "dimensions": lambda n: "x : T [" + "n * (" * (n - 2) + "1" + ")" * (n - 2) + "]",
    "patterns": lambda n: "f " + "(a, " * n + "b" + ")" * n + " = 1",
}


def _read(text: str) -> None:
    module = parse_module(Source("Main.alpha", "module Main\n\n" + text + "\n"))
    again = parse_module(Source("Main.alpha", format_module(module)))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)  # for the comparison
    try:
        assert again == module
    finally:
        sys.setrecursionlimit(limit)


def _refusal(text: str) -> Diagnostic:
    with pytest.raises(Refused) as refused:
        _read(text)
    return refused.value.diagnostics[0]


@pytest.mark.parametrize("nesting", _NESTINGS)
def test_nesting_up_to_the_limit_is_read_and_formatted(nesting: str) -> None:
    _read(_NESTINGS[nesting](MOST_DEPTH // 3 if nesting == "matches" else MOST_DEPTH))


@pytest.mark.parametrize("nesting", _NESTINGS)
@pytest.mark.parametrize("depth", [MOST_DEPTH + 1, 5_000])
def test_deeper_nesting_is_refused(nesting: str, depth: int) -> None:
    if nesting in ("matches", "lets"):
        depth = 400
    assert _refusal(_NESTINGS[nesting](depth)).code == "E0010"


@pytest.mark.slow
def test_width_is_not_depth() -> None:
    _read("x = f " + "y " * 2_000)
    _read("x = [" + "1, " * 2_000 + "2]")
    _read("x =\n" + "".join(f"  let y{n} = {n}\n" for n in range(1_000)) + "  y0")


def test_an_unclosed_bracket_at_any_depth_is_refused() -> None:
    assert _refusal("x = " + "(" * 200).code == "E0005"
    assert _refusal("x = " + "(" * 100_000).code == "E0010"


def test_a_file_over_the_limit_is_refused_unread() -> None:
    with pytest.raises(Refused) as refused:
        read_source(b"-" * (MOST_BYTES + 1), "Main.alpha")
    assert refused.value.diagnostics[0].code == "E0010"
    text = "module Main\n" + "--" + "é" * (MOST_BYTES // 2)
    with pytest.raises(Refused) as refused:
        parse_module(Source("Main.alpha", text))
    assert refused.value.diagnostics[0].code == "E0010"


def test_bytes_that_are_not_utf8_are_refused_at_their_line() -> None:
    for data in (b'module Main\n\nx = "\xff"\n', "module Main\n\n-- é ".encode() + b"\xc3("):
        with pytest.raises(Refused) as refused:
            read_source(data, "Main.alpha")
        (diagnostic,) = refused.value.diagnostics
        assert diagnostic.code == "E0001"
        assert diagnostic.span is not None and diagnostic.span.line == 3


def test_a_number_that_would_never_end_is_refused() -> None:
    assert _refusal("x = 1e999999999").code == "E0008"
    assert _refusal("x = " + "9" * 10_000).code == "E0008"


# ---- tables --------------------------------------------------------------------------------------------------------


def test_the_shipped_tables_are_those_of_the_grammar() -> None:
    made = tables.make(tables.GRAMMAR.read_text(encoding="utf-8"))
    shipped = json.loads(tables.SHIPPED.read_text(encoding="utf-8"))
    made.pop("lark"), shipped.pop("lark")
    assert made == shipped, "run `python -m alpha.syntax.tables`"


@pytest.mark.slow
def test_tables_do_not_depend_on_the_hash_seed(tmp_path) -> None:
    code = "import sys; from pathlib import Path; from alpha.syntax.tables import write; write(Path(sys.argv[1]))"
    for seed in ("1", "2"):
        file = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", code, str(file)], env={"PYTHONHASHSEED": seed}, check=True
        )
        assert file.read_bytes() == tables.SHIPPED.read_bytes()


def test_tables_of_another_grammar_are_made_anew(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "tables.json"
    other.write_text(tables.SHIPPED.read_text().replace('"grammar":"', '"grammar":"0'))
    monkeypatch.setattr(tables, "SHIPPED", other)
    tables.tables.cache_clear()
    try:
        _read("x = 1")
    finally:
        tables.tables.cache_clear()


def test_a_start_imports_no_parser_generator() -> None:
    code = (
        "import sys; from alpha.syntax.parse import parse_module; from alpha.base.span import Source;"
        "parse_module(Source('Main.alpha', 'module Main\\n'));"
        "sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.slow
def test_reading_takes_time_in_proportion_to_the_text() -> None:
    def seconds(lines: int) -> float:
        text = "".join(f"x{n} = f {n} [a, b] + {n}\n" for n in range(lines))
        before = time.process_time()
        _read(text)
        return time.process_time() - before

    seconds(50)
    assert seconds(800) < 16 * max(seconds(100), 0.01)
