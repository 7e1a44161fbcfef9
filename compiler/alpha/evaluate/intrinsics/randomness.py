"""Keys and draws (specification, section 13). Every use of a key is recorded: a key is affine."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.intrinsics.known import integer
from alpha.evaluate.machine import Machine, Row
from alpha.evaluate.staging import KeyUse
from alpha.evaluate.values import KeyValue, Operation, Scalar, Staged, TupleValue, Value
from alpha.graph.node import Node
from alpha.graph.philox import TAG_DERIVE, TAG_SPLIT, key_from


def key_node(machine: Machine, key: tuple[int, int, int], span: Span) -> Node:
    k0, k1, step = key
    return machine.staging.apply("key", (), span, k0=k0, k1=k1, step=step)


def _key_from(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    number = integer(machine, operands[0], "the number of `keyFrom`", span)
    machine.allocate(budget.NODE)
    return machine.staging.key(key_node(machine, key_from(number % 2**64), span))


def _split(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    (key,) = operands
    assert isinstance(key, KeyValue)
    staging = machine.staging
    staging.use(key, KeyUse("split", span))
    machine.allocate(2 * budget.NODE + budget.compound(2))
    halves = [
        staging.apply("deriveKey", (key.node,), span, tag=TAG_SPLIT, index=index)
        for index in (0, 1)
    ]
    return TupleValue((staging.key(halves[0]), staging.key(halves[1])))


def _derive(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    key, label = operands
    assert isinstance(key, KeyValue)
    staging = machine.staging
    machine.allocate(budget.NODE)
    if isinstance(label, Staged) and label.loop is not None:
        own_index = bool(staging.loops) and label.loop == staging.loops[-1]
        staging.use(key, KeyUse("derived", span, range(staging.turns[label.loop])), own_index)
        child = staging.apply("deriveKey", (key.node, label.node), span, tag=TAG_DERIVE)
    elif isinstance(label, Scalar):
        number = int(label.value)
        staging.use(key, KeyUse("derived", span, range(number, number + 1)))
        child = staging.apply("deriveKey", (key.node,), span, tag=TAG_DERIVE, index=number)
    else:
        raise Refused(errors.must_be_known("the label of `derive`", span, machine.trail))
    return staging.key(child)


def _draw(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    key, like = operands
    assert isinstance(key, KeyValue)
    machine.staging.use(key, KeyUse("drawn", span))
    shape = like.node.type.shape if isinstance(like, Staged) else ()
    name = operation.name.removesuffix("Like")
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply(name, (key.node,), span, shape=shape))


ROWS: dict[str, Row] = {
    "keyFrom": Row(1, _key_from),
    "split": Row(1, _split),
    "derive": Row(2, _derive),
    "uniformLike": Row(2, _draw),
    "normalLike": Row(2, _draw),
}
