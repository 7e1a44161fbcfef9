"""Random well-typed graphs over every operation of the table, and inputs for them.

`applications(operation)` draws one application of one operation; `graphs()` draws a whole graph. `inputs_of` makes
arrays for a graph's inputs from a seed, with special values (signed zeros, infinities, NaN, subnormals) if asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy
from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Node
from alpha.graph.ops import TABLE

Draw = Any
Array = Any

UNARY = (
    *("neg", "abs", "sqrt", "exp", "log", "tanh", "sigmoid", "erf"),
    *("sin", "cos", "rsqrt", "relu", "sign", "floor", "round"),
)
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum")
COMPARISONS = ("equal", "notEqual", "less", "lessEqual", "greater", "greaterEqual")
LOGIC = ("and", "or")
REDUCTIONS = ("sum", "mean", "max", "min", "logSumExp")
ALONG_AXIS = ("argmax", "argmin", "softmax", "logSoftmax")
OPERATIONS = tuple(name for name, row in TABLE.items() if not row.leaf and not row.interval)
"""Those with exact bits."""

STORAGE: Mapping[Dtype, Any] = {
    Dtype.F64: numpy.float64,
    Dtype.F32: numpy.float32,
    Dtype.BF16: numpy.float32,
    Dtype.F16: numpy.float32,
    Dtype.I64: numpy.int64,
    Dtype.I32: numpy.int32,
    Dtype.U32: numpy.uint32,
    Dtype.U8: numpy.uint8,
    Dtype.BOOL: numpy.bool_,
}


@dataclass
class Pool:
    """The graph so far. `find` gives an earlier node of a type or makes an input."""

    draw: Draw
    builder: Builder
    nodes: list[Node]
    inputs: int = 0

    def fresh(self, type_: TensorType) -> Node:
        self.inputs += 1
        node = self.builder.input(f"x{self.inputs}", type_)
        self.nodes.append(node)
        return node

    def find(self, type_: TensorType) -> Node:
        known = [node for node in self.nodes if node.type == type_]
        if known and self.draw(st.integers(0, 3)):
            return known[self.draw(st.integers(0, len(known) - 1))]
        return self.fresh(type_)

    def operand(self, dtype: Dtype, least: int = 0, most: int = 3) -> Node:
        """An earlier node of this dtype with a fitting rank, or an input of a drawn shape."""
        known = [
            node
            for node in self.nodes
            if node.type.dtype is dtype
            and node.type.bound is None
            and least <= len(node.type.shape) <= most
        ]
        if known and self.draw(st.integers(0, 2)):
            return known[self.draw(st.integers(0, len(known) - 1))]
        return self.fresh(TensorType(dtype, self.shape(least, most)))

    def width(self) -> int:
        """A size of the axis that runs across lanes."""
        return int(self.draw(st.integers(1, 4)))

    def shape(self, least: int = 0, most: int = 3) -> tuple[int, ...]:
        return tuple(self.draw(st.lists(st.integers(1, 5), min_size=least, max_size=most)))

    def add(self, operation: str, *operands: Node, **attributes: Any) -> Node:
        node = self.builder.apply(operation, operands, **attributes)
        self.nodes.append(node)
        return node


def step(pool: Pool, operation: str, dtype: Dtype = Dtype.F32) -> Node:
    """One application of `operation`, on `dtype` where it has a choice."""
    draw = pool.draw
    if operation in UNARY:
        return pool.add(operation, pool.operand(dtype))
    if operation in BINARY or operation in COMPARISONS:
        x = pool.operand(dtype)
        return pool.add(operation, x, pool.find(x.type))
    if operation in LOGIC:
        x = pool.operand(Dtype.BOOL)
        return pool.add(operation, x, pool.find(x.type))
    if operation in REDUCTIONS:
        x = pool.operand(dtype)
        axes = draw(st.sets(st.integers(0, max(0, len(x.type.shape) - 1)))) if x.type.shape else ()
        return pool.add(operation, x, axes=tuple(sorted(axes)))
    if operation in ALONG_AXIS:
        x = pool.operand(dtype, 1)
        return pool.add(operation, x, axis=draw(st.integers(0, len(x.type.shape) - 1)))
    return _OTHERS[operation](pool, dtype)


def _fma(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype)
    return pool.add("fma", x, pool.find(x.type), pool.find(x.type))


def _pow(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("pow", pool.operand(dtype), exponent=pool.draw(st.integers(-5, 12)))


def _pow_step(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("powStep", pool.operand(dtype), pool.find(TensorType(Dtype.U32, ())))


def _floor_div(pool: Pool, dtype: Dtype) -> Node:
    return pool.add(
        "floorDiv", pool.operand(_integer(pool)), by=pool.draw(st.sampled_from([1, 2, 7, 100]))
    )


def _rem(pool: Pool, dtype: Dtype) -> Node:
    return pool.add(
        "rem", pool.operand(_integer(pool)), by=pool.draw(st.sampled_from([1, 2, 7, 100]))
    )


def _integer(pool: Pool) -> Dtype:
    return pool.draw(st.sampled_from([Dtype.I32, Dtype.U32]))


def _not(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("not", pool.operand(Dtype.BOOL))


def _select(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype)
    return pool.add("select", pool.find(TensorType(Dtype.BOOL, x.type.shape)), x, pool.find(x.type))


def _cast(pool: Pool, dtype: Dtype) -> Node:
    source = pool.draw(st.sampled_from([dtype, Dtype.I32, Dtype.U32, Dtype.U8, Dtype.BOOL]))
    target = pool.draw(st.sampled_from([dtype, Dtype.F32, Dtype.I32, Dtype.U32, Dtype.U8]))
    return pool.add("cast", pool.operand(source), dtype=target)


def _stop(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("stopGradient", pool.operand(dtype))


def _labelled(operation: str) -> Any:
    def make(pool: Pool, dtype: Dtype) -> Node:
        x = pool.operand(dtype, 1)
        *rows, count = x.type.shape
        return pool.add(operation, x, pool.find(TensorType(Dtype.I32, tuple(rows), count)))

    return make


def _contract(pool: Pool, dtype: Dtype) -> Node:
    draw = pool.draw
    left = draw(st.permutations("abcd"))[: draw(st.integers(0, 3))]
    right = draw(st.permutations("abcd"))[: draw(st.integers(0, 3))]
    kept = [letter for letter in dict.fromkeys([*left, *right]) if draw(st.booleans())]
    sizes = dict(zip("abcd", draw(st.tuples(*[st.integers(1, 4)] * 4)), strict=True))
    operands = [
        pool.find(TensorType(dtype, tuple(sizes[letter] for letter in letters)))
        for letters in (left, right)
    ]
    result = draw(st.permutations(kept))
    return pool.add(
        "contract", *operands, left="".join(left), right="".join(right), result="".join(result)
    )


def _image(pool: Pool, dtype: Dtype, channels: int) -> tuple[Node, tuple[int, int]]:
    """An image and the size of a window that it holds."""
    high, wide = pool.draw(st.tuples(st.integers(1, 5), st.integers(1, 5)))
    window = pool.draw(st.tuples(st.integers(1, min(3, high)), st.integers(1, min(3, wide))))
    count = pool.draw(st.integers(1, 3))
    return pool.find(TensorType(dtype, (count, high, wide, channels))), window


def _padding(pool: Pool, window: tuple[int, int]) -> tuple[int, int]:
    return tuple(pool.draw(st.tuples(*(st.integers(0, size - 1) for size in window))))


def _conv2d(pool: Pool, dtype: Dtype) -> Node:
    x, window = _image(pool, dtype, pool.draw(st.integers(1, 3)))
    w = pool.find(TensorType(dtype, (*window, x.type.shape[3], pool.width())))
    return pool.add("conv2d", x, w, padding=_padding(pool, window))


def _places(x: Node, window: tuple[int, int], padding: tuple[int, int]) -> tuple[int, ...]:
    return tuple(
        size + 2 * zeros - length + 1
        for size, length, zeros in zip(x.type.shape[1:3], window, padding, strict=True)
    )


def _conv2d_weights(pool: Pool, dtype: Dtype) -> Node:
    x, window = _image(pool, dtype, pool.draw(st.integers(1, 3)))
    padding = _padding(pool, window)
    shape = (x.type.shape[0], *_places(x, window, padding), pool.width())
    return pool.add("conv2dWeights", pool.find(TensorType(dtype, shape)), x, padding=padding)


def _contract_windows(pool: Pool, dtype: Dtype) -> Node:
    draw = pool.draw
    x, window = _image(pool, dtype, draw(st.integers(1, 3)))
    n, _, _, channels = x.type.shape
    places = _places(x, window, (0, 0))
    sizes = dict(zip("nhwklio", (n, *places, *window, channels, pool.width()), strict=True))
    right = draw(st.sampled_from(["klio", "nhwo", "ohwn", "inhk"]))
    kept = [letter for letter in dict.fromkeys("nhwkli" + right) if draw(st.booleans())]
    other = pool.find(TensorType(dtype, tuple(sizes[letter] for letter in right)))
    result = "".join(draw(st.permutations(kept)))
    return pool.add("contractWindows", x, other, window=window, right=right, result=result)


def _reverse(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype, 1)
    axes = pool.draw(st.sets(st.integers(0, len(x.type.shape) - 1)))
    return pool.add("reverse", x, axes=tuple(sorted(axes)))


def _broadcast(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype, 0, 2)
    return pool.add("broadcast", x, shape=(*pool.shape(0, 1), *x.type.shape))


def _reshape(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype)
    shape = pool.draw(st.permutations([*x.type.shape, 1]))
    return pool.add("reshape", x, shape=tuple(shape))


def _transpose(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype)
    return pool.add(
        "transpose", x, order=tuple(pool.draw(st.permutations(range(len(x.type.shape)))))
    )


def _repeat(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype, 0, 2)
    axis = pool.draw(st.integers(0, len(x.type.shape)))
    return pool.add("repeat", x, axis=axis, count=pool.draw(st.integers(1, 4)))


def _concat(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype, 1)
    axis = pool.draw(st.integers(0, len(x.type.shape) - 1))
    others = [
        pool.find(TensorType(dtype, (*x.type.shape[:axis], size, *x.type.shape[axis + 1 :])))
        for size in pool.draw(st.lists(st.integers(1, 4), max_size=2))
    ]
    return pool.add("concat", x, *others, axis=axis)


def _pad(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype, 1)
    low, high = pool.draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
    return pool.add(
        "pad", x, axis=pool.draw(st.integers(0, len(x.type.shape) - 1)), low=low, high=high
    )


def _slice(pool: Pool, dtype: Dtype) -> Node:
    x = pool.operand(dtype)
    low = tuple(pool.draw(st.integers(0, size - 1)) for size in x.type.shape)
    high = tuple(
        pool.draw(st.integers(first + 1, size))
        for first, size in zip(low, x.type.shape, strict=True)
    )
    return pool.add("slice", x, low=low, high=high)


def _gather(pool: Pool, dtype: Dtype) -> Node:
    table = pool.operand(dtype, 1)
    return pool.add(
        "gather", table, pool.find(TensorType(Dtype.I32, pool.shape(0, 2), table.type.shape[0]))
    )


def _add_rows(pool: Pool, dtype: Dtype) -> Node:
    rows = pool.operand(dtype, 1)
    rank = pool.draw(st.integers(0, len(rows.type.shape)))
    ids = TensorType(Dtype.I32, rows.type.shape[:rank], pool.draw(st.integers(1, 4)))
    return pool.add("addRows", rows, pool.find(ids))


def _one_hot(pool: Pool, dtype: Dtype) -> Node:
    ids = TensorType(Dtype.I32, pool.shape(0, 2), pool.draw(st.integers(1, 4)))
    return pool.add("oneHot", pool.find(ids))


def _causal(pool: Pool, dtype: Dtype) -> Node:
    size = pool.draw(st.integers(1, 4))
    return pool.add("causal", pool.find(TensorType(dtype, (*pool.shape(0, 1), size, size))))


def _positions(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("positions", count=pool.draw(st.integers(1, 6)))


def _key(pool: Pool, dtype: Dtype) -> Node:
    words = st.integers(0, 2**32 - 1)
    return pool.add("key", k0=pool.draw(words), k1=pool.draw(words), step=pool.draw(words))


def _some_key(pool: Pool) -> Node:
    return pool.find(TensorType(Dtype.U32, (3,)))


def _derive(pool: Pool, dtype: Dtype) -> Node:
    tag = pool.draw(st.integers(0, 7))
    if pool.draw(st.booleans()):
        return pool.add("deriveKey", _some_key(pool), pool.find(TensorType(Dtype.U32, ())), tag=tag)
    return pool.add(
        "deriveKey", _some_key(pool), tag=tag, index=pool.draw(st.integers(0, 2**64 - 1))
    )


def _uniform(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("uniform", _some_key(pool), shape=pool.shape())


def _normal(pool: Pool, dtype: Dtype) -> Node:
    return pool.add("normal", _some_key(pool), shape=pool.shape())


_OTHERS: dict[str, Any] = {
    "fma": _fma,
    "pow": _pow,
    "powStep": _pow_step,
    "floorDiv": _floor_div,
    "rem": _rem,
    "not": _not,
    "select": _select,
    "cast": _cast,
    "stopGradient": _stop,
    "crossEntropy": _labelled("crossEntropy"),
    "pick": _labelled("pick"),
    "contract": _contract,
    "conv2d": _conv2d,
    "conv2dWeights": _conv2d_weights,
    "contractWindows": _contract_windows,
    "broadcast": _broadcast,
    "reshape": _reshape,
    "transpose": _transpose,
    "repeat": _repeat,
    "reverse": _reverse,
    "concat": _concat,
    "pad": _pad,
    "slice": _slice,
    "gather": _gather,
    "addRows": _add_rows,
    "oneHot": _one_hot,
    "causal": _causal,
    "positions": _positions,
    "key": _key,
    "deriveKey": _derive,
    "uniform": _uniform,
    "normal": _normal,
}


@st.composite
def applications(draw: Draw, operation: str, dtype: Dtype = Dtype.F32) -> Graph:
    """A graph of one operation on inputs, with the output `y`."""
    pool = Pool(draw, Builder(), [])
    node = step(pool, operation, dtype)
    return pool.builder.graph("one", [("y", node)])


@st.composite
def graphs(draw: Draw, operations: tuple[str, ...] = OPERATIONS, most: int = 12) -> Graph:
    """A graph of up to `most` operations; every node that nothing uses is an output."""
    pool = Pool(draw, Builder(), [])
    pool.nodes.append(pool.builder.constant(draw(st.floats(width=32)), Dtype.F32))
    for _ in range(draw(st.integers(1, most))):
        step(pool, draw(st.sampled_from(operations)))
    used = {operand for node in pool.nodes for operand in node.operands}
    ends = [node for node in pool.nodes if node not in used]
    return pool.builder.graph("random", [(f"y{place}", node) for place, node in enumerate(ends)])


SPECIALS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    math.inf,
    -math.inf,
    math.nan,
    1e-45,
    -3e-39,
    1.1754944e-38,
    3.4e38,
    0.65,
    88.8,
)


def inputs_of(graph: Graph, seed: int, specials: bool = False) -> dict[str, Array]:
    """One array for each input: moderate numbers, and among them special values if asked."""
    generator = numpy.random.default_rng(seed)
    return {
        str(node.attribute("name")): _values(node.type, generator, specials)
        for node in graph.inputs
    }


def _values(type_: TensorType, generator: numpy.random.Generator, specials: bool) -> Array:
    kind = STORAGE[type_.dtype]
    if type_.bound is not None:
        return generator.integers(0, type_.bound, type_.shape).astype(kind)
    if type_.dtype is Dtype.BOOL:
        return generator.integers(0, 2, type_.shape).astype(kind)
    if type_.dtype.is_float:
        values = generator.normal(0, 3, type_.shape)
        if specials:
            replaced = generator.random(type_.shape) < 0.3
            values = numpy.where(replaced, generator.choice(SPECIALS, type_.shape), values)
        return narrowed(type_.dtype, values.astype(numpy.float32)).astype(kind)
    limits = numpy.iinfo(kind)
    if specials and not generator.integers(0, 4):
        return generator.choice([limits.min, limits.max, 0, 1], type_.shape).astype(kind)
    return generator.integers(max(limits.min, -200), min(limits.max, 200), type_.shape).astype(kind)


def narrowed(dtype: Dtype, values: Array) -> Array:
    """f32 values cut to what bf16 or f16 can hold."""
    if dtype is Dtype.BF16:
        return numpy.asarray(
            (numpy.asarray(values).view(numpy.uint32) & 0xFFFF0000).astype(numpy.uint32)
        ).view(numpy.float32)
    if dtype is Dtype.F16:
        with numpy.errstate(over="ignore"):
            return values.astype(numpy.float16).astype(numpy.float32)
    return values


def same_bits(a: Array, b: Array) -> bool:
    """Equal shapes, dtypes and bits, with all NaN alike."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool((a == b).all())
    same = (a == b) & (numpy.signbit(a) == numpy.signbit(b))
    return bool((same | (numpy.isnan(a) & numpy.isnan(b))).all())
