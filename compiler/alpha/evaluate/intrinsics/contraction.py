"""`@`, `einsum`, `conv2d` and the contractions of tensor cores (specification, sections 11, 12.2 and 12.6)."""

from __future__ import annotations

from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget, errors
from alpha.evaluate.intrinsics.known import integer
from alpha.evaluate.machine import VARIABLE, Machine, Row
from alpha.evaluate.selection import chosen
from alpha.evaluate.values import Operation, Staged, Value
from alpha.graph.node import Node

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _matmul(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    a, b = (machine.staging.node(operand, span) for operand in operands)
    rank, other = len(a.type.shape), len(b.type.shape)
    left = LETTERS[: rank - 1] + "y"
    if other == 1:
        right, result = "y", left[:-1]
    elif other == 2:
        right, result = "yz", left[:-1] + "z"
    else:
        right, result = left[:-2] + "yz", left[:-1] + "z"
    return _contract(machine, a, b, (left, right, result), span)


def _contract(
    machine: Machine, a: Node, b: Node, letters: tuple[str, str, str], span: Span
) -> Staged:
    left, right, result = letters
    machine.allocate(budget.NODE)
    return Staged(
        machine.staging.apply("contract", (a, b), span, left=left, right=right, result=result)
    )


def _einsum(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    """Left to right; an intermediate keeps the letters that the result or a later operand needs."""
    assert operation.einsum is not None
    names: dict[str, str] = {}
    terms: list[tuple[Node, str]] = []
    for operand, written in zip(operands, operation.einsum.operands, strict=True):
        assert isinstance(operand, Staged)
        terms.append(_placed(machine, operand, written, names, span))
    result = "".join(names[letter] for letter in operation.einsum.result)
    if len(terms) == 1:
        return _rearranged(machine, *terms[0], result, span)
    node, letters = terms[0]
    for place, (other, right) in enumerate(terms[1:], start=1):
        later = "".join(later for _, later in terms[place + 1 :])
        kept = "".join(dict.fromkeys(x for x in letters + right if x in result or x in later))
        wanted = result if place == len(terms) - 1 else kept
        node = _contract(machine, node, other, (letters, right, wanted), span).node
        letters = wanted
    return Staged(node)


def _placed(
    machine: Machine,
    operand: Staged,
    written: tuple[str | int, ...],
    names: dict[str, str],
    span: Span,
) -> tuple[Node, str]:
    """The operand with the places that numbers select taken out, and its letters, one character each."""
    shape = operand.node.type.shape
    low, high = [0] * len(shape), list(shape)
    kept: list[int] = []
    letters = ""
    for axis, letter in enumerate(written):
        if isinstance(letter, int):
            if not 0 <= letter < shape[axis]:
                raise Refused(errors.index_outside(letter, shape[axis], span))
            low[axis], high[axis] = letter, letter + 1
        else:
            letters += names.setdefault(letter, LETTERS[len(names)])
            kept.append(shape[axis])
    node = chosen(machine, operand, tuple(low), tuple(high), tuple(kept), span).node
    return node, letters


def _rearranged(machine: Machine, node: Node, letters: str, result: str, span: Span) -> Staged:
    """An einsum of one operand: a sum and a transposition."""
    gone = tuple(axis for axis, letter in enumerate(letters) if letter not in result)
    if gone:
        machine.allocate(budget.NODE)
        node = machine.staging.apply("sum", (node,), span, axes=gone)
    left = [letter for letter in letters if letter in result]
    order = tuple(left.index(letter) for letter in result)
    if order != tuple(range(len(order))):
        machine.allocate(budget.NODE)
        node = machine.staging.apply("transpose", (node,), span, order=order)
    return Staged(node)


def _conv2d(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    zeros = integer(machine, operands[0], "the padding of `conv2d`", span)
    nodes = tuple(machine.staging.node(operand, span) for operand in operands[1:])
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply("conv2d", nodes, span, padding=(zeros, zeros)))


def _tensor_core(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    nodes = tuple(machine.staging.node(operand, span) for operand in operands)
    machine.allocate(budget.NODE)
    return Staged(machine.staging.apply(operation.name, nodes, span))


TENSOR_CORES = ("matmulTensorCoreBf16", "matmulTensorCoreF16", "matmulTensorCoreTf32")

ROWS: dict[str, Row] = {
    "matmul": Row(2, _matmul),
    "einsum": Row(VARIABLE, _einsum),
    "conv2d": Row(3, _conv2d),
    **{name: Row(2, _tensor_core) for name in TENSOR_CORES},
}
