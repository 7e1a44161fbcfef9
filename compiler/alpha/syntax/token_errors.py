"""Why a token does not fit, in the reader's words: E0009, and E0701 for a fact without `from`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Diagnostic, Fix
from alpha.syntax import errors
from alpha.syntax.layout import OPENERS
from alpha.syntax.lexer import END, HARD_KEYWORDS, Token

_ENDS = frozenset({"_NEWLINE", "_DEDENT", END})
_OPERATORS = frozenset({
    "CMP", "CAT", "PLUS", "MULOP", "POWER", "OR", "AND", "_PIPE", "_TDOT", "_TLSQB",
})  # fmt: skip  # `-` begins operands as well
_OPERANDS = frozenset({
    "NAME", "CON", "INT", "FLOAT", "QUANTITY", "STRING", "ACCESSOR", "_LPAR", "_LSQB", "_LBRACE", "FN", "IF",
    "MATCH", "EINSUM", "NOT", "MINUS", "_WILD",
})  # fmt: skip
_DEFINING = frozenset({"_EQUAL", "_COLON"})
_DEFINES = re.compile(r" *(?:=(?!=)|:)")
_AXIS_WORDS = frozenset({"axis", "dim", "axes", "keepdims", "keepdim"})
_DEFINE_WORDS = frozenset({"def", "fun", "func", "function", "class", "const", "var", "from"})
_MIDDLES = frozenset({
    "if", "then", "else", "match", "with", "fn", "and", "or", "not", "einsum", "let", "where",
})  # fmt: skip
_DECLARATIONS = frozenset({
    "ALIAS", "FACTS", "HOST", "IMPORT", "LEARNER", "MODEL", "OPTIMIZER", "PAIRING", "POLICY", "PROFILE",
    "PROOF", "REJECTS", "SOURCE", "TEST", "TYPE",
})  # fmt: skip

_PHRASES = {
    "NAME": "a name", "CON": "a name with a capital letter", "FACT": "the name of a fact",
    "CODE": "a code such as `E0412`", "INT": "a whole number", "FLOAT": "a number", 
    "QUANTITY": "a quantity such as `2s`",
    "STRING": 'a text in `"`',
    "ACCESSOR": "a field such as `.name`", "DOC": "a doc comment", "CMP": "a comparison", "CAT": "`++`", "PLUS": "`+`",
    "MINUS": "`-`", "MULOP": "`*`", "POWER": "`^`", "_LPAR": "`(`", "_RPAR": "`)`", "_LSQB": "`[`", "_TLSQB": "`[`",
    "_RSQB": "`]`", "_LBRACE": "`{`", "_RBRACE": "`}`", "_EQUAL": "`=`", "_COLON": "`:`", "_COMMA": "`,`",
    "_BAR": "`|`",
    "_PIPE": "`|>`", "_ARROW": "`->`", "_TDOT": "`.`", "_ELLIPSIS": "`...`", "_WILD": "`_`",
    "_INDENT": "an indented block on the next line", "_DEDENT": "the end of the block", "_NEWLINE": "a new line",
    END: "the end of the declaration",
}  # fmt: skip


def unexpected(
    token: Token, previous: Token | None, expected: Sequence[str], place: Span
) -> Diagnostic:
    """The diagnostic for `token`, which came behind `previous` where only `expected` kinds would have fitted."""
    wanted = frozenset(expected)
    ended = token.kind in _ENDS
    if "FROM" in wanted and ended:
        return _no_evidence(place)
    if (
        token.text in HARD_KEYWORDS
        and token.text not in _MIDDLES
        and "NAME" in wanted
        and "DOC" not in wanted
    ):
        return errors.keyword_as_name(place)
    if token.text in _MIDDLES and "NAME" in wanted and not wanted & {"FLOAT", "DOC"}:
        return errors.keyword_as_name(place)
    named = _defined_keyword(token, previous, place)
    if named is not None:
        return errors.keyword_as_name(named)
    message, cause, hints, fixes = _told(token, previous, wanted, place)
    return Diagnostic("E0009", message, place, cause=cause, hints=hints, fixes=fixes)


def _defined_keyword(token: Token, previous: Token | None, place: Span) -> Span | None:
    """The keyword that a line tries to define or sign: `let = 1`, `type : Int`."""
    source = place.source
    if token.text in HARD_KEYWORDS and _DEFINES.match(source.text, token.end):
        return place
    if previous is not None and previous.text in HARD_KEYWORDS and token.kind in _DEFINING:
        span = Span(source, previous.start, previous.end)
        if span.column == 1:
            return span
    return None


def _no_evidence(place: Span) -> Diagnostic:
    return Diagnostic(
        "E0701",
        "this fact has no evidence",
        place,
        cause="a fact says who established it: `from Architectural SOURCE`, `from Measured SOURCE` "
        "or `from Modelled SOURCE`",
        hints=(
            "end the line with `from` and its evidence; a fact that nobody established is left out",
        ),
    )


_Told = tuple[str, str, tuple[str, ...], tuple[Fix, ...]]


def _told(token: Token, previous: Token | None, wanted: frozenset[str], place: Span) -> _Told:
    fitting = would_fit(wanted)
    ended = token.kind in _ENDS
    cause = ""
    if ended:
        return _too_early(previous, wanted, fitting)
    if token.kind == "_INDENT":
        cause = "a block opens behind `=`, `->`, `then`, `else` or `with` at the end of a line"
        return "this line is indented, but nothing above it opens a block", cause, (), ()
    shown = f"`{token.text}`" if len(token.text) <= 40 else f"`{token.text[:37]}...`"
    message = f"unexpected {shown}; {fitting} would fit"
    if token.kind == "DOC":
        cause = "a doc comment stands above a declaration or an item of a block"
        return (
            "a doc comment where nothing can be documented",
            cause,
            ("a plain comment begins with `--`",),
            (),
        )
    if token.kind == "MODULE":
        return (
            "a second module in this file",
            "a file holds one module, and its header comes first",
            (),
            (),
        )
    if (
        token.kind in ("_EQUAL", "_COLON")
        and previous is not None
        and previous.kind == previous.text.upper()
    ):
        hint = f"`{previous.text}` begins a declaration or an item here; a definition needs another name"
        return message, cause, (hint,), ()
    if token.kind == "_EQUAL" and previous is not None and previous.text in _AXIS_WORDS:
        return message, cause, ("an axis stands in tight brackets: `sum[1] x`, `mean[-1] x`",), ()
    if token.kind == "_EQUAL" and previous is not None and _begins_line(previous, place):
        at = Span(place.source, previous.start, previous.start)
        hint = "inside a definition, another one is written `let x = ...`"
        return message, cause, (hint,), (Fix("define it with `let`", at, "let "),)
    if token.kind == "_EQUAL" and wanted & _OPERATORS:
        fix = Fix("compare with `==`", place, "==")
        hints = (
            "`=` defines, `==` compares",
            "inside a definition, another one is written `let x = ...`",
        )
        return message, cause, hints, (fix,)
    if token.text == "*" and previous is not None and previous.text == "*":
        return message, cause, ("a power is written `x ^ 2`",), ()
    if token.kind == "_COLON" and previous is not None and previous.text == ":":
        return message, cause, ("a slice is `x[a:b]` and takes every place: it has no step",), ()
    if (word := place.source.line(place.line).split(" ", 1)[0]) in _DEFINE_WORDS:
        hint = f"a definition has no `{word}` in front: `f x = ...`, and above it `f : Int -> Int`"
        return message, cause, (hint,), ()
    if token.kind == "_ARROW" and wanted & _OPERATORS:
        return message, cause, ("a function is written `fn x -> ...`",), ()
    if token.kind == "_COLON" and wanted == {"_EQUAL"} and _in_slot(place):
        hint = "a slot has the shape and dtype of its parameter, so its type is not written"
        return message, cause, (hint,), ()
    if token.kind == "_COLON" and {"_WILD", "_EQUAL"} <= wanted:
        hint = "a parameter's type is written `(x : Int)`, the result's in a signature above: `f : Int -> Int`"
        return message, cause, (hint,), ()
    if token.kind == "CMP" and wanted & _OPERATORS:
        hint = "write `a < b and b < c`"
        return (
            f"comparisons do not chain: a second {shown}",
            "`a < b < c` has no meaning",
            (hint,),
            (),
        )
    if token.kind == "CMP" and token.text == "==" and "_EQUAL" in wanted:
        return (
            message,
            cause,
            ("`=` defines, `==` compares",),
            (Fix("define with `=`", place, "="),),
        )
    if token.kind == "IMPORT" or (token.kind in _DECLARATIONS and wanted & _ENDS):
        return (
            message,
            cause,
            ("declarations and imports start at column 1, each on its own line",),
            (),
        )
    if token.kind in ("FN", "IF", "MATCH", "EINSUM") and "_LPAR" in wanted:
        return (
            message,
            cause,
            (f"as an operand or an argument, `{token.text}` stands in brackets",),
            (),
        )
    if token.kind == "LET" and place.column == 1:
        end = (
            token.end
            + len(place.source.text[token.end :])
            - len(place.source.text[token.end :].lstrip(" "))
        )
        fix = Fix("remove `let`", Span(place.source, token.start, end), "", safe=True)
        return message, cause, ("a definition of a module has no `let`: `name = value`",), (fix,)
    if token.kind == "LET":
        return (
            message,
            cause,
            ("`let` lines stand at the start of a block, each on its own line, before the value",),
            (),
        )
    return message, cause, (), ()


def _begins_line(token: Token, place: Span) -> bool:
    """Whether nothing but spaces stands before a name, on a line of its own below a definition."""
    text = place.source.text
    start = text.rfind("\n", 0, token.start) + 1
    return token.kind == "NAME" and token.start > start and not text[start : token.start].strip()


def _in_slot(place: Span) -> bool:
    return place.source.line(place.line).lstrip().startswith("slot ")


def _too_early(previous: Token | None, wanted: frozenset[str], fitting: str) -> _Told:
    """The line, block or declaration ended before the construct did."""
    last = f"`{previous.text}`" if previous is not None else "the start"
    if "ELSE" in wanted and "THEN" not in wanted and not wanted & {"_INDENT"}:
        return "this `if` has no `else`", "an `if` is a value, so it has one in both cases", (), ()
    if previous is not None and previous.kind == "DOC":
        cause = "it belongs to the declaration or item below it, and there is none"
        return (
            "this doc comment documents nothing",
            cause,
            ("a plain comment begins with `--`",),
            (),
        )
    hints: tuple[str, ...] = ()
    if previous is not None and previous.kind in OPENERS:
        hints = ("indent the next line deeper than this one",)
    if (
        previous is not None
        and previous.kind == "_EQUAL"
        and "_INDENT" in wanted
        and not wanted & _OPERANDS
    ):
        return f"nothing stands behind {last}", f"here {fitting} would fit", hints, ()
    return f"this ends too early: behind {last}, {fitting} would fit", "", hints, ()


def would_fit(wanted: frozenset[str]) -> str:
    """The expected terminals as a phrase: `an expression`, ``` `then` or an operator ```."""
    if "DOC" in wanted and wanted & _DECLARATIONS:
        return "a declaration"
    operators = bool(wanted & _OPERATORS)
    if {"NAME", "FLOAT", "STRING"} <= wanted and not operators:
        return "an expression or an indented block" if "_INDENT" in wanted else "an expression"
    if (
        {"NAME", "CON", "_LSQB", "_LBRACE", "INT"} <= wanted
        and "STRING" not in wanted
        and not wanted & _ENDS
    ):
        return "a type"
    if {"NAME", "CON", "STRING", "_WILD"} <= wanted:
        return "a pattern"
    if {"NAME", "_WILD", "_LPAR"} <= wanted:
        parameters = [
            "a parameter",
            *(["`=`"] if "_EQUAL" in wanted else []),
            *(["`->`"] if "_ARROW" in wanted else []),
        ]
        return _either(parameters)
    if wanted == {"NAME", "CON"}:
        return "a name"
    specific = wanted - _OPERATORS - _ENDS
    if operators:
        specific -= _OPERANDS
    phrases = list(
        dict.fromkeys(_PHRASES.get(kind, f"`{kind.lower()}`") for kind in sorted(specific))
    )
    if operators:
        phrases.append("an operator")
    if wanted & _ENDS:
        phrases.append("the end of the line")
    if len(phrases) > 6:
        phrases = [*phrases[:5], "something else that begins an item"]
    return _either(phrases)


def _either(phrases: Sequence[str]) -> str:
    if len(phrases) < 2:
        return "".join(phrases) or "nothing"
    return ", ".join(phrases[:-1]) + " or " + phrases[-1]
