"""Binary floating point in plain integers and rationals: what each operation is defined to give, bit for bit.

A number travels as its bits. Every result is computed exactly and rounded once, to the nearest, ties to even.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt


@dataclass(frozen=True)
class Format:
    """A binary format of IEEE 754. `nan` is the one that operations give."""

    exponent_bits: int
    fraction_bits: int
    nan: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)


HALF = Format(5, 10, 0x7FFF)
SINGLE = Format(8, 23, 0x7FFFFFFF)
DOUBLE = Format(11, 52, 0x7FF8000000000000)


def is_nan(x: int, form: Format) -> bool:
    return x & ~form.sign > form.infinity


def is_infinite(x: int, form: Format) -> bool:
    return x & ~form.sign == form.infinity


def negative(x: int, form: Format) -> bool:
    return bool(x & form.sign)


def exact(x: int, form: Format) -> Fraction:
    """The value of a finite number."""
    fraction = x & ((1 << form.fraction_bits) - 1)
    exponent = (x & ~form.sign) >> form.fraction_bits
    if exponent:
        fraction |= 1 << form.fraction_bits
    scale = max(exponent, 1) - form.bias - form.fraction_bits
    size = Fraction(fraction) * Fraction(2) ** scale
    return -size if negative(x, form) else size


def nearest(value: Fraction, form: Format, minus: bool = False) -> int:
    """The bits of the number nearest to a value; of a zero, that with the sign `minus`."""
    if not value:
        return form.sign if minus else 0
    sign = form.sign if value < 0 else 0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    scale = max(exponent, 1 - form.bias) - form.fraction_bits  # of the last place
    units = _even(size / Fraction(2) ** scale)
    # Subnormals have exponent field 0; a carry into the next binade adds one to it by itself.
    field = max(exponent + form.bias, 1) - 1
    bits = (field << form.fraction_bits) + units
    return sign | min(bits, form.infinity)


def _even(value: Fraction) -> int:
    return round(value)  # of Fraction: to the nearest, ties to even


def _sign_of(minus: bool, form: Format) -> int:
    return form.sign if minus else 0


def add(x: int, y: int, form: Format) -> int:
    return fma(x, _one(form), y, form)


def subtract(x: int, y: int, form: Format) -> int:
    return form.nan if is_nan(y, form) else add(x, y ^ form.sign, form)


def _one(form: Format) -> int:
    return form.bias << form.fraction_bits


def multiply(x: int, y: int, form: Format) -> int:
    if is_nan(x, form) or is_nan(y, form):
        return form.nan
    minus = negative(x, form) != negative(y, form)
    if is_infinite(x, form) or is_infinite(y, form):
        zero = not (x & ~form.sign and y & ~form.sign)
        return form.nan if zero else form.infinity | _sign_of(minus, form)
    return nearest(exact(x, form) * exact(y, form), form, minus) | _sign_of(minus, form)


def divide(x: int, y: int, form: Format) -> int:
    if is_nan(x, form) or is_nan(y, form):
        return form.nan
    minus = _sign_of(negative(x, form) != negative(y, form), form)
    if is_infinite(x, form):
        return form.nan if is_infinite(y, form) else form.infinity | minus
    if is_infinite(y, form):
        return minus
    if not y & ~form.sign:
        return form.infinity | minus if x & ~form.sign else form.nan
    return nearest(exact(x, form) / exact(y, form), form) | minus


def fma(x: int, y: int, z: int, form: Format) -> int:
    """x * y + z, rounded once."""
    if is_nan(x, form) or is_nan(y, form) or is_nan(z, form):
        return form.nan
    minus = negative(x, form) != negative(y, form)
    if is_infinite(x, form) or is_infinite(y, form):
        if not (x & ~form.sign and y & ~form.sign):
            return form.nan
        if is_infinite(z, form) and negative(z, form) != minus:
            return form.nan
        return form.infinity | _sign_of(minus, form)
    if is_infinite(z, form):
        return z
    product, term = exact(x, form) * exact(y, form), exact(z, form)
    both = minus and negative(z, form)  # a sum of zeros is -0 only where both terms are
    return nearest(product + term, form, both and not product and not term)


def root(x: int, form: Format) -> int:
    if is_nan(x, form) or (negative(x, form) and x != form.sign):
        return form.nan
    if is_infinite(x, form) or not x & ~form.sign:
        return x
    value = exact(x, form)
    scale = (
        2 * form.fraction_bits + 2 * form.bias + 8
    )  # enough bits that none of the discarded ones matters
    whole = value.numerator * (1 << (2 * scale)) // value.denominator
    found = isqrt(whole)
    rest = Fraction(1, 2) if found * found != whole else Fraction(0)
    return nearest((found + rest) / (1 << scale), form)


def integral(x: int, form: Format, down: bool) -> int:
    """The nearest whole number, or the next one below; a zero keeps the sign of x."""
    if is_nan(x, form):
        return form.nan
    if is_infinite(x, form):
        return x
    value = exact(x, form)
    return nearest(Fraction(value.__floor__() if down else _even(value)), form, negative(x, form))


def convert(x: int, source: Format, target: Format) -> int:
    if is_nan(x, source):
        return target.nan
    minus = negative(x, source)
    if is_infinite(x, source):
        return target.infinity | _sign_of(minus, target)
    return nearest(exact(x, source), target, minus) | _sign_of(minus, target)


def compare(x: int, y: int, form: Format) -> int | None:
    """-1, 0 or 1 as x is below, equal to or above y; None where one is NaN."""
    if is_nan(x, form) or is_nan(y, form):
        return None
    a, b = _order(x, form), _order(y, form)
    return (a > b) - (a < b)


def _order(x: int, form: Format) -> int:
    """A whole number that compares as x does; both zeros are 0."""
    size = x & ~form.sign
    return -size if negative(x, form) else size


def extreme(x: int, y: int, form: Format, least: bool, keeps_nan: bool) -> int:
    """The smaller or greater one, with -0 below +0. A NaN is the result, or the other operand is."""
    if is_nan(x, form) or is_nan(y, form):
        if keeps_nan or (is_nan(x, form) and is_nan(y, form)):
            return form.nan
        return y if is_nan(x, form) else x
    first = (_order(x, form), not negative(x, form)) <= (_order(y, form), not negative(y, form))
    return x if first == least else y
