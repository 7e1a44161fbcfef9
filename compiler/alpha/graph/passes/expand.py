"""Composites become the primitives of their meaning; bf16 and f16 arithmetic becomes f32 between casts.

    op(x, ...)            ->  expansion of op
    op(x : bf16, ...)     ->  cast bf16 (op (cast f32 x) ...)       for arithmetic rows, and likewise f16

It runs after gradients are taken, since `softmax`, `crossEntropy` and others have gradients of their own.
"""

from __future__ import annotations

from alpha.base.dtype import Dtype
from alpha.graph.builder import Builder
from alpha.graph.formula import Term
from alpha.graph.node import Graph, Node
from alpha.graph.ops import TABLE, Use
from alpha.graph.passes.record import Pass
from alpha.graph.rewrite import copy, inside, rebuild

NARROW = (Dtype.BF16, Dtype.F16)


def expand(graph: Graph) -> Graph:
    """Until nothing is left to expand; an expansion may hold composites, but never itself."""
    while _remains(graph):
        graph = rebuild(graph, _rule, inside(expand))
    return graph


def _remains(graph: Graph) -> bool:
    return any(
        _remains(node.loop.body) if node.loop is not None else _expands(node)
        for node in graph.nodes()
    )


def _widens(node: Node) -> bool:
    return TABLE[node.operation].arithmetic and any(
        operand.type.dtype in NARROW for operand in node.operands
    )


def _expands(node: Node) -> bool:
    return not TABLE[node.operation].primitive or _widens(node)


def _rule(builder: Builder, node: Node, operands: tuple[Node, ...]) -> Node:
    if _widens(node):
        wide = [
            _cast(builder, operand, Dtype.F32, node) if operand.type.dtype in NARROW else operand
            for operand in operands
        ]
        result = builder.apply(node.operation, wide, node.span, **dict(node.attributes))
        return (
            _cast(builder, result, node.type.dtype, node) if node.type.dtype in NARROW else result
        )
    expansion = TABLE[node.operation].expansion
    if expansion is None:
        return copy(builder, node, operands)
    terms = tuple(Term(builder, operand, node.span) for operand in operands)
    return expansion(Use(terms, dict(node.attributes), Term(builder, node, node.span))).node


def _cast(builder: Builder, node: Node, dtype: Dtype, at: Node) -> Node:
    return builder.apply("cast", (node,), at.span, dtype=dtype)


EXPAND = Pass(
    "expand",
    "composite -> its meaning in primitives; narrow arithmetic -> f32 between casts",
    expand,
)
