"""Results do not depend on how the model schedules; counts are those that can be reckoned by hand."""

from __future__ import annotations

import random
from collections import Counter

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checked.sm86 import Counts, FaultKind, Memory, blocks_per_processor, parse
from checked.sm86.fma import fma32
from targets.sm86_model.kernel_text import Contraction, contraction, one
from targets.sm86_model.running import fault, run

NUMBER = ["mov.u32 %r0, %tid.x", "mov.u32 %r1, %ctaid.x", "mad.lo.s32 %r2, %r1, 64, %r0"]


def tangled() -> str:
    """Loops of different length, branches in them, barriers, shuffles and shared memory, in blocks of 64."""
    body = [
        *NUMBER,
        "mov.u32 %r10, smem",
        "mad.lo.s32 %r11, %r0, 4, %r10",
        "mov.u32 %r3, 0",
        "mov.u32 %r4, %r2",
    ]
    body += [
        "and.b32 %r5, %r2, 7",
        "L1:",
        "setp.ge.u32 %p0, %r3, %r5",
        "@%p0 bra L4",
    ]  # as many turns as the low bits say
    body += [
        "and.b32 %r6, %r4, 1",
        "setp.eq.u32 %p1, %r6, 0",
        "@%p1 bra L2",
        "mad.lo.s32 %r4, %r4, 3, 1",
        "bra L3",
    ]
    body += ["L2:", "shr.u32 %r4, %r4, 1", "L3:", "add.s32 %r3, %r3, 1", "bra L1", "L4:"]
    body += ["shfl.sync.bfly.b32 %r7, %r4, 5, 31, -1", "st.shared.b32 [%r11], %r7", "bar.sync 0"]
    body += [
        "sub.s32 %r8, 63, %r0",
        "mad.lo.s32 %r8, %r8, 4, %r10",
        "ld.shared.b32 %r9, [%r8]",
        "mov.u32 %r12, %r1",
    ]
    body += [
        "L5:",
        "setp.eq.u32 %p2, %r12, 0",
        "@%p2 bra L6",
        "bar.sync 0",
        "st.shared.b32 [%r11], %r9",
        "bar.sync 0",
    ]
    body += [
        "ld.shared.b32 %r9, [%r8]",
        "sub.s32 %r12, %r12, 1",
        "bra L5",
        "L6:",
    ]  # once for each earlier block
    body += [
        "ld.param.u64 %rd0, [b0]",
        "mad.wide.s32 %rd0, %r2, 4, %rd0",
        "st.global.b32 [%rd0], %r9",
        "ret",
    ]
    return one(body, threads=64, shared=256)


def tangled_values(blocks: int) -> list[int]:
    found: list[int] = []
    for block in range(blocks):
        values = []
        for thread in range(64):
            value = block * 64 + thread
            for _ in range(value & 7):
                value = value * 3 + 1 if value & 1 else value >> 1
            values.append(value)
        values = [values[thread ^ 5] for thread in range(64)]
        values = values[::-1]
        for _ in range(block):
            values = values[::-1]
        found += values
    return found


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 2**31),
    st.integers(0, 2**31),
    st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_order_batch_and_place_change_nothing(
    blocks: int, batch: int, seed: int, place: int, traffic: bool
) -> None:
    (data,), counts = run(
        tangled(),
        [],
        [256 * blocks],
        blocks=blocks,
        batch=batch,
        seed=seed,
        place=place,
        traffic=traffic,
    )
    assert numpy.frombuffer(data, numpy.uint32).tolist() == tangled_values(blocks)
    (again,), other = run(tangled(), [], [256 * blocks], blocks=blocks, traffic=traffic)
    assert again == data
    assert other == counts


def test_a_copy_is_not_changed_with_its_source() -> None:
    """Registers that took their value from others keep it when some threads change those."""
    body = [*NUMBER, "mov.u32 %r4, %r2", "cvt.u64.u32 %rd4, %r2", "cvt.rn.f32.u32 %f4, %r2"]
    body += [
        "setp.ge.u32 %p4, %r2, 0",
        "mov.u32 %r5, %r4",
        "mov.u64 %rd5, %rd4",
        "mov.f32 %f5, %f4",
    ]
    body += ["mov.b32 %r6, %f4", "mov.b32 %f6, %r4", "mov.pred %p5, %p4", "mov.u32 %r7, %r0"]
    body += ["setp.lt.u32 %p0, %r0, 7", "@%p0 bra L1", "mov.u32 %r4, 1", "mov.u64 %rd4, 1"]
    body += ["mov.f32 %f4, 0f3F800000", "setp.lt.u32 %p4, %r2, 0", "mov.u32 %r0, 1", "L1:"]
    body += ["cvt.u32.u64 %r10, %rd5", "cvt.rzi.u32.f32 %r11, %f5", "mov.b32 %f7, %r6"]
    body += ["cvt.rzi.u32.f32 %r12, %f7", "mov.b32 %r13, %f6", "selp.b32 %r14, %r2, 0, %p5"]
    body += ["mov.u32 %r15, %tid.x", "cvt.u32.u64 %r16, %rd4", "cvt.rzi.u32.f32 %r17, %f4"]
    body += [
        "selp.b32 %r18, 1, 0, %p4",
        "ld.param.u64 %rd0, [b0]",
        "mad.wide.s32 %rd0, %r2, 48, %rd0",
    ]
    kept = ["%r5", "%r10", "%r11", "%r12", "%r13", "%r14", "%r7", "%r15"]
    changed = ["%r4", "%r16", "%r17", "%r0"]
    for place, name in enumerate([*kept, *changed]):
        body.append(f"st.global.b32 [%rd0{f'+{4 * place}' if place else ''}], {name}")
    body += ["setp.eq.u32 %p6, %r18, 2", "@%p6 bra L1", "ret"]
    (data,), _ = run(one(body, threads=64), [], [64 * 48])
    found = numpy.frombuffer(data, numpy.uint32).reshape(64, 12).tolist()
    for thread, values in enumerate(found):
        assert values == [thread] * 8 + [thread if thread < 7 else 1] * 4


