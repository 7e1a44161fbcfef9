"""Bytes to a source text, and the checks that need no parser."""

from __future__ import annotations

import re

from alpha.base.span import Source
from alpha.diagnostics.diagnostic import Diagnostic, Refused
from alpha.syntax import errors

_SPACES = re.compile(r"[\t\r]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Controls and directional overrides: nobody sees them, and they can make code look like other code."""


def read_source(data: bytes, path: str) -> Source:
    """The text of a file. Refused with E0001 if it is not UTF-8, with E0010 if it is over 1 MiB."""
    if len(data) > errors.MOST_BYTES:
        raise Refused(errors.too_large(Source(path, ""), len(data)))
    try:
        return Source(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        source = Source(path, data.decode("utf-8", errors="replace"))
        at = len(data[: error.start].decode("utf-8"))
        raise Refused(errors.not_utf8(source, at, error.start, data[error.start])) from None


def check_source(source: Source) -> None:
    """What is refused wherever it stands: tabs, carriage returns, hidden characters; and a text that is too large."""
    size = len(source.text.encode("utf-8", errors="surrogatepass"))
    if size > errors.MOST_BYTES:
        raise Refused(errors.too_large(source, size))
    found: list[Diagnostic] = []
    lines: set[int] = set()
    for pattern, diagnostic in ((_SPACES, errors.bad_space), (_HIDDEN, errors.bad_character)):
        for match in pattern.finditer(source.text):
            line = source.position(match.start())[0]
            if line not in lines:  # one a line is enough
                lines.add(line)
                found.append(diagnostic(source, match.start()))
            if len(found) == 20:
                break
    if found:
        raise Refused(errors.with_plain_spaces(found[0], source), *found[1:])
