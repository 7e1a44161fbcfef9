"""Shape and movement: the bits of the elements are unchanged (specification, section 11)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.errors import OperationError
from alpha.graph.formula import Term, select, total
from alpha.graph.ops import rules
from alpha.graph.ops.row import Attributes, Operation, Types, Use


def _broadcast(types: Types, attributes: Attributes) -> TensorType:
    rules.count("broadcast", types, 1)
    (x,) = types
    shape = rules.shape_of("broadcast", attributes)
    if len(x.shape) > len(shape):
        raise OperationError(
            "E0413", f"rank {len(x.shape)} does not broadcast to rank {len(shape)}"
        )
    trailing = shape[len(shape) - len(x.shape) :]
    if trailing != x.shape:
        stretched = all(a in (1, b) for a, b in zip(x.shape, trailing, strict=True))
        raise OperationError(
            "E0417" if stretched else "E0412",
            f"`{x}` does not broadcast to {list(shape)}: its axes must equal the trailing ones",
            hints=("a size-1 axis never stretches; use `repeat`",) if stretched else (),
        )
    return rules.replaced(x, shape)


def _reshape(types: Types, attributes: Attributes) -> TensorType:
    rules.count("reshape", types, 1)
    (x,) = types
    result = rules.replaced(x, rules.shape_of("reshape", attributes))
    if result.count != x.count:
        raise OperationError(
            "E0414", f"`reshape` gives {result.count} elements to a tensor of {x.count}"
        )
    return result


def _transpose(types: Types, attributes: Attributes) -> TensorType:
    rules.count("transpose", types, 1)
    (x,) = types
    order = rules.integers("transpose", "order", attributes["order"])
    if sorted(order) != list(range(len(x.shape))):
        raise OperationError(
            "E0418", f"{list(order)} is no order of the axes of a tensor of rank {len(x.shape)}"
        )
    return rules.replaced(x, [x.shape[axis] for axis in order])


def _reverse(types: Types, attributes: Attributes) -> TensorType:
    rules.count("reverse", types, 1)
    rules.axes_of("reverse", attributes, len(types[0].shape))
    return types[0]


def _repeat(types: Types, attributes: Attributes) -> TensorType:
    rules.count("repeat", types, 1)
    (x,) = types
    axis = rules.axis_of("repeat", attributes, len(x.shape) + 1)
    count = rules.integer("repeat", "count", attributes["count"])
    if count < 1:
        raise OperationError("E0503", f"`repeat` makes an axis of size {count}")
    return rules.replaced(x, (*x.shape[:axis], count, *x.shape[axis:]))


def _concat(types: Types, attributes: Attributes) -> TensorType:
    if not types:
        raise OperationError("E0302", "`concat` needs at least one tensor")
    first = types[0]
    axis = rules.axis_of("concat", attributes, len(first.shape))
    size = 0
    for x in types:
        rules.equal_elements("concat", first, x)
        if len(x.shape) != len(first.shape):
            raise OperationError(
                "E0413", f"`concat` joins rank {len(first.shape)} with rank {len(x.shape)}"
            )
        size += x.shape[axis]
        rules.equal_shapes(
            "concat", first, rules.replaced(x, _with(x.shape, axis, first.shape[axis]))
        )
    return rules.replaced(first, _with(first.shape, axis, size))


def _with(shape: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _pad(types: Types, attributes: Attributes) -> TensorType:
    rules.count("pad", types, 1)
    (x,) = types
    axis = rules.axis_of("pad", attributes, len(x.shape))
    low = rules.integer("pad", "low", attributes["low"])
    high = rules.integer("pad", "high", attributes["high"])
    if low < 0 or high < 0:
        raise OperationError(
            "E0503", f"`pad` adds {low} and {high} places, which must not be negative"
        )
    return rules.replaced(x, _with(x.shape, axis, low + x.shape[axis] + high))


def _slice(types: Types, attributes: Attributes) -> TensorType:
    rules.count("slice", types, 1)
    (x,) = types
    low = rules.integers("slice", "low", attributes["low"])
    high = rules.integers("slice", "high", attributes["high"])
    if not len(low) == len(high) == len(x.shape):
        raise OperationError(
            "E0413", f"`slice` names {len(low)} axes of a tensor of rank {len(x.shape)}"
        )
    for first, past, size in zip(low, high, x.shape, strict=True):
        if first < 0 or past > size:
            raise OperationError("E0423", f"the slice {first}:{past} leaves an axis of size {size}")
        if first >= past:
            raise OperationError("E0503", f"the slice {first}:{past} is empty")
    return rules.replaced(x, [past - first for first, past in zip(low, high, strict=True)])


def _index(name: str, type_: TensorType) -> int:
    if type_.bound is None:
        raise OperationError("E0403", f"`{name}` needs an index, not {type_.dtype.value}")
    return type_.bound


def _gather(types: Types, attributes: Attributes) -> TensorType:
    rules.count("gather", types, 2)
    table, ids = types
    if not table.shape:
        raise OperationError("E0413", "`gather` needs a table with an axis of rows")
    if _index("gather", ids) != table.shape[0]:
        raise OperationError(
            "E0412", f"`gather` reads {table.shape[0]} rows with an index {ids.bound}"
        )
    return rules.replaced(table, ids.shape + table.shape[1:])


def _add_rows(types: Types, attributes: Attributes) -> TensorType:
    rules.count("addRows", types, 2)
    rows, ids = types
    rules.defined("addRows", rows, rules.FLOATS)
    bound = _index("addRows", ids)
    if rows.shape[: len(ids.shape)] != ids.shape:
        raise OperationError("E0412", f"`addRows` has rows `{rows}` for places `{ids}`")
    return rules.replaced(rows, (bound, *rows.shape[len(ids.shape) :]))


def _one_hot(types: Types, attributes: Attributes) -> TensorType:
    rules.count("oneHot", types, 1)
    return TensorType(Dtype.F32, (*types[0].shape, _index("oneHot", types[0])))


def _causal(types: Types, attributes: Attributes) -> TensorType:
    rules.count("causal", types, 1)
    (x,) = types
    rules.defined("causal", x, rules.FLOATS)
    if len(x.shape) < 2:
        raise OperationError("E0413", f"`causal` needs rows and columns, not rank {len(x.shape)}")
    if x.shape[-1] != x.shape[-2]:
        raise OperationError(
            "E0412", f"`causal` needs a square, not {x.shape[-2]} rows of {x.shape[-1]}"
        )
    return x


def _positions(types: Types, attributes: Attributes) -> TensorType:
    rules.count("positions", types, 0)
    count = rules.integer("positions", "count", attributes["count"])
    if count < 1:
        raise OperationError("E0503", f"`positions` makes an axis of size {count}")
    return TensorType(Dtype.I32, (count,), count)


def _everywhere(x: Term, shape: tuple[int, ...]) -> Term:
    return Term(x.emitter, x.emitter.broadcast(x.node, shape), x.span)


def _one_hot_meaning(use: Use) -> Term:
    """cast f32 (ids == positions), along a new last axis"""
    (ids,) = use.operands
    shape = use.result.shape
    positions = _everywhere(ids.source("positions", count=shape[-1]), shape)
    return ids.repeated((ids.rank,), shape).equals(positions).apply("cast", dtype=Dtype.F32)


def _above(x: Term) -> Term:
    """column > row"""
    size = x.shape[-1]
    positions = x.source("positions", count=size)
    column = _everywhere(positions, (size, size))
    row = positions.apply("repeat", axis=1, count=size)
    return _everywhere(column > row, x.shape)


def _causal_meaning(use: Use) -> Term:
    """select (column > row) (-inf) x"""
    (x,) = use.operands
    return select(_above(x), -math.inf, x)


def _broadcast_gradient(use: Use, g: Term) -> Sequence[Term]:
    """sum over the added axes"""
    return (total(g, range(g.rank - use.operands[0].rank)),)


def _reshape_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g reshaped back"""
    return (g.apply("reshape", shape=use.operands[0].shape),)


