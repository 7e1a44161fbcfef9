"""Reading and writing generated trees, real modules and mutants (specification, section 28, law 1)."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import alpha
from alpha.base.span import Source
from alpha.diagnostics.diagnostic import Refused
from alpha.syntax import tree as t
from alpha.syntax.format import format_module
from alpha.syntax.parse import parse_module
from laws.programs import module_from, modules

_REPOSITORY = Path(__file__).parents[2]
_FILES = sorted(
    file
    for folder in (
        Path(__file__).parent / "modules",
        Path(alpha.__file__).parent / "library",
        _REPOSITORY / "systems",
        _REPOSITORY / "platforms",
    )
    for file in folder.rglob("*.alpha")
)


def _parsed(text: str) -> t.Module:
    return parse_module(Source("text.alpha", text))


@settings(max_examples=80)
@given(modules)
def test_formatting_then_parsing_gives_the_tree_back(module: t.Module) -> None:
    text = format_module(module)
    assert _parsed(text) == module, text


@settings(max_examples=80)
@given(modules)
def test_formatting_twice_changes_nothing_more(module: t.Module) -> None:
    once = format_module(module)
    assert format_module(_parsed(once)) == once


def test_the_generator_makes_every_kind_of_node() -> None:
    kinds: set[type] = set()
    for seed in range(120):
        waiting: list[object] = [module_from(seed, 4, 3)]
        while waiting:
            node = waiting.pop()
            if isinstance(node, tuple):
                waiting.extend(node)
            elif isinstance(node, t.Node):
                kinds.add(type(node))
                waiting.extend(getattr(node, field.name) for field in dataclasses.fields(node))
    made = {
        kind for kind in vars(t).values() if isinstance(kind, type) and issubclass(kind, t.Node)
    }
    assert made - kinds == {t.Node, t.Documented, t.Comment}


# ---- comments ------------------------------------------------------------------------------------------------------


def _with_comments(text: str, random: Random) -> tuple[str, list[str]]:
    """The text with comments behind some lines and between some; all of them, in order."""
    lines: list[str] = []
    comments: list[str] = []
    for line in text.split("\n")[:-1]:
        if random.random() < 0.2:
            comments.append(f"-- own {len(comments)}")
            lines += (
                [""] * random.randrange(2)
                + [" " * random.randrange(9) + comments[-1]]
                + [""] * random.randrange(2)
            )
        if random.random() < 0.2 and line and "--" not in line:
            comments.append(f"-- behind {len(comments)}")
            line += " " * random.randrange(3) + comments[-1]
        lines.append(line)
    return "\n".join(lines) + "\n", comments


def _comments_of(text: str) -> list[str]:
    return re.findall(r"-- (?:own|behind) \d+", text)


def test_a_comment_at_the_end_of_a_block_stays_above_a_line_that_begins_with_brackets() -> None:
    text = "module Main\n\nf x =\n  let y =\n    x\n    -- about y\n  ((x + y) * 2 + y) * 3\n"
    assert format_module(_parsed(text)) == text


@pytest.mark.slow
@settings(max_examples=80)
@given(modules, st.integers(0, 2**32))
def test_no_comment_is_lost_and_none_changes_the_tree(module: t.Module, seed: int) -> None:
    commented, comments = _with_comments(format_module(module), Random(seed))
    tree = _parsed(commented)
    assert tree == module
    once = format_module(tree)
    again = _parsed(once)
    assert again == module
    assert sorted(_comments_of(once)) == sorted(comments)
    assert format_module(again) == once


def test_comments_stay_where_they_were() -> None:
    text = """\
-- above the header

--| What it is.
module Main

-- a section

one : Int
-- between the signature and its definition
one = 1  -- behind the definition

two : List Int
two =
  [ 1  -- the first
  -- before the second
  , 2
  -- at the end of the list
  ]

choice : Int -> Int
choice n =
  -- in a block
  if n == 1 then 1  -- behind `then`
  else
    -- deeper
    let m = n
    m
    -- at the end of the block

-- at the end of the file
"""
    assert format_module(_parsed(text)) == text


# ---- real modules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_real_modules_parse_and_reformat_stably(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    tree = _parsed(text)
    once = format_module(tree)
    again = _parsed(once)
    assert again == tree
    assert format_module(again) == once
    assert [comment.text for comment in again.comments] == [
        comment.text for comment in tree.comments
    ]


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_every_node_has_the_place_of_its_text(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    waiting: list[tuple[object, int, int]] = [(_parsed(text).items, 0, len(text))]
    while waiting:
        node, start, end = waiting.pop()
        if isinstance(node, tuple):
            waiting += [(item, start, end) for item in node]
        elif isinstance(node, t.Node):
            assert start <= node.span.start < node.span.end <= end, node
            if isinstance(node, t.Name):
                assert node.span.text == node.text
            elif isinstance(node, t.Int | t.Float | t.Quantity | t.Text):
                assert node.span.text == node.written
            parts = [getattr(node, field.name) for field in dataclasses.fields(node)]
            waiting += [(part, node.span.start, node.span.end) for part in parts]


# ---- mutants -------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"[A-Za-z_][\w']*|\d[\w.]*|\"[^\"\n]*\"|--[^\n]*|\n *|[^\w\s]+|.", re.DOTALL)
_CHARACTERS = list("abzAZ019_'\"\\ \n\t\r()[]{}=:,|.+-*/%@^<>!&#$;~?`é→\u0000\u202e\ud800")


def mutant(text: str, random: Random) -> str:
    """`text` with one character or token left out, doubled, replaced by another, or swapped with the next."""
    if random.random() < 0.5:
        place = random.randrange(len(text))
        pieces = list(text)
    else:
        pieces = _TOKEN.findall(text)
        place = random.randrange(len(pieces))
    match random.randrange(4):
        case 0:
            del pieces[place]
        case 1:
            pieces.insert(place, pieces[place])
        case 2:
            pieces[place] = random.choice([random.choice(_CHARACTERS), random.choice(pieces)])
        case _:
            other = (place + 1) % len(pieces)
            pieces[place], pieces[other] = pieces[other], pieces[place]
    return "".join(pieces)


def assert_accepted_or_refused(text: str) -> None:
    """Whatever the text is, reading it gives a tree that can be formatted, or diagnostics that can be shown."""
    try:
        tree = _parsed(text)
    except Refused as refused:
        assert refused.diagnostics
        for diagnostic in refused.diagnostics:
            assert re.fullmatch(r"E00(0[1-9]|10)|E0701", diagnostic.code)
            assert diagnostic.message and diagnostic.span is not None
            assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        return
    once = format_module(tree)
    again = _parsed(once)
    assert again == tree
    assert format_module(again) == once


@pytest.mark.slow
@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_mutants_are_accepted_or_refused(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    random = Random(file.stem)
    for _ in range(20):
        assert_accepted_or_refused(mutant(text, random))


@given(st.text(max_size=200))
def test_any_text_is_accepted_or_refused(text: str) -> None:
    assert_accepted_or_refused("module Main\n" + text)
