"""Text literals: escapes and their values."""

from __future__ import annotations

import re

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Refused
from alpha.syntax import errors

_ESCAPE = re.compile(r"\\(?:u\{(?P<code>[0-9a-fA-F]{1,6})\}|u[^\"\\]{0,8}|.)")
_PLAIN = {"\\n": "\n", "\\t": "\t", '\\"': '"', "\\\\": "\\"}


def check_text(source: Source, start: int, end: int) -> None:
    """Refuses (E0006) an escape that does not exist or is no character, in the literal from `start` to `end`."""
    for found in _ESCAPE.finditer(source.text, start + 1, end - 1):
        place = Span(source, found.start(), found.end())
        if found["code"] is not None:
            if not _is_character(int(found["code"], 16)):
                raise Refused(errors.no_character(place))
        elif found.group() not in _PLAIN:
            raise Refused(errors.unknown_escape(place))


def value_of(written: str) -> str:
    """The text that a checked literal denotes."""
    return _ESCAPE.sub(_replaced, written[1:-1])


def literal(value: str) -> str:
    """The canonical literal of a text; control characters become escapes."""
    pieces = []
    for character in value:
        if character in '"\\':
            pieces.append("\\" + character)
        elif character == "\n":
            pieces.append("\\n")
        elif character == "\t":
            pieces.append("\\t")
        elif not character.isprintable():
            pieces.append(f"\\u{{{ord(character):X}}}")
        else:
            pieces.append(character)
    return '"' + "".join(pieces) + '"'


def _replaced(found: re.Match[str]) -> str:
    if found["code"] is not None:
        return chr(int(found["code"], 16))
    return _PLAIN[found.group()]


def _is_character(code: int) -> bool:
    return code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
