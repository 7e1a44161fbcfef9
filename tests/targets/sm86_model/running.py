"""Runs texts on the model, for its tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy

from checked.sm86 import Counts, Fault, Memory, Module, Window, launch, parse
from checked.sm86.forms import BITS, FORMS, PREFIX
from targets.sm86_model.kernel_text import one

KIND = {"h": "b16", "r": "b32", "d": "b64", "f": "f32", "g": "f64"}
BYTES = {"p": 4, "h": 2, "r": 4, "d": 8, "f": 4, "g": 8}
UNSIGNED = {2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}


def run(
    text: str | Module,
    inputs: Sequence[bytes],
    outputs: Sequence[int],
    blocks: int = 1,
    seed: int = 0,
    place: int = 0,
    **options: Any,
) -> tuple[list[bytes], Counts]:
    """Runs the entry `k`: inputs are its first windows, outputs of so many bytes the others."""
    module = parse(text) if isinstance(text, str) else text
    memory = Memory(place)
    windows = []
    for number, data in enumerate(inputs):
        address = memory.allocate(f"in{number}", len(data))
        memory.write(address, data)
        windows.append(Window(f"in{number}", address, len(data)))
    for number, size in enumerate(outputs):
        address = memory.allocate(f"out{number}", size)
        windows.append(Window(f"out{number}", address, size, written=True))
    counts = launch(
        module, "k", blocks=blocks, memory=memory, windows=windows, seed=seed, **options
    )
    made = windows[len(inputs) :]
    return [memory.read(window.address, window.bytes) for window in made], counts


def fault(
    text: str, inputs: Sequence[bytes] = (), outputs: Sequence[int] = (), **options: Any
) -> Fault:
    """The fault that a text runs into."""
    try:
        run(text, inputs, outputs, **options)
    except Fault as found:
        return found
    raise AssertionError("the kernel runs without a fault")


@cache
def _evaluator(name: str, sources: str, target: str, apart: bool) -> Module:
    """A kernel that loads operands, applies the form, and stores the result."""
    lines = ["mov.u32 %r90, %tid.x", "mov.u32 %r91, %ctaid.x", "mad.lo.s32 %r92, %r91, 32, %r90"]
    operands = []
    for number, letter in enumerate(sources):
        kind = "b32" if letter == "p" else KIND[letter]
        register = f"%{PREFIX[letter]}{number}"
        into = f"%r{80 + number}" if letter == "p" else register
        lines += [f"ld.param.u64 %rd90, [b{number}]"]
        lines += [
            f"mad.wide.s32 %rd91, %r92, {BYTES[letter]}, %rd90",
            f"ld.global.nc.{kind} {into}, [%rd91]",
        ]
        if letter == "p":
            lines.append(f"setp.ne.u32 {register}, {into}, 0")
        operands.append(register)
    result = f"%{PREFIX[target]}70"
    apply = f"{name} {result}, {', '.join(operands)}"
    if apart:  # odd threads apply it on one way, even ones on another
        lines += [
            "and.b32 %r93, %r90, 1",
            "setp.eq.s32 %p95, %r93, 0",
            "@%p95 bra L1",
            apply,
            "bra L2",
        ]
        lines += ["L1:", apply, "L2:"]
    else:
        lines.append(apply)
    kind = "b32" if target == "p" else KIND[target]
    if target == "p":
        lines.append("selp.b32 %r70, 1, 0, %p70")
        result = "%r70"
    lines += [f"ld.param.u64 %rd90, [b{len(sources)}]"]
    lines += [
        f"mad.wide.s32 %rd91, %r92, {BYTES[target]}, %rd90",
        f"st.global.{kind} [%rd91], {result}",
        "ret",
    ]
    return parse(one(lines, len(sources) + 1))


def evaluate(
    name: str,
    operands: Sequence[Sequence[int]],
    apart: bool = False,
    source: str = "",
    target: str = "",
) -> list[int]:
    """A form of values on bit patterns, one to a thread; `apart` in threads that have parted."""
    slots = FORMS[name].slots
    sources = source or "".join(slot.classes for slot in slots[1:])
    target = target or slots[0].classes
    count = len(operands[0])
    threads = -(-count // 32) * 32
    inputs = []
    for letter, values in zip(sources, operands, strict=True):
        padded = [*values, *[values[0]] * (threads - count)]
        inputs.append(numpy.array(padded, UNSIGNED[BYTES[letter]]).tobytes())
    module = _evaluator(name, sources, target, apart)
    (data,), _ = run(module, inputs, [threads * BYTES[target]], blocks=threads // 32)
    assert BITS[target] in (1, 16, 32, 64)
    return [int(item) for item in numpy.frombuffer(data, UNSIGNED[BYTES[target]])[:count]]
