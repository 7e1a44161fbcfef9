"""How loops are written: how many turns stand one after the other, and what is made where the next turn finds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from alpha.kernel.node import (
    INDEX,
    Atom,
    Barrier,
    Carried,
    Compute,
    If,
    Load,
    Loop,
    SharedLoad,
    SharedStore,
    Shuffle,
    Statement,
    Store,
    Variable,
)

MOST_LINES = 96
"""Statements of all turns that stand one after the other."""
FACTORS = (8, 4, 2)


def turns_at_once(loop: Loop) -> int:
    """All turns if they are few; else a divisor of their number, so that no turn is left over."""
    turns = len(range(loop.start, loop.stop, loop.step))
    size = _size(loop.body)
    if turns * size <= MOST_LINES or turns <= 1:
        return turns
    if any(isinstance(item, Loop) for item in loop.body):
        return 1
    fitting = [by for by in FACTORS if turns % by == 0 and by * size <= MOST_LINES]
    return fitting[0] if fitting else 1


def written_last(loop: Loop, alone: bool) -> Iterator[int]:
    """The numbers of carried values whose next can be written over the old one: nothing reads the old one later.

    Where several turns stand one after the other (not `alone`), what the last of them reads lies elsewhere.
    """
    nexts = [item.next for item in loop.carried]
    for place, item in enumerate(loop.carried):
        following = item.next
        if not isinstance(following, Variable) or following.type == INDEX:
            continue
        if nexts.count(following) > 1:
            continue
        at = next(
            (
                number
                for number, statement in enumerate(loop.body)
                if isinstance(statement, Compute)
                and statement.result is following
                and statement.operator not in ("splat", "extract", "pack", "bits", "convert")
            ),
            None,
        )
        if at is None:
            continue
        if alone and (item.inside in nexts or _reads(loop.body[at + 1 :], item.inside)):
            continue
        yield place


def _size(statements: Sequence[Statement]) -> int:
    size = 0
    for statement in statements:
        match statement:
            case Loop(body=body):
                size += 4 + _size(body) * len(
                    range(statement.start, statement.stop, statement.step)
                )
            case If(body=body):
                size += 2 + _size(body)
            case _:
                size += 1
    return size


def _reads(statements: Sequence[Statement], variable: Variable) -> bool:
    return any(variable in _atoms(statement) for statement in statements)


def _atoms(statement: Statement) -> Iterator[Atom]:
    match statement:
        case Compute(operands=operands):
            yield from operands
        case Load(index=index) | SharedLoad(index=index):
            yield index
        case Store(index=index, value=value) | SharedStore(index=index, value=value):
            yield index
            yield value
        case Shuffle(value=value):
            yield value
        case Loop(carried=carried, body=body):
            yield from _carried(carried)
            for item in body:
                yield from _atoms(item)
        case If(condition=condition, body=body):
            yield condition
            for item in body:
                yield from _atoms(item)
        case Barrier():
            pass


def _carried(carried: Sequence[Carried]) -> Iterator[Atom]:
    for item in carried:
        yield item.initial
        yield item.next
