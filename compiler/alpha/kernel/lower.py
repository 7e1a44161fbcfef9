"""From a graph of primitive operations to kernels, one for each operation, in the order of evaluation."""

from __future__ import annotations

from collections.abc import Mapping

from alpha.base.record import field, record
from alpha.diagnostics.diagnostic import Refused
from alpha.graph.node import Graph, Node
from alpha.graph.ops import TABLE
from alpha.kernel.direct import ELEMENTS, TEMPLATES
from alpha.kernel.direct.movement import broadcast
from alpha.kernel.direct.site import Held, Number, Operand, Site
from alpha.kernel.errors import no_template
from alpha.kernel.node import Buffer, Kernel, scalar_of
from alpha.kernel.verify import verify

VIEWS = frozenset({"reshape", "broadcast"})


@record
class Lowered:
    """The kernels of one graph, with buffers that have no place yet.

    A buffer is known by its name: that of the graph's input, or `<operation>.<serial>` for what a kernel writes.
    `nodes` gives the node whose value a buffer holds. An output that is an input, or is another output, is held once.
    """

    name: str
    kernels: tuple[Kernel, ...]
    inputs: tuple[tuple[str, Buffer], ...]
    outputs: tuple[tuple[str, Buffer], ...]
    nodes: Mapping[str, Node] = field(compare=False, repr=False)


def lower(graph: Graph) -> Lowered:
    """Each kernel is verified. Raises Refused with T0404 for an operation that has no template."""
    return _Lowering(graph).run()


class _Lowering:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kernels: list[Kernel] = []
        self.held: dict[Node, Buffer] = {}
        self.nodes: dict[str, Node] = {}

    def run(self) -> Lowered:
        inputs: list[tuple[str, Buffer]] = []
        for node in self.graph.inputs:
            name = str(node.attribute("name"))
            inputs.append((name, self._buffer(node, name)))
        for node in self.graph.nodes():
            if node.operation not in VIEWS and node.operation not in ("input", "constant"):
                self._lower(node)
        outputs = tuple((name, self._whole(node)) for name, node in self.graph.outputs)
        return Lowered(self.graph.name, tuple(self.kernels), tuple(inputs), outputs, self.nodes)

    def _lower(self, node: Node) -> None:
        template = TEMPLATES.get(node.operation)
        if template is None:
            raise Refused(no_template(node.operation, TABLE[node.operation].interval, node.span))
        operands: list[Operand] = []
        for operand in node.operands:
            if node.operation in ELEMENTS:
                operands.append(self._viewed(operand))
            else:
                operands.append(Held(self._whole(operand)))
        site = Site(node, self._symbol(node), self._buffer(node), tuple(operands))
        self._add(template(site))

    def _viewed(self, node: Node) -> Operand:
        """An operand as arithmetic reads it: behind a broadcast or reshape stands the same element again."""
        while node.operation in VIEWS:
            (node,) = node.operands
        if node.operation == "constant":
            value = node.attribute("value")
            assert isinstance(value, int | float)
            return Number(value, scalar_of(node.type.dtype))
        return Held(self.held[node])

    def _whole(self, node: Node) -> Buffer:
        """A buffer with every element; a broadcast or number is written out where nothing less will do."""
        while node.operation == "reshape":
            (node,) = node.operands
        if node not in self.held:
            operand = self._viewed(node)
            site = Site(node, self._symbol(node), self._buffer(node), (operand,))
            self._add(broadcast(site))
        return self.held[node]

    def _symbol(self, node: Node) -> str:
        return f"{self.graph.name}.{len(self.kernels)}.{node.operation}"

    def _buffer(self, node: Node, name: str = "") -> Buffer:
        name = name or f"{node.operation}.{node.serial}"
        buffer = Buffer(name, scalar_of(node.type.dtype), node.type.count, node.type.bound)
        self.held[node] = buffer
        self.nodes[name] = node
        return buffer

    def _add(self, kernel: Kernel) -> None:
        verify(kernel)
        self.kernels.append(kernel)
