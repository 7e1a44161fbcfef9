"""Evaluates a graph on arrays: one function an operation, composites included (specification, section 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from semantics import elementwise, numerics, philox, rows
from semantics.elementwise import STORAGE
from semantics.graph import Graph, Node, Type
from semantics.numerics import Array, narrow


def evaluate(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs of a graph by name. `inputs` holds an array for every input, of the dtype `STORAGE` says."""
    values: list[Array] = []
    results: dict[int, list[Array]] = {}
    with numpy.errstate(all="ignore"):
        for number, node in enumerate(graph.nodes):
            operands = [values[place] for place in node.operands]
            if node.operation == "input":
                value = inputs[node.attributes["name"]]
            elif node.operation == "loop":
                results[number] = turns(node, operands)
                value = False
            elif node.operation == "result":
                value = results[node.operands[0]][node.attributes["place"]]
            else:
                types = [graph.nodes[place].type for place in node.operands]
                value = apply(node, operands, types)
            values.append(numpy.asarray(value, dtype=STORAGE[node.type.dtype]))
            if values[-1].shape != node.type.shape:
                raise ValueError(
                    f"{node.operation} gave {values[-1].shape} where {node.type.shape} is stated"
                )
    return {name: values[place] for name, place in graph.outputs}


def turns(node: Node, operands: list[Array]) -> list[Array]:
    """The results of a loop: its body is evaluated once a turn, each on what the turn before carried over.

    The inputs of the body are the index, carried values, rows of slices, outer values; its outputs are the carried
    values for the next turn, then values that are kept, as rows in the order of the index.
    """
    body = node.body
    if body is None:
        raise ValueError("a loop without a body")
    count, carried, slices = (node.attributes[key] for key in ("count", "carried", "slices"))
    names = [name for name, _ in body.inputs]
    state = operands[:carried]
    kept: dict[int, list[Array]] = {}
    for index in reversed(range(count)) if node.attributes["backward"] else range(count):
        rows = [operand[index] for operand in operands[carried : carried + slices]]
        values = [numpy.uint32(index), *state, *rows, *operands[carried + slices :]]
        outputs = list(evaluate(body, dict(zip(names, values, strict=True))).values())
        state = outputs[:carried]
        kept[index] = outputs[carried:]
    return [
        *state,
        *(numpy.stack(rows) for rows in zip(*(kept[i] for i in range(count)), strict=True)),
    ]


def apply(node: Node, operands: list[Array], types: list[Type]) -> Any:
    """One operation, with bf16 and f16 results rounded once (which leaves values that are only moved alone)."""
    value = _apply(node, operands, types)
    return narrow(node.type.dtype, value)


def _apply(node: Node, operands: list[Array], types: list[Type]) -> Any:
    name, attributes, shape = node.operation, node.attributes, node.type.shape
    if name in elementwise.ARITHMETIC:
        return elementwise.ARITHMETIC[name](*operands)
    if name in elementwise.COMPARISONS:
        return elementwise.COMPARISONS[name](*operands)
    match name, operands:
        case "constant", _:
            return STORAGE[node.type.dtype](attributes["value"])
        case "pow", [x]:
            return numerics.power(x, attributes["exponent"])
        case "floorDiv", [x]:
            return elementwise.floor_divide(x, attributes["by"])
        case "rem", [x]:
            return elementwise.remainder(x, attributes["by"])
        case "cast", [x]:
            return elementwise.cast(x, types[0].dtype, attributes["dtype"])
        case "select", [condition, chosen, otherwise]:
            return numpy.where(condition, chosen, otherwise)
        case "sum", [x]:
            return numerics.lane_sum(x, attributes["axes"])
        case "mean", [x]:
            return rows.mean(x, attributes["axes"])
        case (("max" | "min"), [x]):
            return rows.extreme(x, attributes["axes"], name == "max")
        case (("argmax" | "argmin"), [x]):
            return rows.winner(x, attributes["axis"], name == "argmax")
        case "softmax", [x]:
            return rows.softmax(x, attributes["axis"])
        case "logSoftmax", [x]:
            return rows.log_softmax(x, attributes["axis"])
        case "logSumExp", [x]:
            return rows.log_sum_exp(x, attributes["axes"])
        case "crossEntropy", [x, label]:
            return rows.cross_entropy(x, label)
        case "pick", [x, label]:
            return rows.pick(x, label)
        case "contract", [a, b]:
            return numerics.contraction(
                a, b, attributes["left"], attributes["right"], attributes["result"]
            )
        case (("conv2d" | "conv2dWeights" | "contractWindows"), _):
            return _convolved(name, operands, attributes, shape)
        case (("matmulTensorCoreBf16" | "matmulTensorCoreF16"), [a, b]):
            return numerics.contraction(a, b, "ik", "kj", "ij")
        case "matmulTensorCoreTf32", [a, b]:
            short = numerics.ten_fraction_bits
            return numerics.contraction(short(a), short(b), "ik", "kj", "ij")
        case (("key" | "deriveKey" | "uniform" | "normal"), _):
            return _random(node, operands)
        case _:
            return _moved(name, operands, attributes, shape)


