"""One-point mutants of Alpha's source text: what slips in when somebody types."""

from __future__ import annotations

import re
from random import Random

_TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_][\w\']*|\d[\w.]*|[-+*/%@=<>|!.:]+|[()\[\]{},]')
_OTHERS = ["x", "f32", "0", "1.5", "Int", "batch", "fn", "->", "net", "[", "]", "(", ")", "-", "@"]


def mutant(text: str, choice: Random) -> str:
    """One token of a module dropped, doubled, exchanged with another of the module, or replaced."""
    tokens = list(_TOKEN.finditer(text))
    token = choice.choice(tokens)
    other = choice.choice(tokens)[0] if choice.random() < 0.6 else choice.choice(_OTHERS)
    replacement = choice.choice(["", f"{token[0]} {token[0]}", other, other])
    return text[: token.start()] + replacement + text[token.end() :]
