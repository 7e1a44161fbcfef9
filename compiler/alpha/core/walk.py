"""Walking and rebuilding terms without recursion: chains of operators are nested as deep as they are long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar as Parameter

from alpha.core import term
from alpha.core.term import Term


def children(item: Term) -> tuple[Term, ...]:
    """The terms directly inside, in the order of evaluation."""
    return _CHILDREN[type(item)](item)


def subterms(item: Term) -> Iterator[Term]:
    """`item` and everything inside it, outermost first."""
    pending = [item]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(reversed(children(found)))


Result = Parameter("Result")


def fold(
    item: Term,
    combine: Callable[[Term, tuple[Result, ...]], Result],
    standing: Callable[[Term], Term] = lambda found: found,
) -> Result:
    """`combine` of every term and what it gave for the terms inside, innermost first.

    `standing` gives the term to take in place of one that only stands for another.
    """
    results: list[Result] = []
    pending: list[tuple[Term, int]] = [(item, -1)]
    while pending:
        found, count = pending.pop()
        if count < 0:
            found = standing(found)
            inner = children(found)
            if not inner:
                results.append(combine(found, ()))
                continue
            pending.append((found, len(inner)))
            pending.extend([(part, -1) for part in reversed(inner)])
        else:
            parts = tuple(results[len(results) - count :])
            del results[len(results) - count :]
            results.append(combine(found, parts))
    return results[0]


def _none(item: Term) -> tuple[Term, ...]:
    return ()


_CHILDREN: dict[type, Callable[..., tuple[Term, ...]]] = {
    term.Local: _none,
    term.Global: _none,
    term.Constructor: _none,
    term.Literal: _none,
    term.DimValue: _none,
    term.Intrinsic: _none,
    term.ModelValue: _none,
    term.Lambda: lambda t: (t.body,),
    term.Apply: lambda t: (t.function, *t.arguments),
    term.Let: lambda t: (t.value, t.body),
    term.LetGeneral: lambda t: (t.value, t.body),
    term.If: lambda t: (t.condition, t.then, t.otherwise),
    term.Match: lambda t: (t.value, *[arm.body for arm in t.arms]),
    term.ListTerm: lambda t: t.items,
    term.TupleTerm: lambda t: t.items,
    term.RecordTerm: lambda t: tuple([value for _, value in t.fields]),
    term.Update: lambda t: (t.base, *[value for _, value in t.fields]),
    term.Select: lambda t: (t.value,),
    term.Subscript: lambda t: (t.value,),
}
