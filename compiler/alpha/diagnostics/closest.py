"""The known names closest to one that is not known, for "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, known: Iterable[str], count: int = 3) -> list[str]:
    """At most `count` names, the closest first; names that differ in case alone count as equal."""
    from difflib import get_close_matches  # most commands find every name

    by_folded = {candidate.casefold(): candidate for candidate in sorted(known, reverse=True)}
    found = get_close_matches(name.casefold(), sorted(by_folded), n=count, cutoff=0.6)
    return [by_folded[folded] for folded in found]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean `a` or `b`?``, or "" if nothing is close."""
    names = [f"`{candidate}`" for candidate in closest(name, known)]
    if not names:
        return ""
    *rest, last = names
    return f"did you mean {', '.join(rest) + ' or ' if rest else ''}{last}?"
