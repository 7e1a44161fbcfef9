"""Sizes of drawn programs: polynomials in size names, written in more than one way."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

Terms = tuple[tuple[tuple[str, ...], int], ...]


@dataclass(frozen=True)
class Size:
    """`terms` maps the names of each monomial, sorted, to its coefficient; `value` is what it is in this program.

    Two sizes are equal for the compiler if and only if their terms are.
    """

    terms: Terms
    value: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)

    @property
    def known(self) -> bool:
        """Whether it is a number."""
        return all(not names for names, _ in self.terms)

    def __add__(self, other: Size) -> Size:
        found = dict(self.terms)
        for names, count in other.terms:
            found[names] = found.get(names, 0) + count
        return _of(found, self.value + other.value)

    def __mul__(self, other: Size) -> Size:
        found: dict[tuple[str, ...], int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                names = tuple(sorted(left + right))
                found[names] = found.get(names, 0) + a * b
        return _of(found, self.value * other.value)

    def written(self, random: Random) -> str:
        """The size as an expression, sometimes a longer one than it needs."""
        parts = list(self.terms)
        random.shuffle(parts)
        text = " + ".join(_monomial(names, count, random) for names, count in parts)
        if not self.known and random.random() < 0.15:
            extra = random.randint(1, 3)
            text = f"{extra} + {text} - {extra}"
        return text


def number(value: int) -> Size:
    return Size((((), value),), value)


def name(text: str, value: int) -> Size:
    return Size((((text,), 1),), value)


def _of(found: dict[tuple[str, ...], int], value: int) -> Size:
    return Size(tuple(sorted((names, count) for names, count in found.items() if count)), value)


def _monomial(names: tuple[str, ...], count: int, random: Random) -> str:
    if not names:
        return str(count)
    factors = list(names)
    random.shuffle(factors)
    if count != 1:
        factors.insert(random.randint(0, len(factors)), str(count))
    return " * ".join(factors)
