"""`through` and `iterate`: one turn is evaluated on placeholders and becomes the body of a rolled loop.

What a loop carries may be any value. Its tensors, known numbers among them, and its keys differ from turn to turn; all
else in it must stay what it is (E0410). While nothing in it is staged, `iterate` evaluates its turns one by one.
"""

from __future__ import annotations

from alpha.base.dtype import TensorType
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.intrinsics.known import integer
from alpha.evaluate.machine import Call, Machine, Row, Steps
from alpha.evaluate.parts import Part, changed, parts, stays
from alpha.evaluate.staging import KeyUse
from alpha.evaluate.values import KeyValue, Operation, StackValue, Staged, Value
from alpha.graph.loops import INDEX, Turn, close
from alpha.graph.node import Node

DEEPEST = 8
"""Loops in loops, at most. The gradient of a loop sweeps its turn more than once."""


def _through(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Steps:
    blocks, function, value = operands
    assert isinstance(blocks, StackValue)
    return (yield from _rolled(machine, blocks.count, function, value, blocks, span))


def _iterate(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Steps:
    count, function, value = operands
    left = integer(machine, count, "the number of rounds", span)
    while left > 0 and not any(isinstance(part, Staged | KeyValue) for part in parts(value)):
        value = yield Call(function, (value,))
        left -= 1
    if left > 0:
        value = yield from _rolled(machine, left, function, value, None, span)
    return value


def _rolled(
    machine: Machine,
    count: int,
    function: Value,
    value: Value,
    blocks: StackValue | None,
    span: Span,
) -> Steps:
    """`count` turns of `function` from `value` on; with `blocks` each is given the index and its layer too."""
    staging = machine.staging
    if len(staging.loops) >= DEEPEST:
        raise Refused(errors.loops_too_deep(DEEPEST, span))
    carried = parts(value)
    origins = [_entered(machine, part, span) for part in carried]
    stacked = [staging.node(leaf, span) for leaf in parts(blocks)] if blocks is not None else []
    machine.allocate(budget.NODE * (1 + 2 * len(origins) + len(stacked)))
    staging.used = True
    began = staging.builder.mark()
    loop = staging.enter_loop(count)
    index = staging.builder.placeholder(INDEX, span)
    given = [staging.builder.placeholder(node.type, span) for node in origins]
    rows = [staging.builder.placeholder(_row(node.type), span) for node in stacked]
    inside = _with_nodes(machine, value, given)
    arguments: tuple[Value, ...] = (inside,)
    if blocks is not None:
        layer = _with_nodes(machine, blocks.layer, rows)
        arguments = (Staged(index, loop), layer, inside)
    result = yield Call(function, arguments)
    if not stays(inside, result):
        raise Refused(errors.changes_between_turns(span, machine.trail))
    after = [_entered(machine, part, span) for part in parts(result)]
    staging.leave_loop()
    turn = Turn(
        count,
        index,
        tuple(zip(given, origins, strict=True)),
        tuple(zip(rows, stacked, strict=True)),
        tuple(after),
    )
    results = close(staging.builder, turn, lambda node: node.serial >= began, span)
    machine.allocate(budget.NODE * (staging.builder.mark() - began))
    return _with_nodes(machine, value, list(results))


def _entered(machine: Machine, part: Part, span: Span) -> Node:
    """The node of what a turn is given. A key that is carried is used by that."""
    if isinstance(part, KeyValue):
        machine.staging.use(part, KeyUse("carried", span))
    return machine.staging.node(part, span)


def _row(type_: TensorType) -> TensorType:
    return TensorType(type_.dtype, type_.shape[1:], type_.bound)


def _with_nodes(machine: Machine, value: Value, nodes: list[Node]) -> Value:
    """`value` with these nodes as its tensors and the bits of its keys."""
    remaining = iter(nodes)

    def next_part(part: Part) -> Value:
        node = next(remaining)
        return machine.staging.key(node) if isinstance(part, KeyValue) else Staged(node)

    return changed(value, next_part)


ROWS: dict[str, Row] = {
    "through": Row(3, _through),
    "iterate": Row(3, _iterate),
}