def _convolved(
    name: str, operands: list[Array], attributes: Mapping[str, Any], shape: tuple[int, ...]
) -> Any:
    """Windows of the padded image, contracted in the fixed order (specification, sections 11 and 12.2)."""
    if name == "contractWindows":
        x, other = operands
        windows = numerics.windows(x, attributes["window"])
        letters = attributes["right"], attributes["result"]
        return numerics.contraction(windows, other, "nhwkli", *letters)
    x, other = operands if name == "conv2d" else reversed(operands)
    p, q = attributes["padding"]
    padded = numpy.pad(x, ((0, 0), (p, p), (q, q), (0, 0)))
    if name == "conv2d":
        windows = numerics.windows(padded, other.shape[:2])
        return numerics.contraction(windows, other, "nhwkli", "klio", "nhwo")
    windows = numerics.windows(padded, shape[:2])
    return numerics.contraction(other, windows, "nhwo", "nhwkli", "klio")


def _moved(
    name: str, operands: list[Array], attributes: Mapping[str, Any], shape: tuple[int, ...]
) -> Any:
    match name, operands:
        case "stopGradient", [x]:
            return x
        case "broadcast", [x]:
            return numpy.broadcast_to(x, shape)
        case "reshape", [x]:
            return x.reshape(shape)
        case "transpose", [x]:
            return numpy.transpose(x, attributes["order"])
        case "reverse", [x]:
            return numpy.flip(x, attributes["axes"])
        case "repeat", [x]:
            return numpy.broadcast_to(numpy.expand_dims(x, attributes["axis"]), shape)
        case "concat", _:
            return numpy.concatenate(operands, axis=attributes["axis"])
        case "pad", [x]:
            result = numpy.zeros(shape, dtype=x.dtype)
            first = attributes["low"]
            place = [slice(None)] * x.ndim
            place[attributes["axis"]] = slice(first, first + x.shape[attributes["axis"]])
            result[tuple(place)] = x
            return result
        case "slice", [x]:
            return x[
                tuple(
                    slice(a, b) for a, b in zip(attributes["low"], attributes["high"], strict=True)
                )
            ]
        case "gather", [table, ids]:
            return table[ids]
        case "addRows", [added, ids]:
            result = numpy.zeros(shape, dtype=added.dtype)
            for row, place in zip(added.reshape((-1, *shape[1:])), ids.reshape(-1), strict=True):
                result[place] += row
            return result
        case "oneHot", [ids]:
            return (ids[..., numpy.newaxis] == numpy.arange(shape[-1])).astype(numpy.float32)
        case "causal", [x]:
            above = numpy.arange(shape[-1]) > numpy.arange(shape[-2])[:, numpy.newaxis]
            return numpy.where(above, x.dtype.type(-numpy.inf), x)
        case "positions", []:
            return numpy.arange(attributes["count"], dtype=numpy.int32)
        case _:
            raise ValueError(
                f"the reference knows no operation {name!r} of {len(operands)} operands"
            )


def _random(node: Node, operands: list[Array]) -> Any:
    attributes = node.attributes
    if node.operation == "key":
        words: tuple[int, ...] = (attributes["k0"], attributes["k1"], attributes["step"])
        return numpy.array(words, dtype=numpy.uint32)
    k0, k1, step = (int(word) for word in operands[0])
    if node.operation == "deriveKey":
        index = int(operands[1]) if len(operands) == 2 else attributes["index"]
        return numpy.array(
            philox.child((k0, k1, step), attributes["tag"], index), dtype=numpy.uint32
        )
    draw = philox.uniform if node.operation == "uniform" else philox.normal
    return draw((k0, k1, step), node.type.shape)