@pytest.mark.parametrize("k", [16, 48])
def test_a_tiled_contraction_is_one_chain_of_fma_an_element(k: int) -> None:
    chance = numpy.random.default_rng(k)
    n = 256
    a = chance.standard_normal((n, k)).astype(numpy.float32)
    b = chance.standard_normal((k, n)).astype(numpy.float32)
    (data,), counts = run(contraction(n, k), [a.tobytes(), b.tobytes()], [4 * n * n], blocks=4)
    sums = numpy.zeros(n * n)
    for step in range(k):
        sums = fma32(
            numpy.repeat(a[:, step], n).astype(float), numpy.tile(b[step], n).astype(float), sums
        )
        sums = sums.astype(float)
    assert data == sums.astype(numpy.float32).tobytes()
    assert counts.warp_instructions["fma.rn.f32"] * 32 == n * n * k
    assert counts.barriers == 4 * (k // 8)


def test_a_dropped_barrier_of_the_contraction() -> None:
    lines = contraction(128, 32).split("\n")
    data = numpy.ones(128 * 32, numpy.float32).tobytes()
    barriers = [number for number, line in enumerate(lines) if "bar.sync" in line]
    for number in barriers:
        damaged = "\n".join(lines[:number] + lines[number + 1 :])
        found = fault(damaged, [data, data], [4 * 128 * 128])
        assert found.kind is FaultKind.SHARED_RACE


# ---- counts


def test_instructions_are_counted_by_thread_and_by_warp() -> None:
    """Of two warps one is half in the branch, the other not at all."""
    body = [
        *NUMBER,
        "setp.ge.u32 %p0, %r0, 16",
        "@%p0 bra L1",
        "add.s32 %r0, %r0, 0",
        "L1:",
        "ld.param.u64 %rd0, [b0]",
    ]
    body += ["mad.wide.s32 %rd0, %r2, 4, %rd0", "st.global.b32 [%rd0], %r0", "ret"]
    (_,), counts = run(one(body, threads=64), [], [768], blocks=3)
    assert counts.thread_instructions == 3 * (64 * 9 + 16)
    assert counts.warp_instructions["add.s32"] == 3
    assert counts.warp_instructions["st.global.b32"] == 6
    assert sum(counts.warp_instructions.values()) == 6 * 9 + 3


def test_counts_add_up() -> None:
    counts = Counts(1, Counter(a=2), 3, 4, 5)
    counts += Counts(10, Counter(a=1, b=1), 10, 10, 10)
    assert counts == Counts(11, Counter(a=3, b=1), 13, 14, 15)


def strided(stride: int, kind: str = "b32", space: str = "global") -> Counts:
    """One warp, each thread at a multiple of a stride in bytes."""
    registers = {"b32": "%r5", "v2.b32": "{%r5, %r6}", "v4.b32": "{%r5, %r6, %r7, %r8}"}[kind]
    body = [
        "mov.u32 %r0, %tid.x",
        "mov.u32 %r5, 1",
        "mov.u32 %r6, 1",
        "mov.u32 %r7, 1",
        "mov.u32 %r8, 1",
    ]
    if space == "global":
        body += ["ld.param.u64 %rd0, [b0]", f"mad.wide.s32 %rd0, %r0, {stride}, %rd0"]
        body += [f"ld.global.{kind} {registers}, [%rd0]", "ret"]
        return run(one(body), [bytes(32 * max(stride, 16))], [], traffic=True)[1]
    body += [
        "mov.u32 %r1, smem",
        f"mad.lo.s32 %r1, %r0, {stride}, %r1",
        f"st.shared.{kind} [%r1], {registers}",
        "ret",
    ]
    return run(one(body, parameters=0, shared=32 * max(stride, 16)), [], [], traffic=True)[1]


@pytest.mark.parametrize(
    ("kind", "stride", "sectors"),
    [
        ("b32", 4, 4),
        ("b32", 0, 1),
        ("b32", 8, 8),
        ("b32", 32, 32),
        ("b32", 128, 32),
        ("v2.b32", 8, 8),
        ("v4.b32", 16, 16),
        ("v4.b32", 32, 32),
    ],
)
def test_sectors_of_global_accesses(kind: str, stride: int, sectors: int) -> None:
    assert strided(stride, kind).global_sectors == sectors


@pytest.mark.parametrize(
    ("kind", "stride", "wavefronts"),
    [
        ("b32", 4, 1), ("b32", 8, 2), ("b32", 16, 4), ("b32", 64, 16), ("b32", 128, 32),
        ("b32", 132, 1), ("b32", 12, 1),
        ("v2.b32", 8, 2), ("v2.b32", 16, 4), ("v2.b32", 136, 2), ("v4.b32", 16, 4),
        ("v4.b32", 32, 8), ("v4.b32", 80, 4), ("v4.b32", 128, 32),
    ],
)  # fmt: skip
def test_wavefronts_of_shared_accesses(kind: str, stride: int, wavefronts: int) -> None:
    assert strided(stride, kind, "shared").shared_wavefronts == wavefronts


def test_equal_words_are_broadcast() -> None:
    body = [
        "mov.u32 %r0, %tid.x",
        "mov.u32 %r1, smem",
        "mad.lo.s32 %r2, %r0, 4, %r1",
        "st.shared.b32 [%r2], %r0",
    ]
    body += [
        "bar.sync 0",
        "ld.shared.b32 %r3, [%r1]",
        "and.b32 %r4, %r0, 1",
        "mad.lo.s32 %r4, %r4, 4, %r1",
        "ld.shared.b32 %r3, [%r4]",
        "ret",
    ]
    counts = run(one(body, 0, shared=128), [], [], traffic=True)[1]
    assert counts.shared_wavefronts == 3


def test_traffic_of_the_contraction() -> None:
    """Fragments of `a` take a wavefront a phase, those of `b` too: the shape has no conflicts but in what it stores."""
    k, n = 16, 128
    data = numpy.ones(n * k, numpy.float32).tobytes()
    _, counts = run(contraction(n, k), [data, data], [4 * n * n], traffic=True)
    loads = 8 * k * 4  # warps, steps, accesses of a step
    stores_b = 8 * (k // 8)
    stores_a = 8 * (k // 8) * 4
    assert counts.global_sectors == (2 * n * k + n * n) * 4 // 32
    # A transposed row of `a` is 132 words apart: columns 0 to 3 and 4 to 7 of the same 16 rows.
    assert counts.shared_wavefronts == 4 * loads + 4 * stores_b + stores_a
    assert Contraction.SHARED == 16640


# ---- occupancy


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks"),
    [
        (256, 127, 16640, 2), (256, 127, 33280, 2), (256, 112, 40960, 2), (256, 128, 61440, 1), (256, 128, 50176, 2),
        (256, 129, 0, 1), (32, 16, 0, 16), (1024, 64, 0, 1), (1024, 65, 0, 0), (256, 40, 0, 6), (256, 32, 0, 6),
        (128, 255, 0, 2), (128, 256, 0, 0), (64, 0, 101376, 1), (64, 0, 101377, 0), (1056, 16, 0, 0), (64, 255, 0, 4),
        (96, 80, 0, 8),
    ],
)  # fmt: skip
def test_blocks_on_a_processor(threads: int, registers: int, shared: int, blocks: int) -> None:
    assert blocks_per_processor(threads, registers, shared) == blocks


# ---- memory


def test_addresses_and_gaps_are_of_chance() -> None:
    bases = set()
    for seed in range(20):
        memory = Memory(seed)
        first, second = memory.allocate("a", 1000), memory.allocate("b", 8)
        assert first % 256 == second % 256 == 0
        assert second - first > 1000
        bases.add(first)
        with pytest.raises(ValueError, match="never written"):
            memory.read(first, 1)
        memory.write(first, b"abc")
        assert memory.read(first, 3) == b"abc"
        memory.forget(first + 1, 1)
        with pytest.raises(ValueError, match=f"{first + 1:#x}"):
            memory.read(first, 3)
        for outside in (first - 1, first + 998, second + 8):
            with pytest.raises(ValueError, match="one allocation"):
                memory.write(outside, b"abc")
    assert len(bases) > 15


def test_memory_keeps_its_bytes_as_it_grows() -> None:
    memory = Memory(5)
    chance = random.Random(5)
    held = {}
    for number in range(50):
        data = chance.randbytes(chance.randrange(1, 5000))
        address = memory.allocate(str(number), len(data))
        memory.write(address, data)
        held[address] = data
    for address, data in held.items():
        assert memory.read(address, len(data)) == data


def test_an_entry_is_prepared_once() -> None:
    module = parse(tangled())
    run(module, [], [256])
    plan = module.entries["k"].plan
    run(module, [], [512], blocks=2)
    assert module.entries["k"].plan is plan
