"""Graphs of primitives with rolled loops, drawn for what their lowering has to tell apart: rows, homes, swaps."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from alpha.base.dtype import Dtype, TensorType
from alpha.graph.builder import Builder
from alpha.graph.node import Graph, Loop, Node

Draw = Any
INNER = 2
"""Turns of a loop in a loop: a row of a slice of the outer one is what it runs over."""
ROWS, COLUMNS = 3, 18
KIND = TensorType(Dtype.F32, (ROWS, COLUMNS))
VECTOR = TensorType(Dtype.F32, (COLUMNS,))
NUMBER = TensorType(Dtype.F32, ())
KEY = TensorType(Dtype.U32, (3,))
IDS = TensorType(Dtype.I32, (ROWS,), ROWS)
STACK = TensorType(Dtype.F32, (INNER, ROWS, COLUMNS))
SLICED = (KIND, VECTOR, NUMBER, STACK, IDS, KEY)


def rows(count: int, type_: TensorType) -> TensorType:
    return TensorType(type_.dtype, (count, *type_.shape), type_.bound)


class Site:
    """Nodes of one graph, the program's or a body's. Only the program's can grow inputs."""

    def __init__(self, draw: Draw, top: bool) -> None:
        self.draw = draw
        self.builder = Builder()
        self.nodes: list[Node] = []
        self.top = top
        self.inputs = 0

    def input(self, type_: TensorType) -> Node:
        self.inputs += 1
        return self.add(self.builder.input(f"x{self.inputs}", type_))

    def add(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def apply(self, operation: str, *operands: Node, **attributes: Any) -> Node:
        return self.add(self.builder.apply(operation, operands, **attributes))

    def find(self, type_: TensorType) -> Node:
        known = [node for node in self.nodes if node.type == type_]
        if known and self.draw(st.integers(0, 3)):
            return self.draw(st.sampled_from(known))
        if self.top and self.draw(st.integers(0, 3)):
            return self.input(type_)
        return self.new(type_)

    def new(self, type_: TensorType) -> Node:
        """Something of the type that hangs on no input."""
        if type_.bound is not None:
            index = self.builder.apply("positions", (), count=type_.bound)
            return self.add(self.builder.broadcast(index, type_.shape))
        if type_.dtype is Dtype.U32:
            key = self.builder.apply("key", (), k0=1, k1=2, step=3)
            return self.add(self.builder.broadcast(key, type_.shape))
        for node in self.nodes:
            shape = node.type.shape
            if node.type.dtype is Dtype.F32 and shape and shape == type_.shape[-len(shape) :]:
                return self.add(self.builder.broadcast(node, type_.shape))
        number = self.builder.constant(self.draw(st.sampled_from([0.5, -1.25])), Dtype.F32)
        return self.add(self.builder.broadcast(number, type_.shape))


def step(site: Site, deeper: int) -> None:
    """One more value of the types that loops carry, slice and keep."""
    draw = site.draw
    kinds = ["binary", "binary", "unary", "attend", "column", "row", "move", "draw", "gather"]
    kind = draw(st.sampled_from([*kinds, "number", "pile", *["loop"] * (4 * deeper)]))
    x = site.find(KIND)
    match kind:
        case "binary":
            site.apply(draw(st.sampled_from(["add", "sub", "mul", "maximum"])), x, site.find(KIND))
        case "unary":
            site.apply(draw(st.sampled_from(["neg", "tanh", "sin"])), x)
        case "attend":
            scores = site.builder.apply(
                "contract", (x, site.find(KIND)), left="ab", right="cb", result="ac"
            )
            site.apply("contract", scores, site.find(KIND), left="ac", right="cb", result="ab")
        case "column":
            total = site.apply("sum", x, axes=(0,))
            site.add(site.builder.broadcast(total, KIND.shape))
        case "row":
            site.apply("mul", x, site.builder.broadcast(site.find(VECTOR), KIND.shape))
        case "number":
            scale = site.apply("max", x, axes=(0, 1))
            site.apply("mul", x, site.builder.broadcast(scale, KIND.shape))
        case "move":
            turned = site.apply("transpose", x, order=(1, 0))
            site.apply("reshape", turned, shape=KIND.shape)
        case "draw":
            numbers = [node for node in site.nodes if node.type == TensorType(Dtype.U32, ())]
            key = site.find(KEY)
            if numbers:
                key = site.apply("deriveKey", key, draw(st.sampled_from(numbers)), tag=5)
                place = site.apply("cast", draw(st.sampled_from(numbers)), dtype=Dtype.F32)
                site.apply("add", x, site.builder.broadcast(place, KIND.shape))
            site.apply("uniform", key, shape=KIND.shape)
        case "gather":
            site.apply("gather", x, site.find(IDS))
        case "pile":
            parts = [site.apply("reshape", item, shape=(1, *KIND.shape)) for item in (x, x)]
            site.apply("concat", *parts, axis=0)
        case "loop":
            loop(site, deeper - 1)


def loop(outer: Site, deeper: int) -> None:
    draw = outer.draw
    count = draw(st.sampled_from([1, 2, 3])) if outer.top else INNER
    site = Site(draw, False)
    site.add(site.builder.input("index", TensorType(Dtype.U32, ())))
    carried = draw(
        st.lists(
            st.sampled_from([KIND, KIND, VECTOR]), min_size=draw(st.integers(0, 2)), max_size=3
        )
    )
    sliced = draw(st.lists(st.sampled_from(SLICED), max_size=3))
    outside = draw(st.lists(st.sampled_from(SLICED), max_size=2))
    operands = [outer.find(type_) for type_ in carried]
    operands += [outer.find(rows(count, type_)) for type_ in sliced]
    operands += [outer.find(type_) for type_ in outside]
    for type_ in (*carried, *sliced, *outside):
        site.input(type_)
    for _ in range(draw(st.integers(1, 6))):
        step(site, deeper)
    ends = [site.find(type_) for type_ in carried]
    kept = draw(st.lists(st.sampled_from(SLICED), min_size=not carried, max_size=3))
    ends += [site.find(type_) for type_ in kept]
    body = site.builder.graph("body", [(f"y{place}", node) for place, node in enumerate(ends)])
    made = Loop(count, len(carried), len(sliced), body, draw(st.booleans()))
    for result in outer.builder.loop(made, operands):
        outer.add(result)


@st.composite
def loop_steps(draw: Draw, names: tuple[str, ...]) -> Graph:
    """A step that makes new state of type `KIND` from old, with loops on the way."""
    site = Site(draw, True)
    for name in names:
        site.add(site.builder.input(f"net.{name}", KIND))
    site.top = False
    for _ in range(draw(st.integers(1, 3))):
        loop(site, 1)
        step(site, 1)
    ends = [(f"net.{name}", site.find(KIND)) for name in names]
    loss = site.apply("sum", site.find(KIND), axes=(0, 1))
    return site.builder.graph("step", [*ends, ("loss", loss)])


@st.composite
def loop_graphs(draw: Draw) -> Graph:
    """A graph with a loop at least; every value that nothing uses is an output, and some others are."""
    site = Site(draw, True)
    for _ in range(draw(st.integers(0, 2))):
        step(site, 2)
    loop(site, 1)
    for _ in range(draw(st.integers(0, 2))):
        step(site, 2)
    used = {operand for node in site.nodes for operand in node.operands}
    ends = [node for node in site.nodes if node not in used or draw(st.integers(0, 5)) == 0]
    return site.builder.graph("loops", [(f"y{place}", node) for place, node in enumerate(ends)])
