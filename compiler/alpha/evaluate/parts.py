"""The tensors and keys inside a value: what a loop carries, what `stopGradient` stops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from alpha.evaluate.values import (
    Bundle,
    KeyValue,
    ListValue,
    Record,
    Scalar,
    SlotsValue,
    StackValue,
    Staged,
    TupleValue,
    Value,
    Variant,
)

Part = Scalar | Staged | KeyValue
"""A tensor, known or staged, or a key."""


def changed(value: Value, change: Callable[[Part], Value]) -> Value:
    """`value` with every tensor and key in it changed, in order."""
    match value:
        case Scalar() | Staged() | KeyValue():
            return change(value)
        case TupleValue(items):
            return TupleValue(tuple(changed(item, change) for item in items))
        case ListValue(items):
            return ListValue(tuple(changed(item, change) for item in items))
        case Variant(constructor, arguments):
            return Variant(constructor, tuple(changed(item, change) for item in arguments))
        case Record(type, fields):
            return Record(type, {name: changed(part, change) for name, part in fields.items()})
        case Bundle():
            return value.rebuilt(changed(leaf, change) for _, leaf in value.leaves())
        case StackValue(count, layer):
            inner = changed(layer, change)
            assert isinstance(inner, Bundle)
            return StackValue(count, inner)
        case SlotsValue(slots):
            return SlotsValue({name: _bundle(slot, change) for name, slot in slots.items()})
        case _:
            return value


def _bundle(value: Bundle, change: Callable[[Part], Value]) -> Bundle:
    inner = changed(value, change)
    assert isinstance(inner, Bundle)
    return inner


def parts(value: Value) -> list[Part]:
    """Every tensor and key in `value`, in order."""
    found: list[Part] = []

    def take(part: Part) -> Value:
        found.append(part)
        return part

    changed(value, take)
    return found


def stays(before: Value, after: Value) -> bool:
    """Whether two values of one type differ in their tensors and keys only."""
    match before, after:
        case (Scalar() | Staged(), Scalar() | Staged()) | (KeyValue(), KeyValue()):
            return True
        case (TupleValue(first), TupleValue(second)) | (ListValue(first), ListValue(second)):
            return _all_stay(first, second)
        case Variant(constructor, first), Variant(other, second):
            return constructor == other and _all_stay(first, second)
        case Record(_, first), Record(_, second):
            return _all_stay(tuple(_by_name(first)), tuple(_by_name(second)))
        case (Bundle(), Bundle()) | (StackValue(), StackValue()) | (SlotsValue(), SlotsValue()):
            return True
        case _:
            return before is after or before == after


def _all_stay(first: tuple[Value, ...], second: tuple[Value, ...]) -> bool:
    return len(first) == len(second) and all(map(stays, first, second))


def _by_name(fields: Mapping[str, Value]) -> Iterator[Value]:
    return (fields[name] for name in sorted(fields))
