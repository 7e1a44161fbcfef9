"""Gradients, and operations on whole bundles of parameters."""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.base.span import Span
from alpha.diagnostics.diagnostic import Refused
from alpha.evaluate import budget
from alpha.evaluate.intrinsics import elementwise
from alpha.evaluate.machine import Call, Machine, Row, Steps
from alpha.evaluate.models import parameters
from alpha.evaluate.parts import Part, changed
from alpha.evaluate.staging import Staging
from alpha.evaluate.values import (
    Bundle,
    ModelValue,
    Operation,
    Scalar,
    Staged,
    TupleValue,
    Value,
)
from alpha.graph.autodiff import gradients
from alpha.graph.errors import OperationError
from alpha.graph.node import Node


def _stop_gradient(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    def stopped(part: Part) -> Value:
        if isinstance(part, Staged):
            return Staged(machine.staging.apply("stopGradient", (part.node,), span))
        return part

    return changed(operands[0], stopped)


def _value_and_grad(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Steps:
    """Fresh nodes stand for `p` inside `f`, so what `f` captures of `p` from outside gets no gradient."""
    function, p, x = operands
    staging = machine.staging
    leaves = (
        tuple(p.leaves()) if isinstance(p, Bundle) else (("the value it is differentiated by", p),)
    )
    fresh = []
    for _, leaf in leaves:
        node = staging.node(leaf, span)
        machine.allocate(budget.NODE)
        fresh.append(staging.fresh(node, span))
    inside: Value = (
        p.rebuilt(Staged(node) for node in fresh) if isinstance(p, Bundle) else Staged(fresh[0])
    )
    loss = yield Call(function, (inside, x))
    names = [f"parameter `{path}`" if isinstance(p, Bundle) else path for path, _ in leaves]
    node = staging.node(loss, span)
    found = differentiated(staging, node, tuple(zip(names, fresh, strict=True)), span)
    machine.allocate(budget.NODE * len(found))
    gradient: Value = (
        p.rebuilt(Staged(adjoint) for adjoint in found)
        if isinstance(p, Bundle)
        else Staged(found[0])
    )
    return gradient if operation.name == "grad" else TupleValue((loss, gradient))


def differentiated(
    staging: Staging, loss: Node, by: tuple[tuple[str, Node], ...], span: Span
) -> list[Node]:
    """The gradients of `loss`; E0610 to E0613 at `span` where the graph knows no better place."""
    staging.used = True
    try:
        found = gradients(staging.builder, loss, [node for _, node in by], [name for name, _ in by])
    except OperationError as error:
        raise Refused(error.diagnostic(span)) from None
    return found


def _norm(machine: Machine, value: Value, span: Span) -> Value:
    """`sqrt` of the sums `sum (g * g)` of each parameter, added left to right in parameter order."""
    leaves = [leaf for _, leaf in value.leaves()] if isinstance(value, Bundle) else [value]
    total: Value | None = None
    for leaf in leaves:
        square = elementwise.apply(machine, "mul", (leaf, leaf), span)
        node = machine.staging.node(square, span)
        if node.type.shape:
            axes = tuple(range(len(node.type.shape)))
            square = Staged(machine.staging.apply("sum", (node,), span, axes=axes))
        total = (
            square if total is None else elementwise.apply(machine, "add", (total, square), span)
        )
    assert total is not None
    return elementwise.apply(machine, "sqrt", (total,), span)


def _global_norm(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    return _norm(machine, operands[0], span)


def _clip(machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span) -> Value:
    """Each tensor times `select (n > c) (c / n) 1`, with n the global norm."""
    limit, value = operands
    norm = _norm(machine, value, span)
    above = elementwise.apply(machine, "greater", (norm, limit), span)
    ratio = elementwise.apply(machine, "div", (limit, norm), span)
    factor = elementwise.apply(machine, "select", (above, ratio, Scalar(Dtype.F32, 1.0)), span)

    def clipped(leaf: Value) -> Value:
        return elementwise.apply(machine, "mul", (leaf, factor), span)

    if isinstance(value, Bundle):
        return value.rebuilt(clipped(leaf) for _, leaf in value.leaves())
    return clipped(value)


def _count_params(
    machine: Machine, operation: Operation, operands: tuple[Value, ...], span: Span
) -> Value:
    (model,) = operands
    assert isinstance(model, ModelValue)
    return sum(parameter.type.count for parameter in parameters(machine.index, model))


ROWS: dict[str, Row] = {
    "grad": Row(3, _value_and_grad),
    "valueAndGrad": Row(3, _value_and_grad),
    "stopGradient": Row(1, _stop_gradient),
    "globalNorm": Row(1, _global_norm),
    "clipByGlobalNorm": Row(2, _clip),
    "countParams": Row(1, _count_params),
}