def _transpose_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g with the axes in the inverse order"""
    order = use.integers("order")
    return (g.apply("transpose", order=tuple(order.index(axis) for axis in range(len(order)))),)


def _reverse_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g reversed"""
    return (g.apply("reverse", axes=use.integers("axes")),)


def _repeat_gradient(use: Use, g: Term) -> Sequence[Term]:
    """sum[k] g"""
    return (total(g, (use.integer("axis"),)),)


def _concat_gradient(use: Use, g: Term) -> Sequence[Term]:
    """the slices of g"""
    axis = use.integer("axis")
    contributions: list[Term] = []
    first = 0
    for operand in use.operands:
        low = _with((0,) * g.rank, axis, first)
        first += operand.shape[axis]
        contributions.append(g.apply("slice", low=low, high=_with(g.shape, axis, first)))
    return contributions


def _pad_gradient(use: Use, g: Term) -> Sequence[Term]:
    """the slice of g"""
    axis, low = use.integer("axis"), use.integer("low")
    size = use.operands[0].shape[axis]
    return (
        g.apply(
            "slice", low=_with((0,) * g.rank, axis, low), high=_with(g.shape, axis, low + size)
        ),
    )


def _slice_gradient(use: Use, g: Term) -> Sequence[Term]:
    """g written into zeros"""
    for axis, (first, past) in enumerate(
        zip(use.integers("low"), use.integers("high"), strict=True)
    ):
        after = use.operands[0].shape[axis] - past
        if first or after:
            g = g.apply("pad", axis=axis, low=first, high=after)
    return (g,)


