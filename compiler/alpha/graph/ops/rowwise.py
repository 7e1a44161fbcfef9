"""Row operations, written out over a shift `m`, exponentials `e` and their sum `z` (specification, section 11)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term, exp, log, select, total
from alpha.graph.ops import rules
from alpha.graph.ops.reduction import reduced
from alpha.graph.ops.row import Attributes, Operation, Rule, Types, Use


def _along(name: str) -> Rule:
    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 1)
        rules.defined(name, types[0], rules.ELEMENTARY)
        rules.axis_of(name, attributes, len(types[0].shape))
        return types[0]

    return rule


def _labelled(name: str, dtypes: frozenset[Dtype]) -> Rule:
    """`[...s, n]` with `index n` of shape `s`; gives shape `s`."""

    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 2)
        x, label = types
        rules.defined(name, x, dtypes)
        if not x.shape:
            raise OperationError("E0413", f"`{name}` needs an axis to pick from")
        if label.bound is None:
            raise OperationError("E0403", f"`{name}` needs an index, not {label.dtype.value}")
        if label.bound != x.shape[-1]:
            raise OperationError(
                "E0412",
                f"`{name}` picks with an index {label.bound} from an axis of size {x.shape[-1]}",
            )
        rules.equal_shapes(name, rules.replaced(x, x.shape[:-1]), label)
        return rules.replaced(x, x.shape[:-1])

    return rule


def _shift(x: Term, axes: Sequence[int]) -> Term:
    """m: the maximum, 0 where that is -inf"""
    m = x.apply("max", axes=tuple(axes))
    return select(m.equals(-math.inf), 0, m)


def _exponentials(x: Term, m: Term, axes: Sequence[int]) -> Term:
    """e = exp (x - m)"""
    return exp(x - m.repeated(axes, x.shape))


def _mass(e: Term, axes: Sequence[int]) -> Term:
    """z: the sum of e, 1 where that is 0"""
    z = total(e, axes)
    return select(z.equals(0), 1, z)


def _probabilities(x: Term, axes: Sequence[int]) -> Term:
    """e / z"""
    e = _exponentials(x, _shift(x, axes), axes)
    return e / _mass(e, axes).repeated(axes, x.shape)


def _softmax(use: Use) -> Term:
    """e / z"""
    return _probabilities(use.operands[0], (use.integer("axis"),))


def _log_softmax(use: Use) -> Term:
    """(x - m) - log z"""
    (x,) = use.operands
    axes = (use.integer("axis"),)
    m = _shift(x, axes)
    shifted = x - m.repeated(axes, x.shape)
    return shifted - log(_mass(exp(shifted), axes)).repeated(axes, x.shape)


def _log_sum_exp(use: Use) -> Term:
    """m + log (sum e)"""
    (x,) = use.operands
    axes = use.integers("axes")
    m = _shift(x, axes)
    return m + log(total(_exponentials(x, m, axes), axes))


def _cross_entropy(use: Use) -> Term:
    """log z - (x[l] - m) along the last axis"""
    x, label = use.operands
    axes = (x.rank - 1,)
    m = _shift(x, axes)
    z = _mass(_exponentials(x, m, axes), axes)
    return log(z) - (x.apply("pick", label) - m)


def _softmax_gradient(use: Use, g: Term) -> Sequence[Term]:
    """y * (g - sum[k] (g * y))"""
    y = use.result
    axes = (use.integer("axis"),)
    return (y * (g - total(g * y, axes).repeated(axes, y.shape)),)


def _log_softmax_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g - (e / z) * sum[k] g"""
    (x,) = use.operands
    axes = (use.integer("axis"),)
    return (g - _probabilities(x, axes) * total(g, axes).repeated(axes, x.shape),)


def _log_sum_exp_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g * (e / z)"""
    (x,) = use.operands
    axes = use.integers("axes")
    return (g.repeated(axes, x.shape) * _probabilities(x, axes),)


def _cross_entropy_gradient(use: Use, g: Term) -> Sequence[Term | None]:
    """g * (p - hot), p = e / z, hot 1 at l, else 0; none to l"""
    x, label = use.operands
    axes = (x.rank - 1,)
    p = _probabilities(x, axes)
    hot = label.apply("oneHot")
    if x.type.dtype is not hot.type.dtype:
        hot = hot.apply("cast", dtype=x.type.dtype)
    return g.repeated(axes, x.shape) * (p - hot), None


def _pick_gradient(use: Use, g: Term) -> Sequence[Term | None]:
    """g at l, 0 elsewhere; none to l"""
    x, label = use.operands
    axes = (x.rank - 1,)
    positions = x.source("positions", count=x.shape[-1])
    every = Term(x.emitter, x.emitter.broadcast(positions.node, x.shape), x.span)
    return select(label.repeated(axes, x.shape).equals(every), g.repeated(axes, x.shape), 0), None


ROWS: tuple[Operation, ...] = (
    Operation(
        "softmax",
        "m = max, 0 where that is -inf; e = exp (x - m); z = sum e, 1 where that is 0; e / z",
        _along("softmax"),
        ("axis",),
        expansion=_softmax,
        gradient=_softmax_gradient,
        arithmetic=True,
    ),
    Operation(
        "logSoftmax",
        "(x - m) - log z",
        _along("logSoftmax"),
        ("axis",),
        expansion=_log_softmax,
        gradient=_log_softmax_gradient,
        arithmetic=True,
    ),
    Operation(
        "logSumExp",
        "m + log (sum e)",
        reduced("logSumExp", rules.ELEMENTARY),
        ("axes",),
        expansion=_log_sum_exp,
        gradient=_log_sum_exp_gradient,
        arithmetic=True,
    ),
    Operation(
        "crossEntropy",
        "log z - (x[l] - m) along the last axis",
        _labelled("crossEntropy", rules.ELEMENTARY),
        expansion=_cross_entropy,
        gradient=_cross_entropy_gradient,
        arithmetic=True,
    ),
    Operation(
        "pick",
        "x[l] along the last axis; bits unchanged",
        _labelled("pick", rules.NUMERIC),
        gradient=_pick_gradient,
    ),
)
