"""Whole numbers in the words of messages."""

from __future__ import annotations

_MOST_BITS = 4096
_DIGITS_PER_BIT = 0.30103


def readable(value: object, grouped: bool = False) -> str:
    """A number as text; of an integer that no one would read only how many digits it has.

    Python refuses to write the digits of a very large one, which takes the square of their number.
    """
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of about {int(value.bit_length() * _DIGITS_PER_BIT) + 1:_} digits"
    return f"{value:_}" if grouped and isinstance(value, int) else f"{value}"