def _gather_gradient(use: Use, g: Term) -> Sequence[Term | None]:
    """the rows of g added from +0 in ascending place of ids; none to ids"""
    return g.apply("addRows", use.operands[1]), None


def _add_rows_gradient(use: Use, g: Term) -> Sequence[Term | None]:
    """gather g ids; none to ids"""
    return g.apply("gather", use.operands[1]), None


def _causal_gradient(use: Use, g: Term) -> Sequence[Term]:
    """0 where column > row, else g"""
    return (select(_above(g), 0, g),)


ROWS: tuple[Operation, ...] = (
    Operation(
        "broadcast",
        "x along new leading axes: the operand's shape is the trailing axes of `shape`",
        _broadcast,
        ("shape",),
        gradient=_broadcast_gradient,
    ),
    Operation(
        "reshape", "the same elements, row-major", _reshape, ("shape",), gradient=_reshape_gradient
    ),
    Operation(
        "transpose",
        "axis k of the result is axis order[k]",
        _transpose,
        ("order",),
        gradient=_transpose_gradient,
    ),
    Operation(
        "reverse",
        "place k of each axis in `axes` is place n - 1 - k of the operand",
        _reverse,
        ("axes",),
        gradient=_reverse_gradient,
    ),
    Operation(
        "repeat",
        "a new axis of size `count`, axis `axis` of the result",
        _repeat,
        ("axis", "count"),
        gradient=_repeat_gradient,
    ),
    Operation(
        "concat", "the operands one after the other", _concat, ("axis",), gradient=_concat_gradient
    ),
    Operation(
        "pad",
        "zeros before and after, along one axis",
        _pad,
        ("axis", "high", "low"),
        gradient=_pad_gradient,
    ),
    Operation(
        "slice",
        "the places low ... high - 1 of every axis",
        _slice,
        ("high", "low"),
        gradient=_slice_gradient,
    ),
    Operation("gather", "the rows of the table at ids", _gather, gradient=_gather_gradient),
    Operation(
        "addRows",
        "rows [...r, ...s] at places ids [...r] added into [n, ...s] from +0, in ascending place of ids",
        _add_rows,
        gradient=_add_rows_gradient,
        arithmetic=True,
    ),
    Operation(
        "oneHot", "1 at ids along a new last axis, else 0", _one_hot, expansion=_one_hot_meaning
    ),
    Operation(
        "causal",
        "-inf where column > row, else x",
        _causal,
        expansion=_causal_meaning,
        gradient=_causal_gradient,
    ),
    Operation("positions", "0, 1, ... count - 1", _positions, ("count",)),
)
