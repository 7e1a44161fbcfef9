"""Numbers and quantities: their forms, and the exact values that they denote."""

from __future__ import annotations

import re
from fractions import Fraction

from alpha.base.span import Source, Span
from alpha.diagnostics.diagnostic import Refused
from alpha.syntax import errors

_BYTES = ["B", *(f"{prefix}B" for prefix in ("K", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"))]
_HERTZ = ["Hz", "kHz", "MHz", "GHz", "THz"]
_FLOPS = ["FLOP", "MFLOP", "GFLOP", "TFLOP"]
SPACED_UNITS = frozenset([*_BYTES, *_HERTZ, *_FLOPS])
"""Units that may stand one space behind their number, and so are no names."""
TIGHT_UNITS = ("ns", "us", "ms", "s", "min", "h")
"""Units of time, which stand directly behind their number, and so stay free as names."""

_DECIMAL = r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?"
_UNIT = r" ?(?:[KMGT]i?)?B(?:/s)?| ?[kMGT]?Hz| ?[MGT]?FLOP(?:/s)?|(?:[mun]?s|min|h)"
_QUANTITY = re.compile(rf"(?P<number>{_DECIMAL})(?P<unit>{_UNIT})(?![A-Za-z0-9_'])")
_FLOAT = re.compile(r"[0-9][0-9_]*(?:\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)")
_INTEGER = re.compile(r"0x[0-9a-fA-F_]+|[0-9][0-9_]*")
_REST = re.compile(r"[A-Za-z_0-9']*")
_NEARLY = re.compile(r"[xXbBoO][0-9a-fA-F_]*\Z|[eE][0-9_]*\Z|_|[0-9]")

MOST_DIGITS = 1_000
"""More digits than this in a number, or an exponent beyond it, cannot be meant and would cost without bound."""


def read(source: Source, start: int, end: int) -> tuple[str, int]:
    """The kind (`INT`, `FLOAT` or `QUANTITY`) and the length of the number at `start`; raises E0007 or E0008."""
    text = source.text
    found, kind = _QUANTITY.match(text, start, end), "QUANTITY"
    if found is None:
        found, kind = _FLOAT.match(text, start, end), "FLOAT"
    if found is None:
        found, kind = _INTEGER.match(text, start, end), "INT"
    assert found is not None, "the lexer has seen a digit"
    written, stop = found.group(), found.end()
    rest = _REST.match(text, stop, end)
    assert rest is not None
    if rest.group():
        whole = Span(source, start, rest.end())
        if _NEARLY.match(rest.group()) or (written == "0" and rest.group()[0] in "xXbBoO"):
            raise Refused(errors.malformed_number(whole))
        unit = Span(source, stop, rest.end())
        raise Refused(errors.unknown_unit(unit, written, meant_unit(unit.text, tight=True)))
    if text.startswith(".", stop) and stop < end:
        tail = _REST.match(text, stop + 1, end)
        raise Refused(
            errors.malformed_number(Span(source, start, tail.end() if tail else stop + 1))
        )
    _check(Span(source, start, stop))
    return kind, stop - start


def _check(place: Span) -> None:
    written = place.text
    digits = re.split(r"[.eE ]", written)[0] if not written.startswith("0x") else ""
    if len(digits) > 1 and digits.startswith("0") and digits[1] in "0123456789_":
        raise Refused(errors.leading_zero(place))
    if re.search(r"__|_(?![0-9a-fA-F])|0x_", written):
        raise Refused(errors.stray_underscore(place))
    exponent = re.search(r"(?<!x)[eE]([-+]?[0-9]+)\Z", written) if "x" not in written else None
    size = len(exponent.group(1)) if exponent else 0
    if (
        len(written) > MOST_DIGITS
        or size > 6
        or (exponent and abs(int(exponent.group(1))) > MOST_DIGITS)
    ):
        raise Refused(errors.endless_number(place, MOST_DIGITS))


def integer(written: str) -> int:
    """The value of an `INT`."""
    plain = written.replace("_", "")
    return int(plain, 16) if plain.startswith("0x") else int(plain)


def decimal(written: str) -> Fraction:
    """The exact value of a `FLOAT`."""
    return Fraction(written.replace("_", ""))


def quantity(written: str) -> tuple[Fraction, str]:
    """The number of a `QUANTITY` as written, and its unit."""
    found = _QUANTITY.fullmatch(written)
    assert found is not None, "the lexer has seen a quantity"
    return decimal(found["number"]), found["unit"].lstrip(" ")


def meant_unit(word: str, tight: bool = False) -> str | None:
    """The unit that `word` was probably meant to be, or None. `tight`: it stands directly behind a number."""
    known = [*sorted(SPACED_UNITS), *TIGHT_UNITS] if tight else sorted(SPACED_UNITS)
    if word in SPACED_UNITS:
        return word
    if not tight and len(word) < 2:
        return None
    for unit in known:
        if unit.lower() == word.lower():
            return unit
    times = {
        "sec": "s",
        "secs": "s",
        "second": "s",
        "seconds": "s",
        "msec": "ms",
        "usec": "us",
        "nsec": "ns",
    }
    longer = times | {
        "mins": "min",
        "minutes": "min",
        "hours": "h",
        "hour": "h",
        "hr": "h",
        "bytes": "B",
    }
    return longer.get(word.lower()) if tight else None
