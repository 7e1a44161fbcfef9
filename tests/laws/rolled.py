"""Random graphs with rolled loops, and the same graphs with every turn written out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.loops import INDEX, Turn, close
from alpha.graph.node import Graph, Node
from alpha.graph.rewrite import copy, loop_of, place_of
from laws.graphs import OPERATIONS, Pool, step

Draw = Any

SMOOTH = ("add", "mul", "sub", "tanh", "sigmoid", "sin", "contract", "select", "softmax", "transpose",
          "mean", "repeat", "fma", "broadcast", "reshape", "relu", "sum", "maximum", "concat")  # fmt: skip
"""What gradients of loops are taken of: differentiable, and never far from the numbers it starts with."""


@st.composite
def looped(
    draw: Draw, operations: tuple[str, ...] = OPERATIONS, most: int = 5, depth: int = 2
) -> Graph:
    """A graph with a loop or two; every float node that nothing uses is an output."""
    pool = Pool(draw, Builder(), [])
    pool.nodes.append(pool.builder.constant(draw(st.floats(-2, 2, width=32)), Dtype.F32))
    for _ in range(draw(st.integers(1, 2))):
        for _ in range(draw(st.integers(0, 2))):
            step(pool, draw(st.sampled_from(operations)))
        rolled(pool, operations, most, depth)
    used = {operand for node in pool.nodes for operand in node.operands}
    ends = [node for node in pool.nodes if node not in used and node.operation != "input"]
    return pool.builder.graph("looped", [(f"y{place}", node) for place, node in enumerate(ends)])


def rolled(pool: Pool, operations: tuple[str, ...], most: int, depth: int) -> None:
    """One loop: what it carries, slices and captures is drawn, and so is its turn."""
    draw, builder = pool.draw, pool.builder
    count = draw(st.integers(1, 4))
    initial = [pool.operand(Dtype.F32, 0, 2) for _ in range(draw(st.integers(1, 2)))]
    stacks = [
        pool.find(TensorType(Dtype.F32, (count, *pool.shape(0, 2))))
        for _ in range(draw(st.integers(0, 2)))
    ]
    began = builder.mark()
    index = builder.placeholder(INDEX)
    carried = [builder.placeholder(node.type) for node in initial]
    slices = [builder.placeholder(TensorType(Dtype.F32, node.type.shape[1:])) for node in stacks]
    outside = pool.nodes
    pool.nodes = [*outside, index, *carried, *slices]
    if draw(st.booleans()):
        pool.nodes.append(builder.apply("cast", (index,), dtype=Dtype.F32))
    for _ in range(draw(st.integers(1, most))):
        if depth > 1 and not draw(st.integers(0, 4)):
            rolled(pool, operations, most, depth - 1)
        else:
            step(pool, draw(st.sampled_from(operations)))
    inside = [node for node in pool.nodes if node.serial >= began and node.operation != "input"]
    after = [_of_type(pool, place, carried, inside) for place in range(len(carried))]
    # A broadcast is part of what it widens, which is not kept: only gradients keep anything, and never one.
    keepable = [
        node for node in inside if node.type.dtype is Dtype.F32 and node.operation != "broadcast"
    ]
    kept = [node for node in keepable if not draw(st.integers(0, 5))]
    turn = Turn(
        count,
        index,
        tuple(zip(carried, initial, strict=True)),
        tuple(zip(slices, stacks, strict=True)),
        tuple(after),
        tuple(kept),
        backward=draw(st.booleans()),
    )
    made_inside = [
        node
        for node in pool.nodes
        if node.operation == "input" and "x" in str(node.attribute("name"))
    ]
    results = close(builder, turn, lambda node: node.serial >= began)
    pool.nodes = [*outside, *(node for node in made_inside if node not in outside), *results]


def _of_type(pool: Pool, place: int, carried: Sequence[Node], inside: Sequence[Node]) -> Node:
    """A value for the next turn: mostly one that the turn made, sometimes a carried one as it was."""
    like = carried[place]
    fitting = [node for node in (*inside, *carried) if node.type == like.type]
    sources = [node for node in inside if node.type.dtype is Dtype.F32]
    if sources and pool.draw(st.booleans()):
        source = sources[pool.draw(st.integers(0, len(sources) - 1))]
        if source.type.shape:
            axes = tuple(range(len(source.type.shape)))
            source = pool.builder.apply("mean", (source,), axes=axes)
        wide = pool.builder.broadcast(source, like.type.shape)
        half = pool.builder.broadcast(pool.builder.constant(0.5, Dtype.F32), like.type.shape)
        return pool.builder.apply("fma", (like, half, wide))
    return fitting[pool.draw(st.integers(0, len(fitting) - 1))]


def written_out(graph: Graph) -> Graph:
    """The same function without loops: every turn in a row, what it carries multiplied by one at its start and end.

    The multiplication makes a carried value a value of its own, as the law of gradients has it; it changes no bit and
    keeps the mask of an adjoint.
    """
    builder = Builder()
    made: dict[Node, Node] = {}
    for node in graph.inputs:
        made[node] = builder.input(str(node.attribute("name")), node.type)
    _write(builder, list(graph.nodes()), made)
    return builder.graph(graph.name, [(name, made[node]) for name, node in graph.outputs])


def _write(builder: Builder, nodes: Sequence[Node], made: dict[Node, Node]) -> None:
    results: dict[Node, list[Node]] = {}
    for node in nodes:
        if node in made:
            continue
        if node.operation == "result":
            made[node] = results[node.operands[0]][place_of(node)]
            continue
        operands = [made[operand] for operand in node.operands]
        if node.operation == "loop":
            results[node] = _turns(builder, node, operands)
        else:
            made[node] = copy(builder, node, tuple(operands))


def _turns(builder: Builder, node: Node, operands: list[Node]) -> list[Node]:
    loop = loop_of(node)
    after, kept = operands[: loop.carried], {}
    stacks: list[Node] | None = None
    for number in reversed(range(loop.count)) if loop.backward else range(loop.count):
        index = builder.constant(number, Dtype.U32)
        given = [_own(builder, value) for value in after]
        if stacks is None:
            # The rows of a stack are one contribution to it, which comes before those to what the first turn is given.
            stacks = [_own(builder, rows) for rows in operands[loop.carried :][: loop.slices]]
        rows = [_row(builder, stack, number) for stack in stacks]
        outers = operands[loop.carried + loop.slices :]
        made = dict(zip(loop.body.inputs, [index, *given, *rows, *outers], strict=True))
        _write(builder, list(loop.body.nodes()), made)
        outputs = [made[output] for _, output in loop.body.outputs]
        after, kept[number] = outputs[: loop.carried], outputs[loop.carried :]
    ends = [_own(builder, value) for value in after]
    for place in range(len(loop.body.outputs) - loop.carried):
        rows = [kept[number][place] for number in range(loop.count)]
        stacked = [builder.apply("reshape", (row,), shape=(1, *row.type.shape)) for row in rows]
        ends.append(builder.apply("concat", stacked, axis=0))
    return ends


def _own(builder: Builder, node: Node) -> Node:
    if not node.type.dtype.is_float:
        return node
    one = builder.broadcast(builder.constant(1.0, node.type.dtype), node.type.shape)
    return builder.apply("mul", (node, one))


def _row(builder: Builder, rows: Node, number: int) -> Node:
    shape = rows.type.shape
    low = (number, *(0 for _ in shape[1:]))
    row = builder.apply("slice", (rows,), low=low, high=(number + 1, *shape[1:]))
    return builder.apply("reshape", (row,), shape=shape[1:])
