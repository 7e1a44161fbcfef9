"""How quick the checked model of sm_86 is, in processor time: `python -m bench.model` prints its part of the table."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator

import numpy

from bench.measure import Figure
from checked.sm86 import Counts, Memory, Window, launch, parse
from targets.sm86_model.kernel_text import contraction, one


def processor() -> float:
    """Seconds that this process has computed."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def least(times: int, run: Callable[[], Counts]) -> tuple[float, Counts]:
    """The least processor time of several runs, after one that prepares the kernel."""
    counts = run()
    spent = []
    for _ in range(times):
        before = processor()
        run()
        spent.append(processor() - before)
    return min(spent), counts


def model() -> Iterator[Figure]:
    """A tiled contraction with every check on, and the cost of a launch of one small block."""
    size = 512
    values = numpy.random.default_rng(0).standard_normal((2, size, size)).astype(numpy.float32)
    memory = Memory(0)
    windows = []
    for name, data in zip("ab", values, strict=True):
        windows.append(Window(name, memory.allocate(name, data.nbytes), data.nbytes))
        memory.write(windows[-1].address, data.tobytes())
    result = memory.allocate("c", size * size * 4)
    windows.append(Window("c", result, size * size * 4, written=True))
    begin = processor()
    tiled = parse(contraction(size, size))
    yield Figure("model: reading a tiled contraction", (processor() - begin) * 1e3, None, "ms")
    blocks = (size // 128) ** 2
    seconds, counts = least(
        5, lambda: launch(tiled, "k", blocks=blocks, memory=memory, windows=windows)
    )
    executed = counts.thread_instructions
    note = f"{size}^3, {executed / seconds / 1e6:.0f} M thread-instructions/s, every check on"
    yield Figure("model: a thread-instruction", seconds / executed * 1e9, 20, "ns", note)
    body = ["mov.u32 %r0, %tid.x", "ld.param.u64 %rd0, [b0]", "mad.wide.s32 %rd0, %r0, 4, %rd0"]
    small = parse(one([*body, "st.global.b32 [%rd0], %r0", "ret"], threads=64))
    output = [Window("c", result, 256, written=True)]

    def often() -> Counts:
        counts = Counts()
        for seed in range(200):
            counts += launch(small, "k", blocks=1, memory=memory, windows=output, seed=seed)
        return counts

    seconds, _ = least(5, often)
    yield Figure("model: a launch of one small block", seconds / 200 * 1e6, 1000, "us")


def main() -> int:
    for figure in model():
        print(figure.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
