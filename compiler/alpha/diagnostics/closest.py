"""The known names closest to one that is not known: "did you mean", and the edit that writes it."""

from __future__ import annotations

from collections.abc import Iterable

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Fix


def closest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """At most `count` names, the closest first; of two that differ in case alone, the one that begins like `name`."""
    from difflib import get_close_matches  # most commands find every name

    by_folded: dict[str, str] = {}
    for candidate in sorted(set(known) - {name}):
        old = by_folded.get(candidate.casefold())
        if old is None or old[:1].isupper() is not name[:1].isupper():
            by_folded[candidate.casefold()] = candidate
    found = get_close_matches(name.casefold(), sorted(by_folded), n=count, cutoff=0.6)
    return [by_folded[folded] for folded in found]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean `a` or `b`?``, or "" if nothing is close."""
    names = [f"`{candidate}`" for candidate in closest(name, known)]
    if not names:
        return ""
    *rest, last = names
    return f"did you mean {', '.join(rest) + ' or ' if rest else ''}{last}?"


def guesses(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """`did_you_mean` as the hints of a diagnostic: one or none."""
    guess = did_you_mean(name, known)
    return (guess,) if guess else ()


def closest_written(span: Span, name: str, known: Iterable[str]) -> tuple[Fix, ...]:
    """The edit that writes the closest name at `span`, never sure; none if nothing is close."""
    return tuple(Fix(f"write `{best}`", span, best) for best in closest(name, known, 1))
