"""Amounts as people read them, and as JSON keeps them."""

from __future__ import annotations

from fractions import Fraction

from alpha.core.term import Amount

_BYTES = (1, 0, 0)
_UNITS = {
    (0, 0, 0): "",
    _BYTES: "B",
    (0, 1, 0): "s",
    (0, -1, 0): "Hz",
    (0, 0, 1): "FLOP",
    (1, -1, 0): "B/s",
    (0, -1, 1): "FLOP/s",
}


def unit_name(amount: Amount) -> str:
    """`count`, `feature`, `bytes`, or the unit's symbol: the column "unit" of the specification's demand table."""
    if amount.feature:
        return "feature"
    if amount.unit == _BYTES:
        return "bytes"
    return _UNITS.get(amount.unit, str(amount.unit)) or "count"


def text(amount: Amount, exact: bool = False) -> str:
    """`9,301.6 MiB`, `255`, `present`. `exact` writes bytes in full, for amounts that rounding would make equal."""
    if amount.feature:
        return "present" if amount.value else "absent"
    if amount.unit == _BYTES and not exact:
        return byte_text(amount.value)
    symbol = _UNITS.get(amount.unit, "")
    return f"{number(amount.value)} {symbol}".rstrip()


def byte_text(value: Fraction | int) -> str:
    """Bytes to one decimal in MiB, or KiB below one; whole bytes below 1 KiB."""
    for scale, name in ((2**20, "MiB"), (2**10, "KiB")):
        if abs(Fraction(value)) >= scale:
            return f"{float(Fraction(value) / scale):,.1f} {name}"
    return f"{number(Fraction(value))} B"


def number(value: Fraction) -> str:
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{float(value):,.6g}"


def json_value(amount: Amount) -> int | str:
    """The number in base units: exact, so a fraction is a text `n/d`."""
    value = amount.value
    return value.numerator if value.denominator == 1 else str(value)
