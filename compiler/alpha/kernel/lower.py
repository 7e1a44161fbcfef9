"""From a graph of primitive operations to kernels, one for each operation, in the order of evaluation.

Only a contraction may have others before it, which transpose what it reads.
The kernels of a loop's body stand once in the list, whatever the count; `Turns` says which of them run again.
"""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import field, record, replace
from alpha.diagnostics.diagnostic import Refused
from alpha.graph.node import Graph, Node
from alpha.graph.ops import TABLE
from alpha.kernel.block import Block, Program, Turns
from alpha.kernel.direct import ELEMENTS
from alpha.kernel.direct.lane import DIRECT
from alpha.kernel.direct.site import Held, Operand, Site
from alpha.kernel.errors import no_template
from alpha.kernel.lane import Lane
from alpha.kernel.loops import begin, finish
from alpha.kernel.node import Buffer, Kernel
from alpha.kernel.verify import verify


@record
class Lowered:
    """The kernels of one graph, with buffers that have no place yet.

    A buffer is known by its name: that of the graph's input, or `<operation>.<serial>` for what a kernel writes, behind
    `loop.<serial>/` for each loop it belongs to. `nodes` gives the node whose value a buffer holds. An output that is
    an input, or is another output, is held once. `loops` stand in the order they begin, outer ones first.
    """

    name: str
    lane: Lane
    kernels: tuple[Kernel, ...]
    inputs: tuple[tuple[str, Buffer], ...]
    outputs: tuple[tuple[str, Buffer], ...]
    loops: tuple[Turns, ...]
    nodes: Mapping[str, Node] = field(compare=False, repr=False)


def lower(graph: Graph, lane: Lane = DIRECT) -> Lowered:
    """Each kernel is verified. Raises Refused with T0404 for an operation that the lane has no template for."""
    program = Program(graph.name, lane)
    block = Block(program, graph.outputs, "")
    inputs: list[tuple[str, Buffer]] = []
    for node in graph.inputs:
        name = str(node.attribute("name"))
        inputs.append((name, block.given(node, name)))
    _lower(block)
    outputs = tuple((name, block.whole(node)) for name, node in graph.outputs)
    for kernel in program.kernels:
        verify(kernel)
    return Lowered(
        graph.name,
        lane,
        tuple(program.kernels),
        tuple(inputs),
        outputs,
        tuple(program.loops),
        program.nodes,
    )


def _lower(block: Block) -> None:
    for node in block.nodes:
        if node.loop is not None:
            entered = begin(block, node)
            _lower(entered.body)
            finish(entered)
        elif node.operation in block.program.lane.templates:
            _one(block, node)
        elif node.operation not in PASSIVE:
            interval = TABLE[node.operation].interval
            lane = block.program.lane.name
            raise Refused(no_template(node.operation, lane, interval, node.span))


PASSIVE = frozenset({"input", "constant", "result", "reshape", "broadcast"})


def _one(block: Block, node: Node, name: str = "") -> None:
    result = block.made(node, name)
    if node.operation == "contract":
        node = _arranged(block, node)
    operands: list[Operand] = []
    for operand in node.operands:
        if node.operation in ELEMENTS:
            operands.append(block.viewed(operand))
        else:
            operands.append(Held(block.whole(operand)))
    symbol = block.program.symbol(node.operation)
    site = Site(node, symbol, result, tuple(operands))
    block.program.kernels.append(block.program.lane.templates[node.operation](site))


def _arranged(block: Block, node: Node) -> Node:
    """The contraction of operands whose last axis is the last one of the result, transposed where that pays."""
    operands, attributes = list(node.operands), dict(node.attributes)
    for place, side in enumerate(("left", "right")):
        order = block.program.lane.arrangement(node, place)
        if order is None:
            continue
        operand, letters = operands[place], str(attributes[side])
        shape = tuple(operand.type.shape[axis] for axis in order)
        type_ = replace(operand.type, shape=shape)
        moved = Node(node.serial, "transpose", (operand,), (("order", order),), type_, node.span)
        _one(block, moved, f"transpose.{node.serial}.{side}")
        operands[place] = moved
        attributes[side] = "".join(letters[axis] for axis in order)
    return replace(node, operands=tuple(operands), attributes=tuple(attributes.items()))
