"""Binding values to patterns and choosing arms."""

from __future__ import annotations

from alpha.core.term import (
    Bind,
    Ignore,
    MatchConstructor,
    MatchLiteral,
    MatchTuple,
    Pattern,
)
from alpha.evaluate.values import KeyValue, Scalar, Staged, TupleValue, Value, Variant


class NotKnown(Exception):
    """A pattern looks into a value that only the running program has."""


def take(pattern: Pattern, value: Value, names: dict[str, Value]) -> bool:
    """Whether `value` has the form of `pattern`; its variables are added to `names`.

    Raises NotKnown if the form of a staged value would decide.
    """
    if isinstance(pattern, Bind):
        names[pattern.name] = value
        return True
    pending: list[tuple[Pattern, Value]] = [(pattern, value)]
    while pending:
        pattern, value = pending.pop()
        match pattern:
            case Bind(name):
                names[name] = value
            case Ignore():
                pass
            case MatchTuple(items):
                assert isinstance(value, TupleValue)
                pending.extend(zip(items, value.items, strict=True))
            case MatchLiteral(literal):
                if isinstance(value, Staged | KeyValue):
                    raise NotKnown
                found = value.value if isinstance(value, Scalar) else value
                if found != literal:
                    return False
            case MatchConstructor(name, arguments):
                if isinstance(value, Staged | KeyValue):
                    raise NotKnown
                if isinstance(value, Scalar):
                    if value.value is not (name == "True"):
                        return False
                    continue
                assert isinstance(value, Variant)
                if value.constructor != name:
                    return False
                pending.extend(zip(arguments, value.arguments, strict=True))
    return True
