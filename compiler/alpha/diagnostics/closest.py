"""The known names closest to one that is not known: "did you mean", and the edit that writes it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Fix

_CUTOFF = 0.65
"""At 0.6, `missing` is close to `sin`; at 0.7, `tow` is not close to `two`."""

_CLEARLY = 0.05


def closest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """At most `count` names, the closest first; of two that differ in case alone, the one that begins like `name`."""
    return list(_closest(name, tuple(known), count))


@lru_cache(maxsize=128)
def _closest(name: str, known: tuple[str, ...], count: int) -> tuple[str, ...]:
    """A text may use one unknown name a hundred thousand times, and no answer takes longer than to read the text."""
    from difflib import get_close_matches  # most commands find every name

    by_folded: dict[str, str] = {}
    for candidate in sorted(set(known) - {name}):
        old = by_folded.get(candidate.casefold())
        if old is None or old[:1].isupper() is not name[:1].isupper():
            by_folded[candidate.casefold()] = candidate
    found = get_close_matches(name.casefold(), sorted(by_folded), n=count, cutoff=_CUTOFF)
    return tuple([by_folded[folded] for folded in found])


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
    """The edit that writes the closest name at `span`, never sure; none if another is about as close."""
    from difflib import SequenceMatcher

    names = closest(name, known, 2)
    near = [SequenceMatcher(None, name.casefold(), other.casefold()).ratio() for other in names]
    if not names or (len(names) > 1 and near[0] < near[1] + _CLEARLY):
        return ()
    return (Fix(f"write `{names[0]}`", span, names[0]),)


def file_beside(path: str, beside: str | None, place: Span) -> tuple[Fix, ...]:
    """The edit that names the file which lies beside the module."""
    if beside is None or place.text != f'"{path}"':
        return ()
    return (Fix(f'write `"{beside}"`', place, f'"{beside}"'),)
