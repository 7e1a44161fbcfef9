"""The next byte of a text: what `predict --prompt` does with a row of logits (specification, section 24).

Temperature 0 takes `argmax`. Else `argmax (logits / T + z)` with Gumbel noise z = -(log (-(log u))), so that byte i is
taken with probability softmax(logits / T)[i]. u = ((w >> 9) + 0.5) * 2^-23 is exact and never 0 or 1; a draw of 24 bits
would round up to 1, where z is infinite.
"""

from __future__ import annotations

from alpha.base.dtype import Dtype, TensorType
from alpha.base.span import Span
from alpha.evaluate.initial import everywhere
from alpha.evaluate.staging import KEY, Staging
from alpha.evaluate.windows import BYTES
from alpha.graph.node import Graph, Node

LOGITS = TensorType(Dtype.F32, (BYTES,))


def samples_text(source: str, input: TensorType | None, output: TensorType | None) -> bool:
    """Whether a learner of bytes predicts logits for each place of its window."""
    if source != "bytes" or input is None or output is None:
        return False
    text = input.bound == BYTES and len(input.shape) == 2
    return text and output == TensorType(Dtype.F32, (*input.shape, BYTES))


def sample_graph(span: Span) -> Graph:
    """`sample`: `logits` f32[256], `key` u32[3] and `temperature` f32[] to `next`, an index."""
    staging = Staging()
    logits = staging.input("logits", LOGITS, span)
    key = staging.input("key", KEY, span)
    temperature = staging.input("temperature", TensorType(Dtype.F32, ()), span)

    def apply(operation: str, *operands: Node) -> Node:
        return staging.apply(operation, operands, span)

    def number(value: float) -> Node:
        return everywhere(staging, value, LOGITS.shape, span)

    drawn = staging.apply("uniform", (key,), span, shape=LOGITS.shape)
    places = apply("floor", apply("mul", drawn, number(2.0**23)))  # w >> 9
    u = apply("mul", apply("add", places, number(0.5)), number(2.0**-23))
    noise = apply("neg", apply("log", apply("neg", apply("log", u))))
    warmth = staging.broadcast(temperature, LOGITS.shape, span)
    noisy = apply("add", apply("div", logits, warmth), noise)
    chosen = apply("select", apply("equal", warmth, number(0.0)), logits, noisy)
    best = staging.apply("argmax", (chosen,), span, axis=0)
    return staging.builder.graph("sample", [("next", best)])
