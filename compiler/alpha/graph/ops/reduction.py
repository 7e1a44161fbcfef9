"""Reductions along axes (specification, sections 11 and 12.3)."""

from __future__ import annotations

from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.formula import Term, select, total
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Operation, Rule, Types, Use


def reduced(name: str, dtypes: frozenset[Dtype]) -> Rule:
    """The operand's type without the axes `axes`."""

    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 1)
        (x,) = types
        rules.defined(name, x, dtypes)
        return rules.replaced(
            x, rules.without(x.shape, rules.axes_of(name, attributes, len(x.shape)))
        )

    return rule


def _winner(name: str) -> Rule:
    def rule(types: Types, attributes: Attributes) -> TensorType:
        rules.count(name, types, 1)
        (x,) = types
        rules.defined(name, x, rules.NUMERIC)
        axis = rules.axis_of(name, attributes, len(x.shape))
        return TensorType(Dtype.I32, rules.without(x.shape, (axis,)), x.shape[axis])

    return rule


def _mean(use: Use) -> Term:
    """sum / n, with n the count rounded to the dtype"""
    (x,) = use.operands
    axes = use.integers("axes")
    return total(x, axes) / _count(x, axes)


def _count(x: Term, axes: Sequence[int]) -> int:
    count = 1
    for axis in axes:
        count *= x.shape[axis]
    return count


def _sum_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g repeated"""
    return (g.repeated(use.integers("axes"), use.operands[0].shape),)


def _mean_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g / n repeated"""
    (x,) = use.operands
    axes = use.integers("axes")
    return ((g / _count(x, axes)).repeated(axes, x.shape),)


def _extreme_gradient(winner: str, use: Use, g: Term) -> Sequence[Term]:
    (x,) = use.operands
    axes = use.integers("axes")
    kept = tuple(axis for axis in range(x.rank) if axis not in axes)
    order = kept + axes
    rows = rules.without(x.shape, axes)
    count = _count(x, axes)
    flat = x.apply("transpose", order=order).apply("reshape", shape=(*rows, count))
    place = flat.apply(winner, axis=len(rows)).repeated((len(rows),), flat.shape)
    positions = x.source("positions", count=count)
    every = Term(x.emitter, x.emitter.broadcast(positions.node, flat.shape), x.span)
    moved = tuple(x.shape[axis] for axis in order)
    inverse = tuple(order.index(axis) for axis in range(x.rank))
    first = place.equals(every).apply("reshape", shape=moved).apply("transpose", order=inverse)
    return (select(first, g.repeated(axes, x.shape), 0),)


def _max_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g to the first winner, row-major over the reduced axes; 0 elsewhere"""
    return _extreme_gradient("argmax", use, g)


def _min_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g to the first winner, row-major over the reduced axes; 0 elsewhere"""
    return _extreme_gradient("argmin", use, g)


ROWS: tuple[Operation, ...] = (
    Operation(
        "sum",
        "section 12.3: 16 strided lanes over the elements, flattened row-major over the reduced axes in the operand's"
        " axis order, then a fixed tree; integers wrap; no axes: x itself",
        reduced("sum", rules.NUMERIC),
        ("axes",),
        gradient=_sum_gradient,
        arithmetic=True,
    ),
    Operation(
        "mean",
        "sum / n, with n the count rounded to the dtype",
        reduced("mean", rules.FLOATS),
        ("axes",),
        expansion=_mean,
        gradient=_mean_gradient,
        arithmetic=True,
    ),
    Operation(
        "max",
        "NaN if one is NaN; +0 above -0",
        reduced("max", rules.NUMERIC),
        ("axes",),
        gradient=_max_gradient,
        arithmetic=True,
    ),
    Operation(
        "min",
        "NaN if one is NaN; -0 below +0",
        reduced("min", rules.NUMERIC),
        ("axes",),
        gradient=_min_gradient,
        arithmetic=True,
    ),
    Operation(
        "argmax",
        "the place of the first NaN if there is one, else of the first element that is the maximum; +0 is above -0",
        _winner("argmax"),
        ("axis",),
        arithmetic=True,
    ),
    Operation(
        "argmin",
        "the place of the first NaN if there is one, else of the first element that is the minimum; -0 is below +0",
        _winner("argmin"),
        ("axis",),
        arithmetic=True,
    ),
)
