"""The diagnostics of reading a module: E0001 to E0010 and the missing `from` of E0701."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from alpha.base.record import replace
from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Diagnostic, Fix, Label

MOST_BYTES = 1 << 20
MOST_DEPTH = 256

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_MEANT = {
    "&": "write `and`",
    "!": "write `not` before a condition, `!=` between values",
    "#": "a comment begins with `--`",
    "\\": "a function is written `fn x -> ...`",
    "λ": "a function is written `fn x -> ...`",
    "'": 'a text stands in double quotes: "..."',
    "`": 'a text stands in double quotes: "..."',
    "“": 'a text stands in plain double quotes: "..."',
    "”": 'a text stands in plain double quotes: "..."',
    "→": "write `->`",
    "≤": "write `<=`",
    "≥": "write `>=`",
    "≠": "write `!=`",
    "×": "write `*`",
    "·": "write `*`",
    "−": "write `-`",
    ";": "each item stands on its own line",
    "$": "write brackets, or `|>` to pass a value on",
    "~": "write `-` for the negative, `not` for the opposite",
    "?": "a choice is written `if c then a else b`",
    "\ufeff": "save the file as UTF-8 without a byte order mark",
}


# ---- the file ------------------------------------------------------------------------------------------------------


def not_utf8(source: Source, at: int, byte: int, value: int) -> Diagnostic:
    return Diagnostic(
        "E0001",
        f"the file is not UTF-8: byte {byte} of the file is 0x{value:02X}",
        Span(source, at, at + 1),
        cause="a source file is UTF-8 text, so that every machine reads the same characters",
        hints=("save the file as UTF-8",),
    )


def bad_space(source: Source, at: int) -> Diagnostic:
    span = Span(source, at, at + 1)
    if source.text[at] == "\t":
        return Diagnostic(
            "E0001",
            "a tab; layout is measured in spaces",
            span,
            cause="columns decide where a block ends, and a tab has no width of its own",
            hints=("indent with two spaces for each level", "inside a text, write `\\t`"),
        )
    return Diagnostic(
        "E0001",
        "a carriage return; lines end with a line feed alone",
        span,
        cause="equal programs must be equal bytes on every system",
        hints=("save the file with LF line ends",),
    )


def with_plain_spaces(diagnostic: Diagnostic, source: Source) -> Diagnostic:
    """The first diagnostic of a file's spaces, with the one edit that mends all of them.

    A tab that indents becomes two spaces, any other tab one, and lines end with a line feed alone. That is sure
    unless a text could hold the tab, or a carriage return stands within a line.
    """
    if source.text.startswith("\ufeff"):
        edit = Fix("remove the byte order mark", Span(source, 0, 1), "", safe=True)
        return replace(diagnostic, fixes=(edit,))
    found = [at for at, character in enumerate(source.text) if character in "\t\r"]
    if not found or diagnostic.code != "E0001":
        return diagnostic
    start = source.text.rfind("\n", 0, found[0]) + 1
    end = source.text.find("\n", found[-1])
    span = Span(source, start, end if end >= 0 else len(source.text))
    lines = span.text.split("\n")
    sure = all("\t" not in line or '"' not in line.rpartition("\t")[0] for line in lines)
    sure = sure and all("\r" not in line.removesuffix("\r") for line in lines)
    title = "write spaces for tabs" if "\t" in span.text else "end lines with LF alone"
    edit = Fix(title, span, "\n".join(map(_with_spaces, lines)), sure)
    return replace(diagnostic, fixes=(edit,))


def _with_spaces(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    rest = line[len(indent) :].replace("\t", " ").replace("\r", "")
    return indent.replace("\t", "  ") + rest


def too_large(source: Source, size: int) -> Diagnostic:
    return Diagnostic(
        "E0010",
        f"the file has {size:,} bytes; a module has at most {MOST_BYTES:,}",
        Span(source, 0, 0),
        cause="a module is something a person reads; this is the size of generated data",
        hints=("split the module, or move the data into a file that a `data` entry names",),
    )


def too_deep(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0010",
        f"nested deeper than {MOST_DEPTH} levels",
        span,
        cause="each bracket and block is a level, and so is each operator of a chain `a + b + c` or `x |> f |> g`",
        hints=("name parts of it with `let`", "a long chain is a `fold`, `sum` or list"),
    )


# ---- characters and words ------------------------------------------------------------------------------------------


def no_token(source: Source, at: int) -> Diagnostic:
    """The character at `at` begins no token: E0002, or E0006 for a quote that is never closed."""
    character = source.text[at]
    if character == '"':
        end = source.text.find("\n", at)
        return Diagnostic(
            "E0006",
            "this text is not closed on its line",
            Span(source, at, end if end >= 0 else len(source.text)),
            cause="a text begins and ends on one line",
            hints=(
                'close it with `"`',
                "write a line end inside a text as `\\n`, and join long texts with `++`",
            ),
        )
    return bad_character(source, at)


def bad_character(source: Source, at: int) -> Diagnostic:
    character = source.text[at]
    name = unicodedata.name(character, "a control character").lower()
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
    described = shown if character.isascii() and character.isprintable() else f"{shown} ({name})"
    hints = (_MEANT[character],) if character in _MEANT else ()
    if not hints and character.isalpha():
        hints = ("names are written with the letters a to z, A to Z",)
    if not hints and not character.isprintable():
        hints = (f"inside a text, write it as `\\u{{{ord(character):X}}}`",)
    return Diagnostic(
        "E0002",
        f"{described} has no meaning here",
        Span(source, at, at + 1),
        cause="code is written with ASCII letters, digits and a few symbols; "
        "other characters belong into texts and comments",
        hints=hints,
    )


def keyword_as_name(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0003",
        f"`{span.text}` is a keyword and cannot be a name",
        span,
        cause="the keyword would be read as such wherever the name is used",
        hints=("choose another name",),
    )


def unit_as_name(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0003",
        f"`{span.text}` is a unit and cannot be a name",
        span,
        cause=f"a unit may stand a space behind its number, so `2 {span.text}` must mean one thing",
        hints=("choose another name",),
    )


def underscore_name(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0009",
        f"`{span.text}`: a name begins with a letter",
        span,
        cause="`_` alone is the pattern that matches everything; it begins no name",
        hints=(
            f"write `{span.text.lstrip('_0123456789') or 'x'}`, or `_` for a value that is not used",
        ),
    )


def primed_type_name(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0009",
        f"`{span.text}`: only value names may end in `'`",
        span,
        cause="types, constructors, models and modules have names without primes",
        hints=(f"write `{span.text.rstrip(chr(39))}`",),
    )


def lonely_dot(source: Source, at: int) -> Diagnostic:
    span = Span(source, at, at + 1)
    if source.text[at + 1 : at + 2].isdigit():
        return Diagnostic(
            "E0008",
            "a float has digits on both sides of its point",
            span,
            cause="`.5` looks like a field; `0.5` is a number",
            hints=("write a `0` before the point",),
            fixes=(Fix("insert the zero", Span(source, at, at), "0", safe=True),),
        )
    return Diagnostic(
        "E0009",
        "a `.` that selects nothing",
        span,
        cause="`r.f` selects a field of `r`, and `.f` behind a space is the function that does; "
        "nothing else has a point",
    )


# ---- numbers and texts ---------------------------------------------------------------------------------------------


def unknown_unit(span: Span, number: str, meant: str | None) -> Diagnostic:
    fixes = (Fix(f"write `{meant}`", span, meant),) if meant and meant != span.text else ()
    if meant == span.text:
        return Diagnostic(
            "E0007",
            f"the unit `{meant}` stands directly behind its number or one space away",
            span,
            cause=f"`{number} {meant}` is one token; anything further apart is two",
            hints=(f"write `{number} {meant}`, with a plain decimal number",),
        )
    return Diagnostic(
        "E0007",
        f"`{span.text}` is not a unit" + (f"; did you mean `{meant}`?" if meant else ""),
        span,
        cause="the units are B KB MB GB TB KiB MiB GiB TiB (each also with /s), Hz kHz MHz GHz THz, FLOP MFLOP "
        "GFLOP TFLOP (also with /s), and ns us ms s min h, which stand directly behind their number",
        hints=() if meant else ("put a space between a number and a name",),
        fixes=fixes,
    )


def malformed_number(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0008",
        f"`{span.text}` is not a number",
        span,
        cause="a float has digits on both sides of its point (`1.0`, `3e-4`); the only other base is `0x1F`",
    )


def leading_zero(span: Span) -> Diagnostic:
    plain = span.text.lstrip("0_")
    plain = plain if plain[:1].isdigit() else "0" + plain
    return Diagnostic(
        "E0008",
        f"`{span.text}` begins with a zero",
        span,
        cause="some languages read a leading zero as base 8, so it is never written",
        fixes=(Fix("remove the zero", span, plain),),
    )


def stray_underscore(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0008",
        f"`{span.text}`: an underscore stands between two digits",
        span,
        cause="underscores group digits, as in `1_024`",
        fixes=(Fix("remove the underscores", span, span.text.replace("_", "")),),
    )


def endless_number(span: Span, most: int) -> Diagnostic:
    return Diagnostic(
        "E0008",
        f"a number of more than {most:,} digits",
        span,
        cause=f"numbers are exact; one of over {most:,} digits, or with a larger exponent, is not meant",
    )


def unknown_escape(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0006",
        f"`{span.text}` is not an escape",
        span,
        cause='the escapes are `\\n`, `\\t`, `\\"`, `\\\\` and `\\u{1F600}`, with one to six hexadecimal digits',
        hints=("write `\\\\` for a backslash",),
    )


def no_character(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0006",
        f"`{span.text}` is no character",
        span,
        cause="characters are U+0000 to U+10FFFF without U+D800 to U+DFFF",
    )


# ---- layout --------------------------------------------------------------------------------------------------------


def no_block(span: Span, column: int, open_columns: Sequence[int]) -> Diagnostic:
    columns = ", ".join(str(column + 1) for column in open_columns)
    return Diagnostic(
        "E0004",
        f"this line starts at column {column + 1}, where no block is open",
        span,
        cause=f"a line begins an item at the column of an open block (here: {columns}), "
        "or is deeper and continues the line above",
        hints=("indent it like the items above it",),
    )


def no_header(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0009",
        "a file begins with its module's header",
        span,
        cause="the header names the module: `module Name` or `module Folder.Name`, like the file and its folder",
        hints=("put `module Name` on the first line",),
    )


def indented_declaration(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0004",
        "the first line of a module is indented",
        span,
        cause="declarations start at column 1",
    )


def unclosed_bracket(span: Span, noticed: Span | None) -> Diagnostic:
    labels = (Label(noticed, "noticed here"),) if noticed else ()
    return Diagnostic(
        "E0005",
        f"`{span.text}` is never closed",
        span,
        labels=labels,
        cause="a bracket ends before the next declaration begins",
        hints=(f"close it with `{_CLOSING[span.text]}`",) if span.text in _CLOSING else (),
    )


def wrong_bracket(span: Span, opening: Span) -> Diagnostic:
    return Diagnostic(
        "E0005",
        f"`{opening.text}` is closed by `{span.text}`",
        span,
        labels=(Label(opening, "opened here"),),
        cause="brackets close in the reverse order in which they open, each by its own kind",
    )


def stray_bracket(span: Span) -> Diagnostic:
    return Diagnostic(
        "E0005", f"`{span.text}` closes nothing", span, cause="no bracket is open here"
    )
