"""A third evaluator of graphs, in float64 with numpy's own functions: outside the numerics law, for calculus only."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy

from alpha.graph.node import Graph, Loop, Node
from semantics import philox

Array = Any

_erf = numpy.frompyfunc(math.erf, 1, 1)


def evaluate(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs by name; every float is float64 whatever the graph says."""
    values: dict[Node, Array] = {}
    results: dict[Node, list[Array]] = {}
    with numpy.errstate(all="ignore"):
        for node in graph.nodes():
            if node.operation == "input":
                values[node] = inputs[str(node.attribute("name"))]
            elif node.loop is not None:
                results[node] = _turns(node.loop, [values[operand] for operand in node.operands])
            elif node.operation == "result":
                values[node] = results[node.operands[0]][dict(node.attributes)["place"]]
            else:
                values[node] = _apply(node, [values[operand] for operand in node.operands])
    return {name: values[node] for name, node in graph.outputs}


def _turns(loop: Loop, operands: list[Array]) -> list[Array]:
    names = [str(node.attribute("name")) for node in loop.body.inputs]
    after, kept = operands[: loop.carried], {}
    for index in reversed(range(loop.count)) if loop.backward else range(loop.count):
        rows = [rows[index] for rows in operands[loop.carried :][: loop.slices]]
        given = [index, *after, *rows, *operands[loop.carried + loop.slices :]]
        outputs = list(evaluate(loop.body, dict(zip(names, given, strict=True))).values())
        after, kept[index] = outputs[: loop.carried], outputs[loop.carried :]
    columns = zip(*(kept[index] for index in range(loop.count)), strict=True)
    return [*after, *map(numpy.stack, columns)]


def _apply(node: Node, x: list[Array]) -> Array:
    a: dict[str, Any] = dict(node.attributes)
    name = node.operation
    if name in _PLAIN:
        return _PLAIN[name](*x)
    if name in _WITH_ATTRIBUTES:
        return _WITH_ATTRIBUTES[name](x, a, node)
    raise KeyError(name)


def _key(x: list[Array], a: dict[str, Any], node: Node) -> Array:
    """Keys and draws are data, not calculus: their bits are the reference's."""
    if node.operation == "key":
        return numpy.array((a["k0"], a["k1"], a["step"]), dtype=numpy.uint32)
    k0, k1, step = (int(word) for word in x[0])
    if node.operation == "deriveKey":
        index = int(x[1]) if len(x) == 2 else a["index"]
        return numpy.array(philox.child((k0, k1, step), a["tag"], index), dtype=numpy.uint32)
    draw = philox.uniform if node.operation == "uniform" else philox.normal
    return draw((k0, k1, step), node.type.shape).astype(numpy.float64)


def _einsum(x: list[Array], a: dict[str, Any], node: Node) -> Array:
    return numpy.einsum(f"{a['left']},{a['right']}->{a['result']}", *x)


def _windows(x: Array, window: Any) -> Array:
    found = numpy.lib.stride_tricks.sliding_window_view(x, tuple(window), axis=(1, 2))
    return numpy.moveaxis(found, 3, 5)


def _surrounded(x: Array, padding: Any) -> Array:
    (p, q) = padding
    return numpy.pad(x, ((0, 0), (p, p), (q, q), (0, 0)))


def _conv2d(x: list[Array], a: dict[str, Any], node: Node) -> Array:
    image, weights = x
    windows = _windows(_surrounded(image, a["padding"]), weights.shape[:2])
    return numpy.einsum("nhwkli,klio->nhwo", windows, weights)


def _conv2d_weights(x: list[Array], a: dict[str, Any], node: Node) -> Array:
    g, image = x
    windows = _windows(_surrounded(image, a["padding"]), node.type.shape[:2])
    return numpy.einsum("nhwkli,nhwo->klio", windows, g)


def _contract_windows(x: list[Array], a: dict[str, Any], node: Node) -> Array:
    formula = f"nhwkli,{a['right']}->{a['result']}"
    return numpy.einsum(formula, _windows(x[0], a["window"]), x[1])


def _softmax(x: Array, axes: Any) -> Array:
    e = numpy.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)


def _log_sum_exp(x: Array, axes: Any) -> Array:
    m = x.max(axis=axes, keepdims=True)
    total = numpy.log(numpy.exp(x - m).sum(axis=axes, keepdims=True)) + m
    return total.squeeze(axes)


def _pick(x: Array, label: Array) -> Array:
    return numpy.take_along_axis(x, label[..., None].astype(int), axis=-1)[..., 0]


