"""Dimensions: polynomials over the integers in dimension names, in canonical form.

Equal polynomials are equal values, so `1 + n - 1` is `n` and the ring laws hold by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from alpha.base.record import record

Monomial = tuple[str, ...]
"""Dimension names with multiplicity, sorted; `()` is the constant term."""


MOST_NAMES = 10_000
"""In the monomials of a product, before equal ones are added up: far more than anything that has a use."""


class TooLarge(Exception):
    """A size or a type has grown beyond all use, as `(x, x)` of `(x, x)` does in a few dozen steps."""


@record
class Dim:
    """`terms` maps monomials to nonzero coefficients, sorted by monomial."""

    terms: tuple[tuple[Monomial, int], ...]

    @staticmethod
    def of(terms: Iterable[tuple[Monomial, int]]) -> Dim:
        """The canonical form of a sum of terms."""
        sums: dict[Monomial, int] = {}
        for monomial, coefficient in terms:
            sums[monomial] = sums.get(monomial, 0) + coefficient
        return Dim(tuple(sorted((m, c) for m, c in sums.items() if c)))

    @staticmethod
    def constant(value: int) -> Dim:
        return Dim.of([((), value)])

    @staticmethod
    def variable(name: str) -> Dim:
        return Dim((((name,), 1),))

    @property
    def value(self) -> int | None:
        """The number, if no name occurs; else None."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == ():
            return self.terms[0][1]
        return None

    @property
    def names(self) -> frozenset[str]:
        if len(self.terms) == 1:  # nearly always
            return frozenset(self.terms[0][0])
        return frozenset([name for monomial, _ in self.terms for name in monomial])

    def __add__(self, other: Dim) -> Dim:
        return Dim.of((*self.terms, *other.terms))

    def __neg__(self) -> Dim:
        return Dim(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Dim) -> Dim:
        return self + -other

    def __mul__(self, other: Dim) -> Dim:
        if len(self.terms) * len(other.terms) > 1:
            degree = max(len(m) for m, _ in self.terms) + max(len(m) for m, _ in other.terms)
            if len(self.terms) * len(other.terms) * degree > MOST_NAMES:
                raise TooLarge
        return Dim.of((tuple(sorted(m + n)), c * d) for m, c in self.terms for n, d in other.terms)

    def divided(self, divisor: int) -> Dim | None:
        """The exact quotient, or None if `divisor` does not divide every coefficient."""
        if divisor == 0 or any(c % divisor for _, c in self.terms):
            return None
        return Dim(tuple((m, c // divisor) for m, c in self.terms))

    def substituted(self, values: Mapping[str, Dim]) -> Dim:
        """Every name that `values` holds replaced by its dimension, all at once."""
        if len(self.terms) == 1:
            monomial, coefficient = self.terms[0]
            if len(monomial) == 1 and coefficient == 1:  # a name alone
                return values.get(monomial[0], self)
        if not any(name in values for name in self.names):
            return self
        result = Dim(())
        for monomial, coefficient in self.terms:
            product = Dim.constant(coefficient)
            for name in monomial:
                product = product * values.get(name, Dim.variable(name))
            result = result + product
        return result

    def __str__(self) -> str:
        """As Alpha source: `2 * n * n + m - 1`, higher degrees first."""
        if not self.terms:
            return "0"
        ordered = sorted(self.terms, key=lambda term: (-len(term[0]), term[0]))
        text = ""
        for monomial, coefficient in ordered:
            size = abs(coefficient)
            factors = ([str(size)] if size != 1 or not monomial else []) + list(monomial)
            sign = (
                ("-" if coefficient < 0 else "")
                if not text
                else (" - " if coefficient < 0 else " + ")
            )
            text += sign + " * ".join(factors)
        return text


class Answer(Enum):
    """The three answers to a question about dimensions whose names may stand for any size from 1 up."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


def equal(left: Dim, right: Dim) -> Answer:
    """YES for the same polynomial, NO if they differ by a nonzero number, else UNDECIDED."""
    difference = (left - right).value
    if difference is None:
        return Answer.UNDECIDED
    return Answer.YES if difference == 0 else Answer.NO


def nonnegative(dim: Dim) -> Answer:
    """Whether `dim >= 0` for all sizes from 1 up.

    Decided by the signs of the coefficients once every name `n` is written as `1 + n'` with `n' >= 0`.
    """
    shifted = dim.substituted({name: _ONE + Dim.variable(name) for name in dim.names})
    if all(coefficient >= 0 for _, coefficient in shifted.terms):
        return Answer.YES
    constant = next((c for monomial, c in shifted.terms if not monomial), 0)
    if constant < 0 and all(c <= 0 for _, c in shifted.terms):
        return Answer.NO
    return Answer.UNDECIDED


_ONE = Dim.constant(1)
