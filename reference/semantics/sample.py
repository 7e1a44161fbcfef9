"""Text from a learner of bytes (specification, section 24): one byte at a time from the last `context` bytes.

Temperature 0 takes the first of the largest logits. Else byte i has logits[i] / T + z_i with Gumbel noise
z = -(log (-(log u))), u = ((w >> 9) + 0.5) * 2^-23 of the words w of child(root of the seed, 6, place), and the first
of the largest is taken. A prompt shorter than the window fills it from the left; the row of its last byte is read.
"""

from __future__ import annotations

import numpy

from semantics.evaluate import evaluate
from semantics.graph import read_type
from semantics.numerics import F32, Array, log
from semantics.philox import child, philox, root
from semantics.rows import winner
from semantics.train import Run

TAG_SAMPLE = 6
BYTES = 256


def sample(run: Run, prompt: bytes, count: int, temperature: float = 0.0, seed: int = 0) -> bytes:
    """The `count` bytes that follow `prompt`, which is not empty."""
    batch, context = read_type(run.description["predictInput"]).shape
    graph = run.graph("predict")
    parameters = {name: value for name, value in run.state.items() if name.startswith("net.")}
    text = bytearray(prompt)
    for place in range(count):
        window = text[-context:]
        ids = numpy.zeros((batch, context), numpy.int32)
        ids[0, : len(window)] = list(window)
        logits = evaluate(graph, {**parameters, "input": ids})["output"][0, len(window) - 1]
        scores = logits
        if F32(temperature) != 0:
            with numpy.errstate(over="ignore"):
                scores = logits / F32(temperature) + noise(seed, place)
        text.append(int(winner(scores, 0, True)))
    return bytes(text[len(prompt) :])


def noise(seed: int, place: int) -> Array:
    """Gumbel noise for each byte at a place behind the prompt."""
    key = child(root(seed), TAG_SAMPLE, place)
    blocks = numpy.arange(BYTES // 4, dtype=numpy.uint64)
    words = numpy.stack(philox(blocks, 0, 0, 0, key[:2]), axis=-1).reshape(-1)
    u = ((words >> numpy.uint64(9)).astype(F32) + F32(0.5)) * F32(2.0**-23)
    found: Array = -log(-log(u))
    return found