def _pad(x: Array, a: dict[str, Any]) -> Array:
    widths = [(0, 0)] * x.ndim
    widths[a["axis"]] = (a["low"], a["high"])
    return numpy.pad(x, widths)


def _add_rows(x: list[Array], node: Node) -> Array:
    found = numpy.zeros(node.type.shape)
    numpy.add.at(found, x[1], x[0])
    return found


def _cast(x: Array, dtype: str) -> Array:
    if dtype in ("f32", "f64", "bf16", "f16"):
        return numpy.asarray(x, dtype=numpy.float64)
    return numpy.asarray(x).astype(numpy.int64)


_PLAIN: dict[str, Callable[..., Array]] = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "div": numpy.divide,
    "neg": numpy.negative,
    "abs": numpy.abs,
    "fma": lambda a, b, c: a * b + c,
    "powStep": lambda x, n: x ** numpy.float64(n),
    "sqrt": numpy.sqrt,
    "exp": numpy.exp,
    "log": numpy.log,
    "tanh": numpy.tanh,
    "sigmoid": lambda x: 1 / (1 + numpy.exp(-x)),
    "erf": lambda x: numpy.asarray(_erf(x), dtype=numpy.float64),
    "sin": numpy.sin,
    "cos": numpy.cos,
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "relu": lambda x: numpy.maximum(x, 0),
    "sign": numpy.sign,
    "floor": numpy.floor,
    "round": numpy.rint,
    "maximum": numpy.maximum,
    "minimum": numpy.minimum,
    "equal": numpy.equal,
    "notEqual": numpy.not_equal,
    "less": numpy.less,
    "lessEqual": numpy.less_equal,
    "greater": numpy.greater,
    "greaterEqual": numpy.greater_equal,
    "and": numpy.logical_and,
    "or": numpy.logical_or,
    "not": numpy.logical_not,
    "select": numpy.where,
    "crossEntropy": lambda x, label: _log_sum_exp(x, -1) - _pick(x, label),
    "pick": _pick,
    "gather": lambda table, ids: table[ids],
    "stopGradient": lambda x: x,
}

_WITH_ATTRIBUTES: dict[str, Callable[[list[Array], dict[str, Any], Node], Array]] = {
    "constant": lambda x, a, node: (
        a["value"] if isinstance(a["value"], bool) else numpy.float64(a["value"])
    ),
    "pow": lambda x, a, node: x[0] ** numpy.float64(a["exponent"]),
    "cast": lambda x, a, node: _cast(x[0], a["dtype"]),
    "sum": lambda x, a, node: numpy.sum(x[0], axis=a["axes"]),
    "mean": lambda x, a, node: numpy.mean(x[0], axis=a["axes"]),
    "max": lambda x, a, node: numpy.max(x[0], axis=a["axes"]),
    "min": lambda x, a, node: numpy.min(x[0], axis=a["axes"]),
    "argmax": lambda x, a, node: numpy.argmax(x[0], axis=a["axis"]),
    "argmin": lambda x, a, node: numpy.argmin(x[0], axis=a["axis"]),
    "softmax": lambda x, a, node: _softmax(x[0], a["axis"]),
    "logSoftmax": lambda x, a, node: numpy.log(_softmax(x[0], a["axis"])),
    "logSumExp": lambda x, a, node: _log_sum_exp(x[0], a["axes"]),
    "contract": _einsum,
    "conv2d": _conv2d,
    "conv2dWeights": _conv2d_weights,
    "contractWindows": _contract_windows,
    "broadcast": lambda x, a, node: numpy.broadcast_to(x[0], a["shape"]),
    "reshape": lambda x, a, node: numpy.reshape(x[0], a["shape"]),
    "transpose": lambda x, a, node: numpy.transpose(x[0], a["order"]),
    "reverse": lambda x, a, node: numpy.flip(x[0], a["axes"]),
    "repeat": lambda x, a, node: numpy.repeat(
        numpy.expand_dims(x[0], a["axis"]), a["count"], a["axis"]
    ),
    "concat": lambda x, a, node: numpy.concatenate(x, axis=a["axis"]),
    "pad": lambda x, a, node: _pad(x[0], a),
    "slice": lambda x, a, node: x[0][tuple(map(slice, a["low"], a["high"]))],
    "addRows": lambda x, a, node: _add_rows(x, node),
    "oneHot": lambda x, a, node: numpy.eye(node.type.shape[-1])[x[0]],
    "causal": lambda x, a, node: numpy.where(
        numpy.tri(node.type.shape[-1], dtype=bool), x[0], -numpy.inf
    ),
    "positions": lambda x, a, node: numpy.arange(a["count"]),
    **dict.fromkeys(("key", "deriveKey", "uniform", "normal"), _key),
}
