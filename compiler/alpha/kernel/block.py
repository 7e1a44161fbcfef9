"""A block is one graph on its way to kernels: the program's own, or the body of a loop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from alpha.base.record import field, record, replace
from alpha.base.span import Span
from alpha.graph.node import Graph, Node
from alpha.kernel.direct import ELEMENTS
from alpha.kernel.direct.site import Held, Number, Operand, Site
from alpha.kernel.lane import Lane
from alpha.kernel.node import Buffer, Kernel, scalar_of

VIEWS = frozenset({"reshape", "broadcast"})


@record
class Turns:
    """The kernels `first` to `last`, both included, run `count` times, once for each index of a loop.

    The u32 in the buffer `cell` is the index: 0, 1, ..., or `backward` from `count - 1` to 0. It is written before
    each turn.
    """

    first: int
    last: int
    count: int
    backward: bool
    cell: str
    span: Span | None = field(default=None, compare=False, repr=False)


class Program:
    """What all blocks of a program add to."""

    __slots__ = ("_serial", "kernels", "lane", "loops", "name", "nodes")

    def __init__(self, name: str, lane: Lane) -> None:
        self.name = name
        self.lane = lane
        self.kernels: list[Kernel] = []
        self.loops: list[Turns] = []
        self.nodes: dict[str, Node] = {}
        self._serial = 0

    def symbol(self, operation: str) -> str:
        """The name of the next kernel."""
        self._serial += 1
        return f"{self.name}.{self._serial - 1}.{operation}"


class Block:
    """The nodes that `ends` need, and where their values are.

    `prefix` makes the names of its buffers unique in the program. `owned` are the names of buffers that kernels of this
    block write, or that a loop in it leaves.
    """

    __slots__ = ("_ends", "_held", "_shown", "_users", "nodes", "owned", "prefix", "program")

    def __init__(self, program: Program, ends: Sequence[tuple[str, Node]], prefix: str) -> None:
        self.program = program
        self.prefix = prefix
        self.nodes = tuple(Graph("", (), tuple(ends)).nodes())
        self.owned: set[str] = set()
        self._held: dict[Node, Buffer] = {}
        self._shown: dict[Node, Operand] = {}
        self._ends = [node for _, node in ends]
        self._users: dict[Node, list[Node]] = defaultdict(list)
        for node in self.nodes:
            for operand in node.operands:
                self._users[operand].append(node)

    # Where values are.

    def hold(self, node: Node, buffer: Buffer) -> None:
        """The value of a node is in a buffer that something else made."""
        self._held[node] = buffer

    def show(self, node: Node, operand: Operand) -> None:
        """An input that only arithmetic reads is an operand as arithmetic sees it."""
        self._shown[node] = operand

    def given(self, node: Node, name: str) -> Buffer:
        """A new buffer for an input."""
        buffer = Buffer(name, scalar_of(node.type.dtype), node.type.count, node.type.bound)
        self._held[node] = buffer
        self.program.nodes[name] = node
        return buffer

    def made(self, node: Node, name: str = "") -> Buffer:
        """A new buffer for what a kernel of this block, or a loop in it, gives."""
        buffer = self.given(node, self.prefix + (name or f"{node.operation}.{node.serial}"))
        self.owned.add(buffer.name)
        return buffer

    def own(self, node: Node) -> Buffer | None:
        """The buffer of this block that holds all elements of a node, if there is one by now."""
        while node.operation == "reshape":
            (node,) = node.operands
        buffer = self._held.get(node)
        return buffer if buffer is not None and buffer.name in self.owned else None

    def is_used_once(self, node: Node) -> bool:
        """Whether one operand is all that a node, and what it reshapes, is needed for."""
        while len(self._users[node]) + self._ends.count(node) == 1:
            if node.operation == "result":
                others = self._users[node.operands[0]]
                return [item.attributes for item in others].count(node.attributes) == 1
            if node.operation != "reshape":
                return True
            (node,) = node.operands
        return False

    def feeds_arithmetic_alone(self, node: Node) -> bool:
        pending = [node]
        while pending:
            item = pending.pop()
            if item in self._ends:
                return False
            for user in self._users[item]:
                if user.operation in VIEWS:
                    pending.append(user)
                elif user.operation not in ELEMENTS:
                    return False
        return True

    # Operands.

    def viewed(self, node: Node) -> Operand:
        """An operand as arithmetic reads it: behind a broadcast or reshape stands the same element again."""
        node = behind(node)
        if node in self._shown:
            return self._shown[node]
        if node.operation == "constant":
            value = node.attribute("value")
            assert isinstance(value, int | float)
            return Number(value, scalar_of(node.type.dtype))
        return Held(self._held[node])

    def whole(self, node: Node) -> Buffer:
        """A buffer with every element; a broadcast or number is written out where nothing less will do."""
        while node.operation == "reshape":
            (node,) = node.operands
        if node not in self._held:
            operand = self.viewed(node)
            site = Site(node, self.program.symbol(node.operation), self.made(node), (operand,))
            self.program.kernels.append(self.program.lane.broadcast(site))
        return self._held[node]

    def write(self, node: Node, target: Buffer) -> None:
        """Adds a kernel that brings every element of a node to another buffer."""
        operand = self.viewed(node)
        if isinstance(operand, Held) and operand.buffer.count == target.count:
            self.copy(operand.buffer, target, node)
        else:
            site = Site(node, self.program.symbol(node.operation), target, (operand,))
            self.program.kernels.append(self.program.lane.broadcast(site))

    def copy(self, source: Buffer, target: Buffer, node: Node) -> None:
        kernel = self.program.lane.copy(self.program.symbol("copy"), source, target)
        self.program.kernels.append(replace(kernel, span=node.span))


def behind(node: Node) -> Node:
    """What a view looks at."""
    while node.operation in VIEWS:
        (node,) = node.operands
    return node
