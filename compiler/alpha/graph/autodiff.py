"""Reverse-mode gradients as a source transformation (specification, section 14).

The sweep visits the nodes between the parameters and the loss from the last evaluated to the first and applies each
row's gradient formula. The laws it keeps, because they fix the bits:

* a value used several times gets the sum of its contributions in the order the sweep meets them, last use first; two
  operands of one operation count left first;
* a `broadcast` is part of the operand it widens, not a place of its own in that order: its `sum` is taken where the
  contribution is made;
* an adjoint carries a mask. `select` narrows it, an elementwise formula under it is `select mask formula 0`, and where
  contributions meet, or at an operation that is not elementwise, it is applied and dropped;
* the turns of a loop count as written out one after the other (`loop_gradient`).
"""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.errors import (
    integer_parameter,
    loss_not_scalar,
    parameter_unreached,
)
from alpha.graph.formula import Term
from alpha.graph.loop_gradient import sweep_loop
from alpha.graph.node import Node
from alpha.graph.sweep import Adjoint, Sweep


def gradients(
    builder: Builder, loss: Node, parameters: Sequence[Node], names: Sequence[str] = ()
) -> list[Node]:
    """The derivative of `loss` by each parameter, as new nodes of `builder`, one a parameter in order.

    `loss` is a scalar f32. Parameters are independent of each other: the sweep stops at them. Where a parameter's value
    is also used outside the function that is differentiated, pass `builder.fresh(value)` to both. `names` are what the
    messages call the parameters. Refuses with `OperationError`: E0610 loss not a scalar f32, E0611 an operation without
    a gradient on the way, E0612 a parameter the loss does not depend on, E0613 an integer parameter.
    """
    called = [
        names[place] if names else f"parameter {place + 1}" for place in range(len(parameters))
    ]
    if loss.type != TensorType(Dtype.F32, ()):
        raise loss_not_scalar(loss.type, loss.span)
    for name, parameter in zip(called, parameters, strict=True):
        if not parameter.type.dtype.is_float:
            raise integer_parameter(name, parameter.type, parameter.span)
    sweep = Sweep(builder, frozenset(parameters), (loss,), sweep_loop)
    one = builder.constant(1.0, Dtype.F32, loss.span)
    sweep.add(loss, Adjoint(Term(builder, one, loss.span)))
    sweep.run()
    found: list[Node] = []
    for name, parameter in zip(called, parameters, strict=True):
        adjoint = sweep.at(parameter)
        if adjoint is None:
            raise parameter_unreached(name, parameter.span)
        found.append(adjoint.dropped().value.node)
    return found
